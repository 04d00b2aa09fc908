#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Ensembles of real processes: drover together with Apache ZooKeeper 3.8.0, and three drover servers whose
# disks lie, fail or are empty. Two to four minutes. `run.sh --all` runs every mixed combination, which takes
# about half an hour. DROVER names another binary.
#
# All suites run at once: most of their time is spent waiting for timeouts.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
logs=$(mktemp -d)
passed=0 failed=0
suites=() running=()

cleanup() {
  ((!${#running[@]})) || kill "${running[@]}" 2>/dev/null || true
  wait
  rm -rf "$logs"
}
trap cleanup EXIT

start() {  # start NAME COMMAND...
  local name=$1
  shift
  suites+=("$name")
  "$@" >"$logs/$name" 2>&1 &
  running+=($!)
}

finish() {  # finish NAME PID: prints what it said if it failed
  local name=$1 status=0 counts good bad
  wait "$2" || status=$?
  counts=$(sed -nE 's/.*\b([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$logs/$name" | tail -n 1)
  read -r good bad <<<"${counts:-0 0}"
  # A test that dies before it has counted is a failure too.
  ((status == 0 || bad > 0)) || bad=1
  ((good + bad > 0)) || bad=1
  ((bad == 0)) || cat "$logs/$name"
  printf 'ensemble %-10s %3d passed %3d failed %4d s\n' "$name" "$good" "$bad" "$SECONDS"
  passed=$((passed + good)) failed=$((failed + bad))
}

finish_all() {
  local i
  for i in "${!suites[@]}"; do finish "${suites[i]}" "${running[i]}"; done
  suites=() running=()
}

start harness /usr/bin/python3 "$here/harness_test.py"
start storage /usr/bin/python3 "$here/storage_test.py"
start sessions /usr/bin/python3 "$here/sessions_test.py"
start settings /usr/bin/python3 "$here/settings_test.py"
start strangers /usr/bin/python3 "$here/strangers_test.py"
start reconfig /usr/bin/python3 "$here/reconfig_test.py"
start promises /usr/bin/python3 "$here/promises_test.py"
start voters /usr/bin/python3 "$here/mixed_test.py" --setups voters "$@"
start observers /usr/bin/python3 "$here/mixed_test.py" --setups observers "$@"
finish_all
# Large transactions keep the disk busy, and a first start is a matter of seconds: not beside the others.
start boot /usr/bin/python3 "$here/boot_test.py"
finish_all
start limits /usr/bin/python3 "$here/limits_test.py"
finish_all

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
