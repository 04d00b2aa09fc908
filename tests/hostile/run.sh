#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What hostile clients can do with the protocol alone, to one server and to an ensemble of three. Real processes,
# about a minute. `run.sh standalone` runs only that; DROVER names another binary.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
(($#)) || set -- standalone ensemble

passed=0 failed=0
for name in "$@"; do
  began=$SECONDS status=0 counts=
  # python3 of Debian: the harness of ensembles uses its packages.
  output=$(/usr/bin/python3 "$here/hostile_test.py" "$name" 2>&1) || status=$?
  counts=$(sed -nE 's/.*\b([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' <<<"$output" | tail -n 1)
  read -r good bad <<<"${counts:-0 0}"
  # A test that dies before it has counted is a failure too.
  ((status == 0 || bad > 0)) || bad=1
  ((good + bad > 0)) || bad=1
  ((bad == 0)) || printf '%s\n' "$output"
  printf '%-10s %3d passed %3d failed %4d s\n' "$name" "$good" "$bad" $((SECONDS - began))
  passed=$((passed + good)) failed=$((failed + bad))
done
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
