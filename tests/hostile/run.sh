#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Attacks of strangers on one server and on an ensemble of three: on the ports for clients, between servers and for
# HTTP. Real processes, about two minutes. `run.sh standalone` runs only that; DROVER names another binary.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../suites.sh"
(($#)) || set -- standalone ensemble

# python3 of Debian: the harness of ensembles uses its packages.
for name in "$@"; do suite "$name" /usr/bin/python3 "$here/hostile_test.py" "$name"; done
end_suites
