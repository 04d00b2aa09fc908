#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Do the #include lines of src/ and include/ follow the allowed dependencies?
#
# The arrows themselves are not repeated here: they are the DEPENDS of drover_library() in the top
# CMakeLists.txt, and they are transitive. CORE_ROOMS and then ROOMS are subfolders: a room may use only the rooms listed
# before it. A folder that depends on `recipes_core` links only the core rooms of `recipes`; the arrow is the same.
# The rules that CMake cannot express are below: which folders are pure, which may see the public headers only,
# and that nothing includes the program's main.
#
#   layering.py ROOT      prints one line per violation, exit code 1 if there is any
import pathlib
import re
import sys

# No thread, socket, file, clock, random device or logger (ARCHITECTURE.md, "A pure core").
PURE = {"base", "wire", "state", "zab", "replica", "layouts"}
# Written against include/drover only, like any user's code.
PUBLIC_ONLY = {"recipes", "cli"}
OF_BOTH_SIDES = {"layouts"}  # knows neither servers nor clients, only names
PUBLIC = "drover"  # include/drover/
SHARED = {"drover/ids.h"}  # the vocabulary that the public headers and the core have in common
# Text without domain.
FOR_ALL = {f"base/{name}.h" for name in ("text", "number", "base64", "utf8", "json_text", "path", "child_path")}
MAIN = "main"      # src/main/: joins everything, and nothing joins it

# Headers by which the world gets in. A name ending in / stands for all headers below it.
WORLD = (
    "thread", "mutex", "shared_mutex", "condition_variable", "future", "semaphore", "latch", "barrier",
    "stop_token", "pthread.h",
    "filesystem", "fstream", "unistd.h", "fcntl.h", "dirent.h", "sys/",
    "chrono", "ctime", "time.h", "random",
    "netinet/", "arpa/", "netdb.h", "poll.h", "boost/asio", "boost/beast", "boost/filesystem",
    "openssl/ssl.h", "openssl/rand.h", "spdlog/",
)

# Headers of libraries that only one folder knows.
OWNED = {"sasl/sasl.h": "sasl", "sasl/saslplug.h": "sasl", "gssapi/": "sasl", "krb5.h": "sasl", "krb5/": "sasl"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
LIBRARY = re.compile(r"^\s*drover_library\(\s*(\w+)([^)]*)\)", re.MULTILINE)
CORE = "_core"     # a library of a folder's CORE_ROOMS
KEYWORDS = {"CORE_ROOMS", "ROOMS", "DEPENDS", "TEST_DEPENDS", "LIBRARIES", "THREADS"}


def declared_arrows(cmake_text, keyword="DEPENDS"):
    """folder -> the folders it names in DEPENDS, or under another keyword."""
    arrows = {}
    for name, rest in LIBRARY.findall(cmake_text):
        words = rest.split()
        depends = []
        if keyword in words:
            for word in words[words.index(keyword) + 1:]:
                if word in KEYWORDS:
                    break
                depends.append(word.removesuffix(CORE))
        arrows[name] = depends
    return arrows


def reachable(arrows, folder):
    """Everything that `folder` may include, itself aside unless the arrows form a circle."""
    found, todo = set(), list(arrows.get(folder, ()))
    while todo:
        current = todo.pop()
        if current not in found:
            found.add(current)
            todo.extend(arrows.get(current, ()))
    return found


def check_arrows(arrows):
    for folder in sorted(arrows):
        for target in sorted(reachable(arrows, folder)):
            if target == folder:
                yield f"CMakeLists.txt: {folder} depends on itself in a circle"
            elif target not in arrows:
                yield f"CMakeLists.txt: {folder} depends on {target}, which is no drover_library"
            elif folder in PURE and target not in PURE:
                yield f"CMakeLists.txt: {folder} is pure and must not depend on {target}"


def is_world(header):
    return any(header == name or (name.endswith("/") or name.startswith("boost/")) and header.startswith(name)
               for name in WORLD)


def owner_of(header):
    """The only folder that may include this header of a library."""
    return next((owner for name, owner in OWNED.items()
                 if header == name or name.endswith("/") and header.startswith(name)), None)


def check_own_header(arrows, folder, header):
    target = header.split("/")[0] if "/" in header else ""
    if target == MAIN:
        return "nothing includes src/main"
    if target != PUBLIC and target not in arrows:
        return "not in a known folder; write the path from src/ or include/"
    if target == folder or folder == MAIN:
        return None
    if target == PUBLIC:
        if header in SHARED:
            return None
        return f"{folder} is below the public headers" if folder in PURE else None
    if folder == PUBLIC:
        return "a public header must not show private ones"
    if folder in PUBLIC_ONLY and target not in OF_BOTH_SIDES and header not in FOR_ALL:
        return f"{folder} may use include/{PUBLIC} only"
    if target not in reachable(arrows, folder):
        return f"no arrow from {folder} to {target}"
    return None


def check_system_header(arrows, folder, header, is_test):
    owner = owner_of(header)
    if owner is not None:
        return None if folder == owner else f"only {owner} knows this library"
    if header.split("/")[0] in arrows.keys() | {PUBLIC, MAIN} and "/" in header:
        return "own headers are included with quotes"
    # A test may stage the world around pure code, so only the product is held to this.
    if folder in PURE and not is_test and is_world(header):
        return f"{folder} is pure: no threads, files, sockets, clocks, random devices or loggers"
    return None


class Rooms:
    """The folders in src/<folder>/, in the order in which they may use each other."""

    def __init__(self, root, folder, rooms):
        self.folder = folder
        self.rooms = rooms
        # A public header belongs to the room that implements it.
        self.of_header = {f"{PUBLIC}/{folder}/{path.stem}.h": room
                          for room in rooms for path in (root / "src" / folder / room).glob("*.cc")}

    def of_include(self, header):
        parts = header.split("/")
        if parts[0] == self.folder and len(parts) > 2:
            return parts[1]
        return self.of_header.get(header)

    def check(self, room, header):
        target = self.of_include(header)
        if target is None or target == room or target not in self.rooms:
            return None
        if self.rooms.index(target) > self.rooms.index(room):
            return f"{self.folder}/{room} is before {self.folder}/{target} in ROOMS"
        return None

    def check_files(self, shown, path):
        """Tests may use every room, and files outside of the rooms are for all of them."""
        if len(shown.parts) < 4 or not self.rooms:
            return
        room = shown.parts[2]
        if room not in self.rooms:
            yield f"{shown}: {room} is not among the ROOMS of {self.folder}"
        elif not is_test_file(path):
            for number, _, header in includes(path):
                problem = self.check(room, header)
                if problem:
                    yield f"{shown}:{number}: {header}: {problem}"


def is_test_file(path):
    return path.name.endswith(("_test.cc", "testing.h"))


def includes(path):
    """(line, quote, header) of each #include."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, *match.groups()


def check_file(arrows, folder, path, shown, for_tests):
    is_test = is_test_file(path)
    for number, quote, header in includes(path):
        # "unistd.h" in quotes reaches the same header as <unistd.h>.
        if quote == "<" or is_world(header):
            problem = check_system_header(arrows, folder, header, is_test)
        elif is_test and header.split("/")[0] in for_tests:
            problem = None
        else:
            problem = check_own_header(arrows, folder, header)
        if problem:
            yield f"{shown}:{number}: {header}: {problem}"


def source_files(root):
    for top in ("src", "include"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in {".h", ".hh", ".hpp", ".inc", ".cc", ".cpp"} and path.is_file():
                yield path


def violations(root):
    cmake_text = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    arrows = declared_arrows(cmake_text)
    for_tests = declared_arrows(cmake_text, "TEST_DEPENDS")
    core = declared_arrows(cmake_text, "CORE_ROOMS")
    rooms = {folder: Rooms(root, folder, core[folder] + names)
             for folder, names in declared_arrows(cmake_text, "ROOMS").items()}
    yield from check_arrows(arrows)
    for path in source_files(root):
        shown = path.relative_to(root)
        folder = shown.parts[1] if len(shown.parts) > 2 else ""
        known = {PUBLIC} if shown.parts[0] == "include" else arrows.keys() | {MAIN}
        if folder not in known:
            yield f"{shown}: folder {folder or shown.parts[0]!r} has no drover_library() in CMakeLists.txt"
            continue
        yield from check_file(arrows, folder, path, shown, for_tests.get(folder, ()))
        if folder in rooms:
            yield from rooms[folder].check_files(shown, path)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: layering.py ROOT")
    root = pathlib.Path(sys.argv[1])
    files = sum(1 for _ in source_files(root))
    if files == 0:
        sys.exit(f"layering: no sources under {root}: wrong folder?")
    found = list(violations(root))
    for line in found:
        print(line)
    print(f"layering: {files} files, {len(found)} violations")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
