#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Every key that the classes of ZooKeeper 3.9 read is in docs/configuration.md: it works, has no effect for a reason,
# or prevents the start. A unit test (config/foreign_keys_test.cc) compares that page with the code.
#
# A key is found in the jar as a string that begins with "zookeeper.", as the name in a call of
# System.getProperty and its like, or as a word of zoo.cfg in QuorumPeerConfig.

import re
import sys

import class_files
import maven
from servers import PROJECT_ROOT
from suite import check, run

SKIPPED = 77
PREFIX = "zookeeper."
PACKAGE = "org/apache/zookeeper/"
A_KEY = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9-]+)*\.?")

# Properties of the JVM or of the machine, and strings that are not read as keys.
OF_THE_JVM = re.compile(r"(java|os|user|sun|jdk|line)\..*")
NOT_READ = {
    "zookeeper.version": "set by the server, to show it",
    "zookeeper.configuration": "the name of a bean",
}
# Words of QuorumPeerConfig that are values, sections of a JAAS file, or parts of file names.
WORDS_OF_ZOO_CFG = PACKAGE + "server/quorum/QuorumPeerConfig"
NO_KEYS_OF_ZOO_CFG = {"QuorumLearner", "QuorumServer", "false", "true", "observer", "participant", "myid", "x509",
                      "version", "org.apache.zookeeper.server.auth.X509AuthenticationProvider"}
# The parts behind ssl. and ssl.quorum., and what else the class says.
PARTS_OF_SSL = PACKAGE + "common/X509Util"
NO_PARTS_OF_SSL = {"PKIX"}
OWN_PARTS_OF_CLIENTS = {PACKAGE + "common/ClientX509Util": {"authProvider", "sslProvider"}}


def is_key(text):
    return A_KEY.fullmatch(text) is not None and not OF_THE_JVM.fullmatch(text) and text not in NOT_READ


def keys_of_jar():
    classes = {name: each for path in maven.zookeeper_jars() for name, each in class_files.classes_of_jar(path).items()}
    keys = set()
    for each in classes.values():
        keys |= {text for text in each.strings() if text.startswith(PREFIX) and is_key(text)}
        keys |= {text for text in each.properties() if "." in text and is_key(text) and not text[0].isdigit()}
    keys |= {text for text in classes[WORDS_OF_ZOO_CFG].strings() - NO_KEYS_OF_ZOO_CFG if is_key(text)}
    parts = {text for text in classes[PARTS_OF_SSL].strings() - NO_PARTS_OF_SSL
             if re.fullmatch(r"[a-z][A-Za-z]*(\.[a-zA-Z]+)*", text) and not text.startswith(("com.", "jdk.", PREFIX))}
    keys |= {f"ssl.{part}" for part in parts} | {f"ssl.quorum.{part}" for part in parts}
    for name, own in OWN_PARTS_OF_CLIENTS.items():
        check(own <= classes[name].strings(), f"{name} has changed")
        keys |= {f"ssl.{part}" for part in own}
    return {key.removeprefix(PREFIX) for key in keys} - {""}


def keys_of_page():
    """The names in the first column of every table; `*` and `N` stand for anything."""
    page = (PROJECT_ROOT / "docs" / "configuration.md").read_text()
    names = set()
    for row in re.findall(r"(?m)^\| (`.*?) \|", page):
        names |= set(re.findall(r"`([^`]+)`", row))
    return names


def pattern_of(name):
    return re.sub(r"\.[A-Z]$", r"\\.\\w+", re.escape(name).replace(r"\*", ".*").replace(r"\.N", r"\.\w+").replace(
        r"\.G", r"\.\w+"))


def is_known(key, names):
    # `ssl.` and `server.` stand for their members. The page describes both kinds of ssl. in one table.
    for each in (key, key.replace("ssl.quorum.", "ssl.")):
        for name in names:
            if re.fullmatch(pattern_of(name), each) or (each.endswith(".") and name.startswith(each)):
                return True
            if name == f"{each}.N" or name == f"{each}.G":
                return True
    return False


def every_key_of_zookeeper_is_in_the_page():
    names = keys_of_page()
    keys = keys_of_jar()
    check(len(keys) > 200, f"only {len(keys)} keys were found in the jar")
    unknown = sorted(key for key in keys if not is_known(key, names))
    check(not unknown, "not in docs/configuration.md: " + " ".join(unknown))


def a_key_that_nobody_knows_is_noticed():
    names = keys_of_page()
    for key in ("snapCounts", "ssl.keyStore.locations", "metricsProviders", "zookeeper"):
        check(not is_known(key, names), f"{key} is taken for known")


if __name__ == "__main__":
    try:
        maven.zookeeper_jars()
    except maven.Unreachable as unreachable:
        print(f"keys: {unreachable}")
        sys.exit(SKIPPED)
    sys.exit(run("keys", [every_key_of_zookeeper_is_in_the_page, a_key_that_nobody_knows_is_noticed]))
