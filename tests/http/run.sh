#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The HTTP side of real servers: the AdminServer beside Java's, probes, metrics, HTTPS, snapshot, and the
# commands of docs/http.md.
set -uo pipefail
case ${DROVER:-/} in /*) ;; *) DROVER=$PWD/$DROVER && export DROVER ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
passed=0
failed=0
for suite in admin_server ensemble https docs; do
  output=$(python3 "./${suite}_test.py" 2>&1)
  status=$?
  echo "$output"
  counts=$(tail -n 1 <<<"$output" | sed -nE 's/.*: ([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p')
  read -r suite_passed suite_failed <<<"${counts:-0 1}"
  [[ $status == 0 || $suite_failed != 0 ]] || suite_failed=1
  passed=$((passed + suite_passed))
  failed=$((failed + suite_failed))
done
echo "http: $passed passed, $failed failed"
[[ $failed == 0 ]]
