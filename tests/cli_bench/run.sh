#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `drover bench` on a drover server and on Java's: every load, a server that stops for a while, and what is left.
cd "$(dirname "$0")" || exit 1
exec /usr/bin/python3 ./run.py "$@"
