#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bin/zkServer.sh with a stand-in server, and once with the real one when DROVER names it.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/zk_server_script_test.py"
