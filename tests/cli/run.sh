#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests `drover cli`: compared with Apache's shell, its own features, at a terminal, and its documentation.
#
# DROVER=path/to/drover overrides the binary, which is build/release/bin/drover.
set -euo pipefail
case ${DROVER:-/} in /*) ;; *) DROVER=$PWD/$DROVER && export DROVER ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
export PYTHONPATH=../compat:../ensemble
. ../suites.sh
for name in same_as_zkcli features terminal documents; do suite_aloud "$name" /usr/bin/python3 "./${name}_test.py"; done
end_suites
