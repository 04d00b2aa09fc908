#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs each example against a drover server and against Java's; it must succeed within a minute.
#
# BUILD=path/to/build overrides build/release.
cd "$(dirname "$0")" || exit 1
exec python3 ./run.py "${BUILD:-../../build/release}/examples" "$@"
