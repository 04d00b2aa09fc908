#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# SASL conversations between our side and Java's, with passwords and with a KDC on loopback.
#
# BUILD=path/to/build overrides build/release.
cd "$(dirname "$0")" || exit 1
exec /usr/bin/python3 ./sasl_test.py "${BUILD:-../../build/release}/bin/sasl_peer" "$@"
