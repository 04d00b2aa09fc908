# SPDX-License-Identifier: Apache-2.0
#
# Runs the named cases of a suite, reports which failed and why, and ends with a line of counts.

import argparse
import sys
import time
import traceback

from servers import KINDS, MissingDependency


def parse_server_kind(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--server", choices=sorted(KINDS), default="drover", help="default: drover")
    parser.add_argument("--only", help="run the cases whose name contains this")
    return parser.parse_args()


def claim(case):
    return case.__name__.replace("_", " ")


def run(name, cases, only=None):
    """Runs every case even after a failure; the exit code is that of the suite."""
    passed = failed = 0
    for case in cases:
        if only and only not in case.__name__ and only not in claim(case):
            continue
        started = time.monotonic()
        try:
            case()
            passed += 1
        except MissingDependency as missing:
            failed += 1
            print(f"{name}: FAILED: {missing}", flush=True)
        except Exception:  # A case may fail in any way; the others still have something to say.
            failed += 1
            print(f"{name}: FAILED: {claim(case)} ({time.monotonic() - started:.1f} s)", flush=True)
            traceback.print_exc(file=sys.stdout)
    print(f"{name}: {passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def check_equal(actual, expected, what="value"):
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")
