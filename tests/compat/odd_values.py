# SPDX-License-Identifier: Apache-2.0
#
# The values that workload.py draws from: a few valid ones, so that requests hit the same nodes, and many that are
# invalid in one way each.

NAMES = ["a", "b", "c"]
USERS = [b"ann:apple", b"bob:berry", b"cid:cherry"]
QUOTA_TEXTS = [b"count=3,bytes=40", b"count=-1,bytes=-1", b"count=2,bytes=-1=;countHardLimit=3",
               b"count=5,bytes=100=;byteHardLimit=60;countHardLimit=4"]

ODD_PATHS = [
    None, "", "/", "a", "a/b", "//", "///", "/a/", "/a//b", "//a", "/.", "/..", "/...", "/.a", "/a.", "/a/.",
    "/a/..", "/a/./b", "/a/../b", "/\0", "/a\0b", "/a/\0", "/\x01", "/a\x1f", "/a b", "/\x7f", "/\x85",
    "/\x9f", "/\xa0", "/é", "/a/日本", "/\ud7ff", b"/\xed\xa0\x80", b"/\xed\xa0\xbd\xed\xb8\x80",
    "/\U0001f600",
    "/\ue000", "/\uf8ff", "/\uf900", "/\uffef", "/\ufff0", "/\ufffd", "/\uffff", b"/\xff", b"/a\xc3",
    b"/\xc0\x80", b"/\xe2\x82", b"\xff\xff", b"/\xf0\x9f\x98", b"/a\x80b", "/" + "x" * 300,
    "/a/" + "y" * 5000, "/zookeeper", "/zookeeper/", "/zookeeper/quota", "/zookeeper/config", "/zookeeper/x",
    "/zookeeper/quota/a",
    " ", "\t", "/a/b/c/d/a/b/c/d", "/A", "zookeeper", "/zookeeper_limits", "/a:b", "/a,b", "/%00", "/a\\b",
]

ODD_ACLS = [
    None, [], [(31, None, None)], [(31, None, "x")], [(31, "world", None)], [(31, "world", "bob")],
    [(31, "", "")], [(31, "nosuch", "x")], [(31, "ip", None)], [(31, "ip", "")], [(31, "ip", "1.2.3")],
    [(31, "ip", "1.2.3.4/33")], [(31, "ip", "1.2.3.256")], [(31, "ip", "1.2.3.4/")],
    [(31, "ip", "1.2.3.4/-1")], [(31, "ip", "1.2.3.4/ab")], [(31, "digest", None)], [(31, "digest", "")],
    [(31, "digest", "u")], [(31, "digest", "u:")], [(31, "digest", ":")], [(31, "digest", "a:b:c")],
    [(31, "super", "x")], [(31, "sasl", "bob")], [(31, "x509", "CN=a")], [(31, "auth", "")],
    [(31, "auth", None)], [(31, "world", "anyone"), (31, "bad", "x")],
    [(31, "world", "anyone "), (1, "world", "anyone")],
]

UNKNOWN_OPS = [0, -1, -2, 10, 23, 24, 50, 99, 108, 1000, -12, -100, 2**31 - 1, -2**31]
