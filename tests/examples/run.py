#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs every example against both kinds of server.
#
#   run.py FOLDER [NAME...]     of the built examples; only these
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent / "examples"
sys.path.insert(0, str(HERE.parent / "compat"))
import servers  # noqa: E402  (the path above must come first)


def run(program, address):
    """The failure of the program, or None."""
    try:
        done = subprocess.run([str(program), address], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stdout[-500:]}"
    return None if done.stdout.strip() else "it says nothing"


def main():
    folder, chosen = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    names = sorted(source.stem for source in SOURCES.glob("*.cc"))
    passed = failed = 0
    for kind in ("drover", "java"):
        with servers.KINDS[kind]() as server:
            for name in names:
                if chosen and name not in chosen:
                    continue
                problem = run(folder / f"example_{name}", server.address)
                passed, failed = passed + (problem is None), failed + (problem is not None)
                if problem:
                    print(f"{kind}: {name}: {problem}")
    if not names:
        print("there are no examples")
        failed += 1
    print(f"examples: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
