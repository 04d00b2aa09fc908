#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `drover cli`: beside Apache's shell, command by command, and what it can besides.
#
# DROVER=path/to/drover overrides the binary, which is build/release/bin/drover.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
status=0
for suite in same_as_zkcli_test.py; do
  PYTHONPATH=../compat /usr/bin/python3 "./$suite" "$@" || status=1
done
exit "$status"
