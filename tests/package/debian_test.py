#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests the packages of `cpack -G DEB`: builds them, checks their contents and metadata, unpacks the server's
# package into a folder and starts it from there as its unit does.
#
#   debian_test.py BUILD_FOLDER
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "compat"))
from ports import free_port  # noqa: E402  (the path above must come first)

START_SECONDS_MAX = 30


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


class Packages(unittest.TestCase):
    build = None

    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="drover-deb-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        subprocess.run(["cpack", "-G", "DEB", "-B", str(cls.scratch)], cwd=cls.build, check=True,
                       stdout=subprocess.DEVNULL)
        cls.server, = cls.scratch.glob("drover_*.deb")
        cls.library, = cls.scratch.glob("libdrover-dev_*.deb")
        cls.root = cls.scratch / "root"
        subprocess.run(["dpkg-deb", "-x", str(cls.server), str(cls.root)], check=True)
        cls.unit = (cls.root / "usr/lib/systemd/system/drover.service").read_text(encoding="utf-8")

    def files(self, package):
        lines = output("dpkg-deb", "-c", package).splitlines()
        return {line.split()[5].removeprefix(".") for line in lines if not line.startswith("d")}

    def test_the_server_has_its_binary_unit_scripts_configuration_and_pages(self):
        files = self.files(self.server)
        for path in ("/usr/bin/drover", "/usr/bin/zkServer.sh", "/usr/bin/zkCli.sh", "/usr/bin/zkEnv.sh",
                     "/usr/lib/systemd/system/drover.service",
                     "/usr/lib/sysusers.d/drover.conf", "/etc/drover/zoo.cfg",
                     "/usr/share/doc/drover/operating.md", "/usr/share/doc/drover/copyright"):
            self.assertIn(path, files)
        self.assertEqual({path for path in files if not path.startswith(("/usr/", "/etc/drover/"))}, set())

    def test_the_library_has_headers_and_both_ways_to_find_them(self):
        files = self.files(self.library)
        for path in ("/usr/include/drover/client.h", "/usr/lib/libdrover.a", "/usr/lib/pkgconfig/drover.pc",
                     "/usr/lib/cmake/drover/drover-config.cmake"):
            self.assertIn(path, files)

    def test_the_configuration_may_hold_passwords(self):
        line, = [line for line in output("dpkg-deb", "-c", self.server).splitlines() if line.endswith("/etc/drover/zoo.cfg")]
        self.assertEqual(line.split()[0], "-rw-r-----")
        self.assertIn("chown root:drover /etc/drover/zoo.cfg", output("dpkg-deb", "-I", self.server, "postinst"))

    def test_the_service_is_bounded_in_memory_and_the_last_to_be_killed_for_others(self):
        self.assertIn("MemoryMax=", self.unit)
        self.assertIn("OOMScoreAdjust=-", self.unit)

    def test_a_changed_configuration_survives_an_upgrade(self):
        self.assertEqual(output("dpkg-deb", "-I", self.server, "conffiles").split(), ["/etc/drover/zoo.cfg"])

    def test_every_library_of_the_binary_is_of_a_package_it_depends_on(self):
        depends = output("dpkg-deb", "-f", self.server, "Depends")
        for package in ("libc6", "libssl3", "zlib1g", "libsnappy1v5", "libspdlog1.10"):
            self.assertIn(package, depends)

    def test_the_mechanisms_of_sasl_come_along(self):
        recommends = output("dpkg-deb", "-f", self.server, "Recommends")
        for package in ("libsasl2-modules", "libsasl2-modules-gssapi-mit"):
            self.assertIn(package, recommends)

    def test_the_scripts_are_good_shell(self):
        for script in ("postinst", "prerm", "postrm"):
            text = output("dpkg-deb", "-I", self.server, script)
            subprocess.run(["sh", "-n"], input=text, text=True, check=True)

    def test_the_unit_names_what_is_in_the_package(self):
        command = re.search(r"^ExecStart=(.*)$", self.unit, re.MULTILINE)[1].split()
        files = self.files(self.server)
        self.assertIn(command[0], files)
        self.assertIn(command[2], files)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_systemd_finds_nothing_wrong_with_the_unit(self):
        unit = self.scratch / "drover.service"
        # The binary is not installed where the unit expects it, nor is its page.
        text = self.unit.replace("/usr/bin/drover", str(self.root / "usr/bin/drover"))
        unit.write_text(re.sub(r"^Documentation=.*\n", "", text, flags=re.MULTILINE), encoding="utf-8")
        done = subprocess.run(["systemd-analyze", "verify", str(unit)], stderr=subprocess.PIPE, text=True)
        complaints = [line for line in done.stderr.splitlines() if line.startswith(("drover.service", str(unit)))]
        self.assertEqual(complaints, [])

    def test_it_starts_with_its_configuration_and_tells_the_service_manager(self):
        port = free_port()
        config = self.scratch / "zoo.cfg"
        text = (self.root / "etc/drover/zoo.cfg").read_text(encoding="utf-8")
        self.assertIn("dataDir=/var/lib/drover\n", text)
        text = text.replace("/var/lib/drover", str(self.scratch / "data"), 1).replace("2181", str(port), 1)
        config.write_text(text + f"admin.serverPort={free_port()}\n", encoding="utf-8")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.settimeout(START_SECONDS_MAX)
            address = str(self.scratch / "notify")
            manager.bind(address)
            server = subprocess.Popen([self.root / "usr/bin/drover", "server", config], stderr=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, env={**os.environ, "NOTIFY_SOCKET": address})
            try:
                self.assertEqual(manager.recv(100), b"READY=1")
                with socket.create_connection(("127.0.0.1", port)) as client:
                    client.sendall(b"srvr")
                    self.assertIn(b"Mode: standalone", client.recv(4096))
            finally:
                server.terminate()
                self.assertEqual(server.wait(30), 0)


if __name__ == "__main__":
    Packages.build = sys.argv.pop(1)
    unittest.main()
