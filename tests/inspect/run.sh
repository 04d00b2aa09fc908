#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `drover inspect` on data directories of both servers, beside Apache's own tools, and on damaged ones.
#
# DROVER=path/to/drover overrides the binary, which is build/release/bin/drover.
set -euo pipefail
case ${DROVER:-/} in /*) ;; *) export DROVER=$PWD/$DROVER ;; esac
exec python3 "$(dirname "${BASH_SOURCE[0]}")/inspect_test.py" "$@"
