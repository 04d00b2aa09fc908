#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Tests our recipes together with Curator's and kazoo's on the same nodes.
#
# BUILD=path/to/build overrides build/release.
cd "$(dirname "$0")" || exit 1
exec /usr/bin/python3 ./run.py "${BUILD:-../../build/release}/bin" "$@"
