#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Tests `drover locks`, `leaders`, `queues` and `members` on recipes of Curator, kazoo and drover.
#
# BUILD=path/to/build overrides build/release.
cd "$(dirname "$0")" || exit 1
exec /usr/bin/python3 ./run.py "${BUILD:-../../build/release}/bin" "$@"
