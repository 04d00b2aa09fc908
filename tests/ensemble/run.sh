#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Ensembles of real processes: drover together with Apache ZooKeeper 3.8.0, and three drover servers whose disks
# are damaged, fail or are empty. Two to four minutes. `run.sh --all` runs every mixed combination, which takes
# about half an hour. DROVER names another binary.
#
# All suites run at once: most of their time is spent waiting for timeouts.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../suites.sh"
logs=$(mktemp -d)
suites=() running=()

cleanup() {
  ((!${#running[@]})) || kill "${running[@]}" 2>/dev/null || true
  wait
  rm -rf "$logs" "$suite_log"
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
  local status=0
  wait "$2" || status=$?
  add_suite "$1" "$status" "$logs/$1" "$SECONDS" || cat "$logs/$1"
  grep ': SKIPPED: ' "$logs/$1" || true
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
start reconfig /usr/bin/python3 "$here/reconfig_test.py" "$@"
start members /usr/bin/python3 "$here/membership_files_test.py"
start sync /usr/bin/python3 "$here/sync_test.py"
start promises /usr/bin/python3 "$here/promises_test.py"
start frozen /usr/bin/python3 "$here/frozen_test.py"
start voters /usr/bin/python3 "$here/mixed_test.py" --setups voters "$@"
start observers /usr/bin/python3 "$here/mixed_test.py" --setups observers "$@"
finish_all
start changes /usr/bin/python3 "$here/reconfig_load_test.py" "$@"
start errors /usr/bin/python3 "$here/reconfig_errors_test.py"
start quorums /usr/bin/python3 "$here/reconfig_quorums_test.py" "$@"
start ports /usr/bin/python3 "$here/reconfig_ports_test.py"
start page /usr/bin/python3 "$here/reconfig_page_test.py"
start clients /usr/bin/python3 "$here/reconfig_clients_test.py"
start lost /usr/bin/python3 "$here/lost_quorum_test.py"
start logins /usr/bin/python3 "$here/quorum_sasl_test.py"
start files /usr/bin/python3 "$here/members_in_files_test.py"
finish_all
# Large transactions keep the disk busy, and a first start is a matter of seconds: not beside the others.
start boot /usr/bin/python3 "$here/boot_test.py"
finish_all
start limits /usr/bin/python3 "$here/limits_test.py"
finish_all

end_suites
