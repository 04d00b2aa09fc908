#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Ensembles of real processes: drover together with Apache ZooKeeper 3.8.0, and three drover servers whose
# disks lie, fail or are empty. About three minutes. `all.sh --all` runs every mixed combination, which takes
# half an hour; DROVER names another binary.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
passed=0 failed=0

suite() {  # suite NAME COMMAND...
  local name=$1 began=$SECONDS status=0 output counts good bad
  shift
  output=$("$@" 2>&1) || status=$?
  counts=$(sed -nE 's/.*\b([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' <<<"$output" | tail -n 1)
  read -r good bad <<<"${counts:-0 0}"
  # A test that dies before it has counted is a failure too.
  ((status == 0 || bad > 0)) || bad=1
  ((good + bad > 0)) || bad=1
  ((bad == 0)) || printf '%s\n' "$output"
  printf 'ensemble %-10s %3d passed %3d failed %4d s\n' "$name" "$good" "$bad" $((SECONDS - began))
  passed=$((passed + good)) failed=$((failed + bad))
}

suite harness /usr/bin/python3 "$here/harness_test.py"
suite storage /usr/bin/python3 "$here/storage_test.py"
suite sessions /usr/bin/python3 "$here/sessions_test.py"
suite mixed /usr/bin/python3 "$here/mixed_test.py" "$@"

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
