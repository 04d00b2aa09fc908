#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Everything that other people's clients and servers can say about drover's compatibility, suite after suite.
# Prints one line for each suite and fails if any of them does, or if a package is missing (packages.txt).
#
# DROVER=path/to/drover overrides the binary, which is build/release/bin/drover. VERBOSE=1 shows all output.

cd "$(dirname "$0")" || exit 1
failed=0

# run NAME COMMAND...: the suite's last line is its result; the rest is shown if it fails.
run() {
  name=$1
  shift
  log=$(mktemp) || exit 1
  started=$(date +%s)
  if "$@" >"$log" 2>&1; then
    test -z "$VERBOSE" || cat "$log"
  else
    failed=1
    cat "$log"
    echo "compat: $name FAILED"
  fi
  echo "compat: $(tail -n 1 "$log") [$(($(date +%s) - started)) s]"
  rm -f "$log"
}

run differential_self_test ./differential.py --self-test
run differential ./differential.py
run kazoo /usr/bin/python3 ./kazoo_test.py
run c_client ./c_client_test.py
run zkcli ./zkcli_test.py
run curator ./curator_test.py
run data_dir ./data_dir_test.py

if [ "$failed" = 0 ]; then echo "compat: all suites passed"; else echo "compat: FAILED"; fi
exit "$failed"
