#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A full disk: writes that need space are refused, reads and deletes are served, and when there is space again,
# all writes are accepted, without a restart and without a loss.
#
# The disk is a tmpfs of 24 MiB, mounted in a mount namespace of this process alone. That needs root; where it
# is not possible the test fails and says so, because a durability test that skips itself proves nothing.

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import OK, Drover, NotStarted, Session, check, check_equal, p, run, wait_until

DISK_MB = 24
BALLAST_MB = 8
NODE_BYTES = 40000
STALL_SECONDS = 3.0
RECOVERY_SECONDS = 15.0
IN_NAMESPACE = "DROVER_IN_MOUNT_NAMESPACE"


def enter_namespace():
    """Runs this program again where its mounts are its own; they vanish with the last process in there."""
    if os.environ.get(IN_NAMESPACE):
        return
    problem = None
    if os.geteuid() != 0:
        problem = "mounting a tmpfs needs root"
    elif not shutil.which("unshare"):
        problem = "unshare is missing (Debian package: util-linux)"
    else:
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"]
        probe = subprocess.run(["unshare", "--mount", *mount], capture_output=True, text=True, check=False)
        if probe.returncode != 0:
            problem = f"cannot mount a tmpfs here: {probe.stderr.strip()}"
    if problem:
        print(f"full_disk: FAILED: {problem}\nfull_disk: 0 passed, 1 failed", flush=True)
        sys.exit(1)
    os.environ[IN_NAMESPACE] = "1"
    os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


class SmallDisk:
    """A tmpfs with a ballast file that the test can throw away to make room."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="drover-small-disk-"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "none", str(self.path)], check=True)
        with open(self.path / "ballast", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, BALLAST_MB << 20)
        return self

    def free(self):
        (self.path / "ballast").unlink()

    def take_the_rest(self):
        """Fills the disk to the last block, like a large log file of another program."""
        with open(self.path / "others", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(4096)):
                pass

    def give_back(self):
        (self.path / "others").unlink()

    def __exit__(self, *_):
        subprocess.run(["umount", "--lazy", str(self.path)], check=True)
        self.path.rmdir()


class Filler:
    """Creates nodes until the server refuses or stalls, and remembers what was promised."""

    def __init__(self, server):
        self.server = server
        self.session = server.session(timeout_ms=40000)
        self.acknowledged = {}
        self.deleted = set()
        self.serial = 0
        self.unanswered = None

    def data(self, path):
        return path.encode() + b"." * (NODE_BYTES - len(path))

    def create(self, timeout=STALL_SECONDS):
        """OK, the server's error, or None while there is no answer."""
        if self.unanswered is None:
            path = f"/n{self.serial}"
            self.serial += 1
            self.session.send([(p.CREATE, p.create_body(path, self.data(path)))])
            self.unanswered = path
        self.session.connection.socket.settimeout(timeout)
        try:
            err, _ = self.session.answer()
        except TimeoutError:
            return None
        finally:
            self.session.connection.socket.settimeout(30)
        if err == OK:
            self.acknowledged[self.unanswered] = self.data(self.unanswered)
        self.unanswered = None
        return err

    def fill(self):
        """Returns how the server said that it is full: its error, or None for a stall."""
        for _ in range((DISK_MB << 20) // NODE_BYTES + 10):
            result = self.create()
            if result != OK:
                return result
        raise AssertionError(f"{len(self.acknowledged)} nodes do not fill {DISK_MB} MiB")

    def delete_some(self, session, count):
        for path in list(self.acknowledged)[:count]:
            err, _ = session.call(p.DELETE, p.path_version_body(path))
            check_equal(err, OK, f"delete {path} on the full disk")
            del self.acknowledged[path]
            self.deleted.add(path)

    def check_reads(self, session):
        path, data = next(iter(self.acknowledged.items()))
        check_equal(session.nodes([path])[path][0], data, f"{path} on the full disk")
        check(len(session.children("/")) >= len(self.acknowledged), "getChildren on the full disk")

    def check_restored(self):
        session = self.server.session()
        there = session.nodes(sorted(self.acknowledged))
        lost = set(self.acknowledged) - set(there)
        check(not lost, f"{len(lost)} acknowledged nodes are lost, for example {sorted(lost)[:3]}")
        for path, (data, _) in there.items():
            check(data == self.acknowledged[path], f"{path} has other data")
        back = set(session.nodes(sorted(self.deleted)))
        check(not back, f"deleted nodes are back: {sorted(back)[:3]}")
        session.close()


def small_server(disk, properties=None):
    return Drover(properties=properties, data_dir=disk.path / "data")


def keep_alive(session):
    check_equal(session.call(p.PING)[0], OK, "ping")


def fill_and_free(properties):
    with SmallDisk() as disk, small_server(disk, properties) as server:
        server.start()
        filler = Filler(server)
        other = server.session(timeout_ms=40000)
        check(filler.fill() != OK, "the disk is full")
        check(server.alive(), "the process lives")
        filler.check_reads(other)
        filler.delete_some(other, 20)
        keep_alive(other)
        check(server.alive() and server.word("ruok") == "imok", "the process lives")

        disk.free()
        # Creates alone must notice that there is space: nobody deletes or connects to help them.
        wait_until(lambda: filler.create() == OK, "creates work again once there is space", RECOVERY_SECONDS)
        for _ in range(20):
            check_equal(filler.create(), OK, "create after the disk was full")
        server.kill()
        server.start()
        filler.check_restored()


def a_full_disk_stops_growth_and_nothing_else():
    fill_and_free({"preAllocSize": 256})


def a_preallocation_larger_than_the_disk_is_no_problem():
    fill_and_free({})


def snapshots_and_new_log_files_on_a_full_disk_lose_nothing():
    fill_and_free({"preAllocSize": 64, "snapCount": 20, "snapSizeLimitInKb": 1024})


def a_server_killed_on_a_full_disk_has_everything_when_it_starts():
    with SmallDisk() as disk, small_server(disk, {"preAllocSize": 256}) as server:
        server.start()
        filler = Filler(server)
        check(filler.fill() != OK, "the disk is full")
        disk.take_the_rest()
        server.kill()
        try:
            server.start()
            filler.check_reads(Session(server.port, resume=filler.session))
            server.kill()
        except NotStarted as refusal:
            errors = [line for line in refusal.lines if " ERROR " in line]
            check(refusal.code == 1 and len(errors) == 1 and "No space left" in errors[0],
                  f"either it serves or it says why: {refusal}")
        disk.give_back()
        disk.free()
        server.start()
        filler.check_restored()
        check_equal(server.session().create("/new"), "/new", "create with space again")


def many_deletes_succeed_while_the_disk_is_full():
    """Deletes are log records too. They fit into the reserve, and what they free in memory is real."""
    with SmallDisk() as disk, small_server(disk, {"preAllocSize": 256}) as server:
        server.start()
        filler = Filler(server)
        other = server.session(timeout_ms=40000)
        other.create_all([(f"/small-{n}", b"x") for n in range(3000)])
        check(filler.fill() != OK, "the disk is full")
        answers = other.pipeline([(p.DELETE, p.path_version_body(f"/small-{n}")) for n in range(3000)])
        check(all(err == OK for err, _ in answers), "3000 deletes on the full disk")
        filler.deleted |= {f"/small-{n}" for n in range(3000)}
        check(server.alive(), "the process lives")
        server.kill()
        disk.free()
        server.start()
        filler.check_restored()


def an_existing_client_can_reconnect_while_the_disk_is_full():
    with SmallDisk() as disk, small_server(disk, {"preAllocSize": 256}) as server:
        server.start()
        filler = Filler(server)
        other = server.session(timeout_ms=40000)
        check(filler.fill() != OK, "the disk is full")
        other.close()
        again = server.session(timeout_ms=40000, resume=other)
        check_equal(again.id, other.id, "the session is resumed")
        filler.check_reads(again)
        filler.delete_some(again, 1)


def new_clients_are_accepted_as_soon_as_there_is_space():
    with SmallDisk() as disk, small_server(disk, {"preAllocSize": 256}) as server:
        server.start()
        filler = Filler(server)
        check(filler.fill() != OK, "the disk is full")
        filler.session.close()
        disk.free()

        def connects():
            try:
                return server.session().valid
            except (AssertionError, OSError):
                return False

        wait_until(connects, "a new session", RECOVERY_SECONDS)


if __name__ == "__main__":
    enter_namespace()
    sys.exit(run("full_disk", [
        a_full_disk_stops_growth_and_nothing_else,
        a_preallocation_larger_than_the_disk_is_no_problem,
        snapshots_and_new_log_files_on_a_full_disk_lose_nothing,
        a_server_killed_on_a_full_disk_has_everything_when_it_starts,
        many_deletes_succeed_while_the_disk_is_full,
        an_existing_client_can_reconnect_while_the_disk_is_full,
        new_clients_are_accepted_as_soon_as_there_is_space,
    ], only=sys.argv[1] if len(sys.argv) > 1 else None))
