#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests what unit files and test harnesses rely on when they call zkServer.sh: messages, exit codes, pid file.
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "compat"))
from ports import free_port  # noqa: E402  (the path above must come first)

SCRIPT = HERE.parent.parent / "bin" / "zkServer.sh"


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")


class ServerScript(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="drover script "))  # with a blank, on purpose
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.end_server)
        self.conf = self.folder / "conf"
        self.data = self.folder / "data"
        self.pid_file = self.data / "zookeeper_server.pid"
        self.record = self.folder / "arguments"
        self.conf.mkdir()
        binary = self.folder / "drover"
        shutil.copy(HERE / "fake_drover.py", binary)
        binary.chmod(0o755)
        self.environment = {
            "PATH": os.environ["PATH"],
            "DROVER": str(binary),
            "ZOOCFGDIR": str(self.conf),
            "ZOO_LOG_DIR": str(self.folder / "logs"),
            "FAKE_RECORD": str(self.record),
        }
        self.port = free_port()
        self.write_config(f"tickTime=2000\ndataDir={self.data}\nclientPort={self.port}\n"
                          "clientPortAddress=127.0.0.1\n")

    def end_server(self):
        for pid_file in self.folder.rglob("*.pid"):
            pid = int(pid_file.read_text(encoding="utf-8"))
            if is_alive(pid) and b"drover" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)

    def write_config(self, text, name="zoo.cfg"):
        (self.conf / name).write_text(text, encoding="utf-8")

    def call(self, *arguments, **variables):
        """Exit code, standard output, standard error."""
        result = subprocess.run([SCRIPT, *arguments], env=self.environment | variables, cwd=self.folder,
                                capture_output=True, text=True, timeout=120, check=False)
        return result.returncode, result.stdout, result.stderr

    def server_pid(self):
        return int(self.pid_file.read_text(encoding="utf-8"))

    def recorded(self):
        return json.loads(self.record.read_text(encoding="utf-8"))

    def test_start_returns_when_the_server_answers(self):
        code, out, err = self.call("start")
        self.assertEqual((code, out), (0, "Starting zookeeper ... STARTED\n"))
        self.assertEqual(err, f"Using config: {self.conf}/zoo.cfg\n")
        with socket.create_connection(("127.0.0.1", self.port)):
            self.assertTrue(is_alive(self.server_pid()))

    def test_the_pid_file_holds_the_number_and_nothing_else(self):
        self.call("start")
        self.assertRegex(self.pid_file.read_text(encoding="utf-8"), r"\A\d+\Z")

    def test_a_second_start_is_refused(self):
        self.call("start")
        code, out, _ = self.call("start")
        self.assertEqual(code, 1)
        self.assertEqual(out, f"Starting zookeeper ... already running as process {self.server_pid()}.\n")

    def test_a_server_that_dies_has_failed_to_start_and_says_why(self):
        code, out, err = self.call("start", FAKE_BEHAVIOUR="dies")
        self.assertEqual((code, out), (1, "Starting zookeeper ... FAILED TO START\n"))
        self.assertIn("a reason to die", err)
        self.assertFalse(self.pid_file.exists())

    def test_a_port_that_is_taken_is_named_before_anything_starts(self):
        with socket.create_server(("127.0.0.1", self.port)):
            code, out, err = self.call("start")
        self.assertEqual((code, out), (1, "Starting zookeeper ... FAILED TO START\n"))
        self.assertIn(f"something listens on 127.0.0.1:{self.port}", err)
        self.assertFalse(self.record.exists())

    def test_stop_returns_when_the_process_is_gone(self):
        self.call("start")
        pid = self.server_pid()
        code, out, _ = self.call("stop")
        self.assertEqual((code, out), (0, "Stopping zookeeper ... STOPPED\n"))
        self.assertFalse(is_alive(pid))
        self.assertFalse(self.pid_file.exists())

    def test_stop_without_a_server_is_no_error(self):
        code, out, _ = self.call("stop")
        self.assertEqual(code, 0)
        self.assertEqual(out, "Stopping zookeeper ... no zookeeper to stop "
                              f"(could not find file {self.pid_file})\n")

    def test_stop_admits_that_a_server_does_not_end(self):
        self.call("start", FAKE_BEHAVIOUR="stubborn")
        code, out, _ = self.call("stop", ZOO_STOP_TIMEOUT="0")
        self.assertEqual((code, out), (1, "Stopping zookeeper ... FAILED TO STOP\n"))
        self.assertTrue(self.pid_file.exists())

    def test_a_pid_that_belongs_to_another_program_is_left_alone(self):
        self.data.mkdir()
        with subprocess.Popen(["sleep", "60"]) as stranger:
            self.pid_file.write_text(str(stranger.pid), encoding="utf-8")
            self.assertEqual(self.call("stop")[:2], (0, "Stopping zookeeper ... STOPPED\n"))
            self.assertIsNone(stranger.poll())
            stranger.kill()

    def test_restart_replaces_the_process(self):
        self.call("start")
        before = self.server_pid()
        code, out, _ = self.call("restart")
        self.assertEqual((code, out), (0, "Stopping zookeeper ... STOPPED\nStarting zookeeper ... STARTED\n"))
        self.assertNotEqual(self.server_pid(), before)

    def test_status_shows_port_and_mode(self):
        self.call("start")
        code, out, _ = self.call("status")
        self.assertEqual(code, 0)
        self.assertEqual(out, f"Client port found: {self.port}. Client address: 127.0.0.1. Client SSL: false.\n"
                              "Mode: standalone\n")

    def test_status_of_nothing_is_an_error(self):
        code, out, _ = self.call("status")
        self.assertEqual(code, 1)
        self.assertTrue(out.endswith("Error contacting service. It is probably not running.\n"))

    def test_status_defaults_to_localhost(self):
        self.write_config(f"dataDir={self.data}\n  clientPort = {self.port} \n")
        self.assertIn(f"Client port found: {self.port}. Client address: localhost.", self.call("status")[1])

    def test_status_finds_the_port_in_the_server_line_and_in_the_dynamic_file(self):
        self.data.mkdir()
        (self.data / "myid").write_text("1\n", encoding="utf-8")
        self.write_config(f"dataDir={self.data}\nserver.1=zk1:1:2;127.0.0.1:{self.port}\n")
        found = f"Client port found: {self.port}. Client address: 127.0.0.1. Client SSL: false.\n"
        self.assertTrue(self.call("status")[1].startswith(found))
        dynamic = self.folder / "dynamic"
        dynamic.write_text(f"server.1=zk1:1:2;[::1]:{self.port}\n", encoding="utf-8")
        self.write_config(f"dataDir={self.data}\ndynamicConfigFile={dynamic}\n")
        self.assertIn(f"{self.port}. Client address: ::1.", self.call("status")[1])

    def test_status_of_a_secure_port_says_so(self):
        self.write_config(f"dataDir={self.data}\nsecureClientPort={self.port}\n")
        code, out, _ = self.call("status")
        self.assertEqual(code, 1)
        self.assertIn(f"Client port found: {self.port}. Client address: localhost. Client SSL: true.\n", out)

    def test_status_without_any_port_ends(self):
        self.write_config(f"dataDir={self.data}\n")
        self.assertEqual(self.call("status")[:2],
                         (1, "Unable to find either secure or unsecure client port in any configs. "
                             "Terminating.\n"))

    def test_jvm_flags_pass_their_properties_on_and_server_flags_come_first(self):
        (self.folder / "-Dzookeeper.a=file").touch()  # what the * would become in a careless script
        self.call("start", SERVER_JVMFLAGS="-Xmx1g -Dzookeeper.a=*", JVMFLAGS="-verbose:gc -Dzookeeper.b=2")
        arguments = self.recorded()
        self.assertEqual(arguments[:2], ["server", f"{self.conf}/zoo.cfg"])
        self.assertEqual(arguments[4:], ["-Dzookeeper.a=*", "-Dzookeeper.b=2"])

    def test_a_port_among_the_flags_wins_over_the_file(self):
        other = free_port()
        code, out, _ = self.call("start", JVMFLAGS=f"-DclientPort={other}")
        self.assertEqual((code, out), (0, "Starting zookeeper ... STARTED\n"))

    def test_the_log_goes_where_the_variables_say(self):
        self.call("start", ZOO_LOG_FILE="mine.log", USER="anna", HOSTNAME="zk1")
        self.assertEqual(self.recorded()[2:4], [f"-Dzookeeper.log.dir={self.folder}/logs",
                                                "-Dzookeeper.log.file=mine.log"])
        self.assertTrue(list((self.folder / "logs").glob("zookeeper-anna-server-*.out")))

    def test_the_configuration_is_a_name_in_the_directory_or_a_path(self):
        self.write_config(f"dataDir={self.data}\nclientPort={self.port}\n", name="other.cfg")
        self.assertIn(f"Using config: {self.conf}/other.cfg\n", self.call("status", "other.cfg")[2])
        self.assertIn("Using config: conf/other.cfg\n", self.call("status", "conf/other.cfg")[2])
        self.assertIn(f"Using config: {self.conf}/other.cfg\n", self.call("status", ZOOCFG="other.cfg")[2])

    def test_the_directory_may_be_an_argument(self):
        code, _, err = self.call("--config", str(self.conf), "status", ZOOCFGDIR="/nowhere")
        self.assertEqual(code, 1)
        self.assertIn(f"Using config: {self.conf}/zoo.cfg\n", err)

    def test_the_environment_files_of_the_directory_are_read(self):
        (self.conf / "java.env").write_text('export JVMFLAGS="-Dfrom=java.env"\n', encoding="utf-8")
        self.assertIn('"-Dfrom=java.env"', self.call("print-cmd")[1])

    def test_the_pid_file_can_be_elsewhere(self):
        elsewhere = self.folder / "run" / "zk.pid"
        self.call("start", ZOOPIDFILE=str(elsewhere))
        self.assertTrue(elsewhere.exists())
        self.assertEqual(self.call("stop", ZOOPIDFILE=str(elsewhere))[1], "Stopping zookeeper ... STOPPED\n")

    def test_missing_directories_are_not_made_when_that_is_disabled(self):
        code, out, _ = self.call("start", ZOO_DATADIR_AUTOCREATE_DISABLE="1")
        self.assertEqual(code, 1)
        self.assertIn(f"ZooKeeper data directory is missing at {self.data} fix the path or run initialize", out)
        (self.data / "version-2").mkdir(parents=True)
        self.assertEqual(self.call("start", ZOO_DATADIR_AUTOCREATE_DISABLE="1")[0], 0)
        self.assertIn("-Dzookeeper.datadir.autocreate=false", self.recorded())

    def test_start_foreground_is_the_server_itself(self):
        code, out, err = self.call("start-foreground", FAKE_BEHAVIOUR="dies", JVMFLAGS="-Dx=1")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("a reason to die", err)
        self.assertEqual(self.recorded(), ["server", f"{self.conf}/zoo.cfg", "-Dx=1"])

    def test_print_cmd_starts_nothing(self):
        code, out, _ = self.call("print-cmd")
        self.assertEqual(code, 0)
        self.assertIn(f'drover" server "{self.conf}/zoo.cfg"', out)
        self.assertFalse(self.record.exists())

    def test_version(self):
        self.assertEqual(self.call("version")[:2], (0, "fake drover, version 3.9.5-drover-0.1.0\n"))

    def test_an_unknown_verb_shows_the_usage(self):
        code, out, err = self.call("begin")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("{start|start-foreground|stop|version|restart|status|print-cmd}", err)

    def test_it_works_through_a_symbolic_link(self):
        link = self.folder / "zkServer.sh"
        link.symlink_to(SCRIPT)
        result = subprocess.run([link, "version"], env=self.environment, capture_output=True, check=False)
        self.assertEqual(result.returncode, 0)

    def test_without_a_data_directory_it_says_what_is_missing(self):
        self.write_config("clientPort=1\n")
        code, _, err = self.call("stop")
        self.assertEqual(code, 1)
        self.assertIn("no dataDir", err)

    def test_the_real_server_starts_answers_and_stops(self):
        real = os.environ.get("DROVER")
        if not real:
            self.skipTest("DROVER does not name the binary")
        self.environment["DROVER"] = real
        self.assertEqual(self.call("start")[:2], (0, "Starting zookeeper ... STARTED\n"))
        self.assertIn("Mode: standalone\n", self.call("status")[1])
        self.assertEqual(self.call("stop")[:2], (0, "Stopping zookeeper ... STOPPED\n"))


if __name__ == "__main__":
    unittest.main()
