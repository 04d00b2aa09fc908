#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `drover reconfig` on ensembles of real servers: grow, shrink, replace, promote, demote, and what it refuses.
cd "$(dirname "$0")" || exit 1
exec /usr/bin/python3 ./run.py "$@"
