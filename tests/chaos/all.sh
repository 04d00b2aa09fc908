#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Drover servers under faults, and the judgement of everything that their clients were told: one minute with
# three servers. `all.sh --minutes 60 --servers 5` runs for longer, or with more; DROVER names another binary.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
passed=0 failed=0

suite() {  # suite NAME COMMAND...
  local name=$1 began=$SECONDS status=0 output counts good bad
  shift
  output=$("$@" 2>&1 | tee /dev/stderr) || status=$?
  counts=$(sed -nE 's/.*\b([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' <<<"$output" | tail -n 1)
  read -r good bad <<<"${counts:-0 0}"
  ((status == 0 || bad > 0)) || bad=1
  ((good + bad > 0)) || bad=1
  printf 'chaos %-10s %3d passed %3d failed %4d s\n' "$name" "$good" "$bad" $((SECONDS - began))
  passed=$((passed + good)) failed=$((failed + bad))
}

suite checker /usr/bin/python3 "$here/checker_test.py"
suite network /usr/bin/python3 "$here/network_test.py"
suite chaos /usr/bin/python3 "$here/chaos.py" "$@"

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
