#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# All compatibility suites, with other clients and servers, one after the other: one line for each, and the sum
# at the end. Fails if a suite does, or if one of packages.txt is missing. A suite
# that needs Maven Central and cannot reach it ends with status 77: it is named in the sum as skipped.
#
# DROVER=path/to/drover overrides the binary, which is build/release/bin/drover. VERBOSE=1 shows all output.

case ${DROVER:-/} in /*) ;; *) DROVER=$PWD/$DROVER && export DROVER ;; esac
cd "$(dirname "$0")" || exit 1
passed=0
failed=0
skipped=''
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

# The number before WORD in the last line that has one. The output of another program may follow it.
count() {
  sed -nE "s/.*[^0-9]([0-9]+) $1.*/\1/p" "$log" | tail -n 1
}

# run NAME COMMAND...: the suite's last line is its result; everything it said is shown if it fails.
run() {
  name=$1
  shift
  started=$(date +%s)
  if "$@" >"$log" 2>&1; then status=0; else status=$?; fi
  if [ "$status" != 0 ] || [ -n "$VERBOSE" ]; then cat "$log"; fi
  if [ "$status" = 77 ]; then
    skipped="$skipped $name"
    echo "compat $name: SKIPPED, nothing was tested"
    return
  fi
  suite_passed=$(count passed)
  suite_failed=$(count failed)
  # A suite that ended without counting, or failed without saying so, is one failure.
  if [ -z "$suite_failed" ] || { [ "$status" != 0 ] && [ "$suite_failed" = 0 ]; }; then suite_failed=1; fi
  passed=$((passed + ${suite_passed:-0}))
  failed=$((failed + suite_failed))
  echo "compat $name: ${suite_passed:-0} passed, $suite_failed failed [$(($(date +%s) - started)) s]"
}

run self_test ./differential.py --self-test
run differential ./differential.py
run differential_3.9 ./differential.py --servers java39,drover
run four_letter_words ./four_letter_words_test.py
run four_letter_words_3.9 ./four_letter_words_test.py java39
run kazoo /usr/bin/python3 ./kazoo_test.py
run tls /usr/bin/python3 ./tls_test.py
run c_client ./c_client_test.py
run go_client ./go_client_test.py
run zkcli ./zkcli_test.py
run curator ./curator_test.py
run data_dir ./data_dir_test.py
run audit ./audit_test.py java
run audit_3.9 ./audit_test.py java39
run throttle ./throttle_test.py
run keys ./keys_test.py

echo "compat: $passed passed, $failed failed${skipped:+; SKIPPED:$skipped}"
[ "$failed" = 0 ]
