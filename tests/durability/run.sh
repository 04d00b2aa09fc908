#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Nothing acknowledged is lost, whatever happens to the process, its disk, its files and its memory. Real
# processes, about three minutes. `run.sh damage fsync` runs only those; DROVER names another binary.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../suites.sh"
(($#)) || set -- kill9 fsync full_disk damage limits memory

for name in "$@"; do suite "$name" python3 "$here/${name}_test.py"; done
end_suites
