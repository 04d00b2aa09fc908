# SPDX-License-Identifier: Apache-2.0
#
# Both sides of SASL conversations as processes: ours (peer.cc) and Java's (JavaPeer.java).
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
JARS = ":".join(f"/usr/share/java/{name}.jar" for name in ("zookeeper", "slf4j-api", "slf4j-nop"))
ANSWER_SECONDS = 60


class Step:
    def __init__(self, line):
        self.line = line
        self.status, _, rest = line.partition(" ")
        token, _, self.id = rest.partition(" ")
        self.token = bytes.fromhex(token) if self.status != "failed" and token != "-" else b""
        self.has_token = token != "-"
        self.reason = rest if self.status == "failed" else ""

    def __repr__(self):
        return self.line


class Peer:
    """A process that takes a token per line and answers each."""

    def __init__(self, command, env=None):
        self._process = subprocess.Popen([str(word) for word in command], env=env, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def step(self, token=b""):
        try:
            self._process.stdin.write(token.hex() + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it failed to start, and has said why
        return Step(self._process.stdout.readline().rstrip("\n"))

    def again(self):
        self._process.stdin.write("again\n")
        self._process.stdin.flush()

    def close(self):
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(timeout=ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def compile_java(folder):
    """The class path for JavaPeer."""
    subprocess.run(["javac", "-nowarn", "-cp", JARS, "-d", str(folder), str(HERE / "JavaPeer.java")], check=True,
                   capture_output=True)
    return f"{folder}:{JARS}"


def converse(client, server, limit=10):
    """Carries tokens until a side fails or both are done; the last steps of both."""
    at_client, at_server = client.step(), None
    for _ in range(limit):
        if at_client.status == "failed":
            break
        if at_client.status == "done" and at_server is not None and at_server.status == "done":
            break
        at_server = server.step(at_client.token)
        if at_server.status == "failed" or at_client.status == "done":
            break
        if at_server.status == "done" and not at_server.has_token:
            break
        at_client = client.step(at_server.token)
    return at_client, at_server
