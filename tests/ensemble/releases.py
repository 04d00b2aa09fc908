# SPDX-License-Identifier: Apache-2.0
#
# Cases that need Apache ZooKeeper 3.9 say so in `kinds`. If Maven Central cannot be reached they are named as skipped,
# and count for nothing.

from ensemble import JAVA39  # First: it makes tests/compat importable.
import maven


def without_unreachable(suite, cases):
    try:
        maven.zookeeper_jars()
        return cases
    except maven.Unreachable as reason:
        for case in cases:
            if JAVA39 in case.kinds:
                print(f"{suite}: SKIPPED: {case.__name__.replace('_', ' ')}: no Apache ZooKeeper {maven.RELEASE}: "
                      f"{reason}", flush=True)
        return [case for case in cases if JAVA39 not in case.kinds]
