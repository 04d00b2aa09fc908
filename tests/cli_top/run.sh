#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `drover top` on an ensemble of drover's and Java's servers: once, as JSON, and on a terminal.
cd "$(dirname "$0")" || exit 1
exec /usr/bin/python3 ./run.py "$@"
