#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Drover servers under faults, with a check of all replies; before that, tests of the faults and of the checkers.
# In CI: three servers, five, and three whose members change; 200,000 operations in total. DROVER names another binary.
#
#   run.sh                             as in CI
#   run.sh --minutes 10 [CHAOS ARGUMENT...]   each of the three so long
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../suites.sh"
three=(--servers 3 --tls --minutes 0.6 --operations 60000)
five=(--servers 5 --minutes 0.6 --operations 40000)
changing=(--servers 3 --reconfig --minutes 0.4 --operations 100000)

suite_aloud checker /usr/bin/python3 "$here/checker_test.py"
suite_aloud brute_force /usr/bin/python3 "$here/brute_force_test.py"
suite_aloud faults /usr/bin/python3 "$here/faults_test.py"
suite_aloud three /usr/bin/python3 "$here/chaos.py" "${three[@]}" "$@"
suite_aloud five /usr/bin/python3 "$here/chaos.py" "${five[@]}" "$@"
suite_aloud changing /usr/bin/python3 "$here/chaos.py" "${changing[@]}" "$@"

end_suites
