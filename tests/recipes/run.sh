#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Our recipes beside Curator's and kazoo's on the same nodes: who holds, who waits, who is next.
#
# BUILD=path/to/build overrides build/release.
cd "$(dirname "$0")" || exit 1
exec /usr/bin/python3 ./run.py "${BUILD:-../../build/release}/bin" "$@"
