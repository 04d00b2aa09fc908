#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Drover servers under faults, and the judgement of everything that their clients were told; before it, tests
# of the faults and of the judges. In CI three servers and five, with 100,000 operations together. DROVER
# names another binary.
#
#   run.sh                             as in CI
#   run.sh --minutes 10 [CHAOS ARGUMENT...]   so long with three servers, and again with five
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0
three=(--servers 3 --tls --minutes 0.6 --operations 60000)
five=(--servers 5 --minutes 0.6 --operations 40000)

suite() {  # suite NAME COMMAND...
  local name=$1 began=$SECONDS status=0 counts good bad
  shift
  "$@" 2>&1 | tee "$log" || status=$?
  counts=$(sed -nE 's/.*\b([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$log" | tail -n 1)
  read -r good bad <<<"${counts:-0 0}"
  ((status == 0 || bad > 0)) || bad=1
  ((good + bad > 0)) || bad=1
  printf 'chaos %-10s %3d passed %3d failed %4d s\n' "$name" "$good" "$bad" $((SECONDS - began))
  passed=$((passed + good)) failed=$((failed + bad))
}

suite checker /usr/bin/python3 "$here/checker_test.py"
suite brute_force /usr/bin/python3 "$here/brute_force_test.py"
suite faults /usr/bin/python3 "$here/faults_test.py"
suite three /usr/bin/python3 "$here/chaos.py" "${three[@]}" "$@"
suite five /usr/bin/python3 "$here/chaos.py" "${five[@]}" "$@"

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
