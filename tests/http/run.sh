#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The HTTP side of real servers: the AdminServer beside Java's, probes, metrics, HTTPS, snapshot, and the
# commands of docs/http.md.
set -euo pipefail
case ${DROVER:-/} in /*) ;; *) DROVER=$PWD/$DROVER && export DROVER ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
. ../suites.sh
for name in admin_server ensemble https docs; do suite_aloud "$name" python3 "./${name}_test.py"; done
end_suites
