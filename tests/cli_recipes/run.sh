#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `drover locks`, `leaders`, `queues` and `members` on what Curator, kazoo and drover have really made.
#
# BUILD=path/to/build overrides build/release.
cd "$(dirname "$0")" || exit 1
exec /usr/bin/python3 ./run.py "${BUILD:-../../build/release}/bin" "$@"
