#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Real servers under each attack of attacks.py, http_attacks.py and peer_attacks.py: another client's calls stay short,
# memory stays below a bound, and afterwards the tree is whole on every server. `hostile_test.py standalone` or
# `hostile_test.py ensemble`; further words choose attacks by a part of their name.
#
# The standalone server has logins with SASL, the ensemble has none.

import pathlib
import subprocess
import sys

for folder in ("durability", "ensemble", "sasl"):
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / folder))

from ensemble import DROVER, Ensemble  # noqa: E402  First: it makes other folders importable.
import attacks  # noqa: E402
import http_attacks  # noqa: E402
import peer_attacks  # noqa: E402
from harness import OK, Drover, Session, check, check_equal, p, run  # noqa: E402
from ports import free_port  # noqa: E402

# The longest time of a call of another client. Before the fixes, the attacks made it 10 to 40 s. The machines of CI are slow and busy, so a client of an
# idle server shows how long a call takes there anyway: a write in an ensemble has about three times as many steps.
CALL_SECONDS_MAX = 1.0
STEPS = 3
# Resident memory at its peak, beyond what was in use before the attack. The attacks took up to 3 GB.
ATTACK_MB = 256

SETTINGS = {"maxClientCnxns": 400}
PROPERTIES = {"zookeeper.4lw.commands.whitelist": "*", "zookeeper.preAllocSize": 1024,
              "zookeeper.DigestAuthenticationProvider.superDigest": http_attacks.SUPER_DIGEST}
JAAS = f"""Server {{
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_{attacks.USER}="{attacks.PASSWORD}";
}};
"""


def open_http(server):
    """Gives a server that does not run yet an HTTP port, and returns it."""
    port = free_port()
    server.config.update({"admin.enableServer": "true", "admin.serverPort": port, "admin.serverAddress": "127.0.0.1"})
    server.properties["zookeeper.admin.enableServer"] = "true"
    return port


def allow_logins(server):
    jaas = server.folder / "jaas.conf"
    jaas.write_text(JAAS)
    jaas.chmod(0o600)
    server.properties["java.security.auth.login.config"] = str(jaas)


class Victim:
    """victim.py, from the start of an attack to its end."""

    def __init__(self, port):
        program = pathlib.Path(__file__).with_name("victim.py")
        self.process = subprocess.Popen([sys.executable, str(program), str(port)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        check_equal(self.process.stdout.readline().strip(), "ready", "the victim")

    def longest_call(self):
        said, _ = self.process.communicate(timeout=120)
        check_equal(self.process.returncode, 0, "the victim's exit code")
        return float(said)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Memory:
    """The peak of a process since it was last asked."""

    def __init__(self, process):
        self.folder = pathlib.Path(f"/proc/{process.pid}")
        self.folder.joinpath("clear_refs").write_text("5")
        self.before = self.megabytes("VmRSS")

    def megabytes(self, field):
        for line in self.folder.joinpath("status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
        raise AssertionError(f"no {field} in {self.folder}")

    def grown(self):
        return self.megabytes("VmHWM") - self.before


class World:
    """The servers, and where victims are."""

    def __init__(self, processes, victims_at, idle, check_whole):
        self.processes, self.check_whole = processes, check_whole
        self.victims_at, self.idle = victims_at, idle

    def survives(self, attack, target):
        memories = [Memory(process) for process in self.processes]
        victims = [Victim(port) for port in (*self.victims_at, self.idle)]
        try:
            attack(target)
            *calls, anyway = [victim.longest_call() for victim in victims]
        finally:
            for victim in victims:
                victim.end()
        longest, allowed = max(calls), CALL_SECONDS_MAX + STEPS * anyway
        check(all(process.poll() is None for process in self.processes), "every server lives")
        grown, most = max(memory.grown() for memory in memories), getattr(attack, "megabytes", ATTACK_MB)
        print(f"  longest call {longest:.3f} s, of an idle server {anyway:.3f} s, memory +{grown:.0f} MB", flush=True)
        check(longest < allowed, f"a victim waited {longest:.2f} s, {allowed:.2f} are allowed")
        check(grown < most, f"the attack cost {grown:.0f} MB at its peak, {most} are allowed")
        self.check_whole()


def tree_of(port):
    """One server's tree: every name, and the nodes that attacks change. The servers
    compare the rest themselves: each transaction carries a digest of the whole tree."""
    session = Session(port)
    check_equal(session.call(p.SYNC, p.buffer("/"))[0], OK, "sync")
    tree = {path: sorted(session.children(path)) for path in ("/", "/wide", "/zookeeper/quota")}
    for path, (data, stat) in session.nodes(["/", "/wide", "/victim", "/large"]).items():
        tree["data and stat of " + path] = (data, tuple(stat.values()))
    session.call(p.CLOSE_SESSION)
    session.close()
    return tree


def cases_in(world, targets, names):
    """`targets` are (attacks, what they attack)."""
    def case_of(attack, target):
        def case():
            world.survives(attack, target)
        case.__name__ = attack.__name__
        return case

    return [case_of(attack, target) for several, target in targets for attack in several
            if not names or any(name in attack.__name__ for name in names)]


def idle_server():
    server = Drover().start()
    session = server.session()
    session.create("/victim")
    session.close()
    return server


def standalone(names):
    with Drover(PROPERTIES, SETTINGS) as server, idle_server() as idle:
        allow_logins(server)
        http_port = open_http(server)
        server.start()
        attacks.prepare(server.port)

        def check_whole():
            check_equal(len(tree_of(server.port)["/wide"]), attacks.WIDE_NODES, "children of /wide")

        world = World([server.process], [server.port], idle.port, check_whole)
        targets = [(attacks.ATTACKS, server.port), ([attacks.sasl_tokens_that_log_nobody_in], server.port),
                   (http_attacks.ATTACKS, http_port)]
        return run("hostile standalone", cases_in(world, targets, names))


def ensemble(names):
    # A long syncLimit: on a busy machine a server may get no CPU for seconds, and what that costs is no attack's doing.
    with Ensemble([DROVER] * 3, config={**SETTINGS, "syncLimit": 40}, properties=PROPERTIES) as servers, \
            idle_server() as idle:
        http_ports = {member: open_http(member) for member in servers}
        leader = servers.start().leader()
        attacked, other = servers.followers()
        attacks.prepare(attacked.port)

        def check_whole():
            check(servers.leader() is leader, "the leader still leads")
            check_equal(set(servers.followers()), {attacked, other}, "followers")
            trees = [tree_of(member.port) for member in servers]
            check(trees[0] == trees[1] == trees[2], "the tree is the same on every server")
            for member in servers:
                member.check_not_diverged()

        world = World([member.process for member in servers], [attacked.port, other.port], idle.port, check_whole)
        targets = [(attacks.ATTACKS, attacked.port),
                   ([attacks.sasl_requests_where_no_login_is_configured], attacked.port),
                   (http_attacks.ATTACKS, http_ports[attacked]), (peer_attacks.ATTACKS, list(servers))]
        return run("hostile ensemble", cases_in(world, targets, names))


WORLDS = {"standalone": standalone, "ensemble": ensemble}

if __name__ == "__main__":
    sys.exit(WORLDS[sys.argv[1]](sys.argv[2:]))
