#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Executes the README's commands against a server that was started as the README says, and checks that links, cited
# sections and names in the documents exist.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../suites.sh"
suite_aloud pages python3 "$here/pages_test.py"
suite_aloud readme python3 "$here/readme.py"
end_suites
