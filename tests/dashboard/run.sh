#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The dashboard in a real browser (Debian's Chromium, driven by Playwright) against real servers.
#
# The pictures are left in build/dashboard/. DROVER names another binary.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Chromium is Debian's, so nothing is downloaded but the one package that drives it, whose hash the lock file has.
if [[ node_modules/.package-lock.json -ot package-lock.json ]]; then
  npm ci --no-audit --no-fund --loglevel=error
fi
exec /usr/bin/python3 world.py "$@"
