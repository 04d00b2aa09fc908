#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Logins with SASL, with passwords and with a KDC on loopback: mechanisms against Java's, and clients against Java's
# server and drover.
#
# BUILD=path/to/build overrides build/release, DROVER=path/to/drover the binary.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../suites.sh"
suite mechanisms /usr/bin/python3 "$here/sasl_test.py" "${BUILD:-$here/../../build/release}/bin/sasl_peer"
suite conversations /usr/bin/python3 "$here/conversations_test.py"
suite identities /usr/bin/python3 "$here/identities_test.py"
suite clients /usr/bin/python3 "$here/clients_test.py"
suite shell /usr/bin/python3 "$here/shell_test.py"
suite kazoo /usr/bin/python3 "$here/kazoo_own_test.py"
suite kerberos /usr/bin/python3 "$here/kerberos_test.py"
end_suites
