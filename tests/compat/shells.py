# SPDX-License-Identifier: Apache-2.0
#
# Runs Apache's shell and ours with the same lines and normalises their output.

import re
import subprocess

from servers import JVM_FLAGS, drover_binary, java_binary, java_classpath

# Between the commands of a script, so that each one's output is known: a line on either stream.
OUT_MARK = "printwatches"
OUT_LINE = "printwatches is on\n"
ERR_MARK = "redo 99999"
ERR_LINE = "Command index out of range\n"

# A shell that prints an event prints these two at a time, wherever its other thread has got to.
EVENT = re.compile(r"\nWatchedEvent (state:\w+ type:\w+ path:\S+)\n")
EVENT_TITLE = "\nWATCHER::\n"


def java_shell(server, *arguments):
    return [java_binary(), *JVM_FLAGS, "-Dfile.encoding=UTF-8", "-cp",
            java_classpath("zookeeper.jar", "slf4j-nop.jar"), "org.apache.zookeeper.ZooKeeperMain",
            "-waitforconnection", "-server", server.address, *arguments]


def drover_shell(server, *arguments):
    return [drover_binary(), "cli", "-waitforconnection", "-server", server.address, *arguments]


SHELLS = {"java": java_shell, "drover": drover_shell}


def run(shell, server, lines=(), arguments=(), keep_zxids=False):
    """(stdout without events, stderr, sorted events, exit code)"""
    done = subprocess.run(SHELLS[shell](server, *arguments), input="".join(f"{line}\n" for line in lines),
                          capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
    out = neutral(done.stdout, server, keep_zxids)
    # Whether the last event, "Closed", still gets printed is a race inside the Java client.
    events = sorted(event for event in EVENT.findall(out) if "state:Closed" not in event)
    out = EVENT.sub("", out.replace(EVENT_TITLE, ""))
    return out, neutral(done.stderr, server, keep_zxids), events, done.returncode


def run_script(shell, server, commands, keep_zxids=False):
    """The output of each command: [(stdout, stderr)], then the events and the exit code."""
    lines = [line for command in commands for line in (command, OUT_MARK, ERR_MARK)]
    out, err, events, code = run(shell, server, [*lines, "quit"], keep_zxids=keep_zxids)
    _, _, out = out.partition("Welcome to ZooKeeper!\n")
    outs, errs = out.split(OUT_LINE), err.split(ERR_LINE)
    if len(outs) != len(commands) + 1 or len(errs) != len(commands) + 1:
        raise AssertionError(f"{shell}: {len(commands)} commands, but {len(outs) - 1} and {len(errs) - 1} marks\n"
                             f"{out[-2000:]}\n{err[-2000:]}")
    return list(zip(outs, errs)), events, code


def neutral(text, server, keep_zxids=False):
    text = text.replace(server.address, "SERVER")
    text = text.replace("JLine support is disabled\n", "")
    text = re.sub(r"(?m)^([cm]time) = \w{3} \w{3} \d\d \d\d:\d\d:\d\d \w+ \d{4}$", r"\1 = TIME", text)
    if not keep_zxids:
        text = re.sub(r"(?m)^([cmp]Zxid) = 0x[0-9a-f]+$", r"\1 = ZXID", text)
    text = re.sub(r"ephemeralOwner = 0x[0-9a-f]{9,}", "ephemeralOwner = SESSION", text)
    text = re.sub(r"ZooKeeper CLI version: .*", "ZooKeeper CLI version: VERSION", text)
    # Ephemerals and identities come in hash order.
    text = re.sub(r"(?m)^\[(/.*)\]$", lambda paths: str(sorted(paths.group(1).split(", "))), text)
    return re.sub(r"(?m)(^(?:ip|digest|super): .*\n)+",
                  lambda lines: "".join(sorted(lines.group().splitlines(True))), text)
