#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The client library against real servers of both kinds.
#
# BUILD=path/to/build overrides build/release.
cd "$(dirname "$0")" || exit 1
exec python3 ./run.py "${BUILD:-../../build/release}/bin/client_live_test" "$@"
