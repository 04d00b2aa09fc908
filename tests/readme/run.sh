#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Executes the README's commands against a server that was started as the README says.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/readme.py"
