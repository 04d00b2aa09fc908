#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `drover cli`: beside Apache's shell, command by command; what it can besides; at a terminal; and its documents.
#
# DROVER=path/to/drover overrides the binary, which is build/release/bin/drover.
case ${DROVER:-/} in /*) ;; *) DROVER=$PWD/$DROVER && export DROVER ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
export PYTHONPATH=../compat:../ensemble
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for suite in same_as_zkcli features terminal documents; do
  # A suite that ends without counting is one failure.
  /usr/bin/python3 "./${suite}_test.py" || echo "$suite: ended with $?"
done 2>&1 | tee "$log"
awk '/: [0-9]+ passed, [0-9]+ failed$/ { passed += $(NF-3); failed += $(NF-1); counted += 1 }
     END { failed += 4 - counted; print "cli: " passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 }' "$log"
