# SPDX-License-Identifier: Apache-2.0
#
# Apache ZooKeeper 3.9, which Debian 12 does not package: its two jars from Maven Central, checked against the
# hashes below and kept in the user's cache. Its libraries are Debian's, as for 3.8.0.

import hashlib
import os
import pathlib
import urllib.request

RELEASE = "3.9.6"
REPOSITORY = os.environ.get("DROVER_MAVEN", "https://repo1.maven.org/maven2")
JARS = {
    "zookeeper": "09bdf93be7c0b5b7cd9fe51bee6abe424796cd5aaf75cf0c10bbd6f1273562ee",
    "zookeeper-jute": "74f9cb1e4ba899ecc4b816201b4afd1c63c256705bd9176393fac4071597c75f",
}
TIMEOUT_SECONDS = 30


class Unreachable(Exception):
    """Maven Central does not answer. What needs 3.9 says so and is not counted."""


def _cache():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "drover" / "maven"


def _is_whole(path, digest):
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _download(artifact, path, digest):
    url = f"{REPOSITORY}/org/apache/zookeeper/{artifact}/{RELEASE}/{artifact}-{RELEASE}.jar"
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            content = answer.read()
    except OSError as error:
        raise Unreachable(f"{url}: {error}") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}")  # Two runs may fetch at the same time.
    partial.write_bytes(content)
    partial.rename(path)
    if not _is_whole(path, digest):
        path.unlink()
        raise ValueError(f"{url}: its SHA-256 is not the one in {__file__}")


def zookeeper_jars():
    """Paths of the jars; downloads those that the cache does not have."""
    paths = []
    for artifact, digest in JARS.items():
        path = _cache() / f"{artifact}-{RELEASE}.jar"
        if not _is_whole(path, digest):
            _download(artifact, path, digest)
        paths.append(str(path))
    return paths
