#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What does a login with SASL cost the requests behind it? Nothing: a connection logs in once, and its identity is
# looked at only by requests for nodes with an ACL.
#
#   bench/authenticated.py                  get, eight sessions with sixteen requests in flight, ten pairs of runs
#   bench/authenticated.py --pairs 20 --seconds 5
#
# One server; runs with and without a login take turns, so that other load on the machine affects both. The cost is the
# median of the pairs' ratios: of requests a second, and of requests for a second of the server's CPU time.

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

from compare import DROVER, Server

JAAS = 'Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_bob="bobsecret"; };\n'


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(server, seconds, login):
    begun = cpu_seconds(server.process.pid)
    done = subprocess.run([DROVER, "bench", "get", "-server", f"127.0.0.1:{server.port}", "--sessions", "8",
                           "--in-flight", "16", "--seconds", str(seconds), "--json", *login],
                          check=True, capture_output=True, text=True)
    ops_s = json.loads(done.stdout)["per_second"]
    return {"ops_s": ops_s, "per_cpu": ops_s * seconds / (cpu_seconds(server.process.pid) - begun)}


def main():
    parser = argparse.ArgumentParser(description="The cost of requests behind a login with SASL.")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        jaas, password = pathlib.Path(scratch, "jaas.conf"), pathlib.Path(scratch, "password")
        for file, text in ((jaas, JAAS), (password, "bobsecret\n")):
            file.touch(0o600)
            file.write_text(text)
        server = Server("drover", scratch, [
            f"-Djava.security.auth.login.config={jaas}",
            "-Dzookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"])
        server.start()
        try:
            logins = {"without": [], "with": ["--sasl-user", "bob", "--sasl-password-file", str(password)]}
            runs = {name: [] for name in logins}
            load(server, options.seconds, [])  # warm
            for pair in range(options.pairs):
                for name in logins if pair % 2 == 0 else reversed(logins):
                    runs[name].append(load(server, options.seconds, logins[name]))
        finally:
            server.stop()
    for figure, text in (("ops_s", "requests per second"), ("per_cpu", "requests per second of the server's CPU")):
        plain, secured = [[run[figure] for run in runs[name]] for name in ("without", "with")]
        ratio = statistics.median(b / a for a, b in zip(plain, secured))
        print(f"{text}: {statistics.median(plain):,.0f} without a login, {statistics.median(secured):,.0f} with one, "
              f"ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
