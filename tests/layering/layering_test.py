#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Tests that layering.py finds violations: every rule is run on a tree that breaks it.
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layering  # noqa: E402  (the path above must come first)

CMAKE = """
project(drover)
drover_library(base)
drover_library(layouts)
drover_library(wire DEPENDS base)
drover_library(state DEPENDS wire base LIBRARIES Boost::headers)
drover_library(zab DEPENDS wire base)
drover_library(replica DEPENDS state zab THREADS)
drover_library(storage DEPENDS wire base
               LIBRARIES ZLIB::ZLIB)
drover_library(server DEPENDS replica storage LIBRARIES spdlog::spdlog THREADS)
drover_library(client DEPENDS wire)
drover_library(sasl DEPENDS base)
drover_library(recipes CORE_ROOMS common locks ROOMS queues DEPENDS client)
drover_library(cli DEPENDS recipes_core layouts)
add_subdirectory(src/main)
"""


class Layering(unittest.TestCase):
    def check(self, files, cmake=CMAKE):
        """The violations in a tree of {path: text}."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "CMakeLists.txt").write_text(cmake, encoding="utf-8")
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(layering.violations(root))

    def assert_clean(self, files, **options):
        self.assertEqual(self.check(files, **options), [])

    def assert_reported(self, files, words, **options):
        found = self.check(files, **options)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_arrows_are_read_from_cmake_over_several_lines_and_without_libraries(self):
        arrows = layering.declared_arrows(CMAKE)
        self.assertEqual(arrows["storage"], ["wire", "base"])
        self.assertEqual(arrows["replica"], ["state", "zab"])
        self.assertEqual(arrows["base"], [])
        self.assertEqual(arrows["cli"], ["recipes", "layouts"])

    def test_includes_along_the_arrows_pass(self):
        self.assert_clean({
            "src/wire/jute.h": '#include <string>\n#include "base/ids.h"\n#include "wire/records.h"\n',
            "src/server/server.cc": '#include <thread>\n#include "replica/replica.h"\n',
            "src/main/main.cc": '#include "server/server.h"\n#include "client/client.h"\n',
        })

    def test_arrows_are_transitive(self):
        self.assert_clean({"src/server/words.cc": '#include "state/tree.h"\n'})

    def test_an_include_against_the_arrow_is_reported_with_its_line(self):
        self.assert_reported({"src/wire/jute.h": '#pragma once\n#include "state/tree.h"\n'},
                             "src/wire/jute.h:2: state/tree.h: no arrow from wire to state")

    def test_siblings_do_not_see_each_other(self):
        self.assert_reported({"src/zab/leader.cc": '#include "state/tree.h"\n'}, "no arrow from zab to state")

    def test_tests_follow_the_arrows_too(self):
        self.assert_reported({"src/zab/leader_test.cc": '#include "storage/disk.h"\n'}, "no arrow")

    def test_unusual_spelling_does_not_hide_an_include(self):
        self.assert_reported({"src/wire/a.h": '  #  include   "server/server.h"\n'}, "no arrow")

    def test_a_folder_that_cmake_does_not_know_is_reported(self):
        self.assert_reported({"src/utils/misc.h": "#pragma once\n"}, "'utils' has no drover_library()")

    def test_a_file_directly_in_src_is_reported(self):
        self.assert_reported({"src/stray.cc": "int x;\n"}, "has no drover_library()")

    def test_an_include_without_a_known_folder_is_reported(self):
        for header in ("ids.h", "../base/ids.h", "vendor/ids.h"):
            with self.subTest(header):
                self.assert_reported({"src/base/path.cc": f'#include "{header}"\n'}, "not in a known folder")

    def test_own_headers_in_angle_brackets_are_reported(self):
        self.assert_reported({"src/wire/a.h": "#include <server/server.h>\n"}, "included with quotes")

    def test_only_its_owner_knows_a_library(self):
        self.assert_clean({"src/sasl/a.cc": '#include <sasl/sasl.h>\n#include <gssapi/gssapi_ext.h>\n'})
        for header in ("sasl/sasl.h", "gssapi/gssapi.h", "krb5.h"):
            with self.subTest(header):
                self.assert_reported({"src/server/a.cc": f"#include <{header}>\n"}, "only sasl knows this library")
        self.assert_reported({"src/server/a.cc": "#include <sasl/mechanisms.h>\n"}, "included with quotes")

    def test_nothing_includes_main(self):
        self.assert_reported({"src/server/a.cc": '#include "main/options.h"\n'}, "nothing includes src/main")

    def test_public_headers_show_no_private_ones(self):
        self.assert_reported({"include/drover/client.h": '#include "client/session.h"\n'},
                             "must not show private")
        self.assert_clean({"include/drover/client.h": '#include "drover/error.h"\n'})

    def test_the_core_sees_no_public_header_but_the_shared_vocabulary(self):
        self.assert_reported({"src/base/a.h": '#include "drover/error.h"\n'}, "below the public headers")
        self.assert_clean({"src/base/a.h": '#include "drover/ids.h"\n'})

    def test_recipes_use_the_public_headers_only(self):
        self.assert_reported({"src/recipes/lock.cc": '#include "client/session.h"\n'}, "include/drover only")
        self.assert_clean({"src/recipes/lock.cc": '#include "drover/client.h"\n'})

    def test_what_is_of_both_sides_may_be_used_by_either_along_an_arrow(self):
        self.assert_clean({"src/cli/a.cc": '#include "layouts/layout.h"\n'})
        self.assert_reported({"src/recipes/a.cc": '#include "layouts/layout.h"\n'}, "no arrow from recipes to layouts")
        self.assert_reported({"src/layouts/a.cc": '#include "drover/client.h"\n'}, "below the public headers")

    def test_a_room_uses_only_rooms_before_it(self):
        self.assert_clean({"src/recipes/queues/a.cc": '#include "recipes/locks/b.h"\n#include "recipes/queues/c.h"\n'})
        self.assert_reported({"src/recipes/common/a.h": '#include "recipes/locks/b.h"\n'},
                             "src/recipes/common/a.h:1: recipes/locks/b.h: recipes/common is before recipes/locks")
        self.assert_reported({"src/recipes/locks/a.h": '#include "recipes/queues/b.h"\n'},
                             "recipes/locks is before recipes/queues")

    def test_a_public_header_belongs_to_the_room_that_implements_it(self):
        mutex = {"src/recipes/locks/mutex.cc": '#include "drover/recipes/mutex.h"\n'}
        self.assert_clean({**mutex, "src/recipes/queues/a.cc": '#include "drover/recipes/mutex.h"\n'})
        self.assert_reported({**mutex, "src/recipes/common/a.cc": '#include "drover/recipes/mutex.h"\n'},
                             "recipes/common is before recipes/locks")

    def test_tests_may_use_every_room(self):
        self.assert_clean({"src/recipes/common/a_test.cc": '#include "recipes/queues/b.h"\n'})

    def test_a_room_that_cmake_does_not_know_is_reported(self):
        self.assert_reported({"src/recipes/utils/a.h": "#pragma once\n"}, "utils is not among the ROOMS of recipes")

    def test_the_world_stays_out_of_every_pure_folder(self):
        headers = ["thread", "mutex", "filesystem", "fstream", "chrono", "random", "sys/socket.h", "unistd.h",
                   "spdlog/spdlog.h", "boost/asio.hpp", "boost/asio/ip/tcp.hpp"]
        for folder in layering.PURE:
            for header in headers:
                with self.subTest(folder=folder, header=header):
                    self.assert_reported({f"src/{folder}/a.cc": f"#include <{header}>\n"}, "is pure")

    def test_quotes_do_not_let_the_world_in(self):
        self.assert_reported({"src/state/a.cc": '#include "unistd.h"\n'}, "is pure")

    def test_harmless_headers_with_similar_names_pass(self):
        for header in ('<system_error>', '"base/random.h"', '"base/time.h"', '<boost/unordered_map.hpp>'):
            with self.subTest(header):
                self.assert_clean({"src/base/a.cc": f"#include {header}\n"})

    def test_a_test_may_stage_the_world_around_pure_code(self):
        self.assert_clean({"src/replica/a_test.cc": "#include <thread>\n"})

    def test_cmake_cannot_let_a_pure_folder_depend_on_the_world(self):
        self.assert_reported({}, "state is pure and must not depend on storage",
                             cmake="drover_library(storage)\ndrover_library(state DEPENDS storage)\n")

    def test_a_circle_in_cmake_is_reported(self):
        found = self.check({}, cmake="drover_library(a DEPENDS b)\ndrover_library(b DEPENDS a)\n")
        self.assertEqual(len(found), 2, found)
        self.assertIn("in a circle", found[0])

    def test_an_arrow_to_nowhere_is_reported(self):
        self.assert_reported({}, "which is no drover_library", cmake="drover_library(a DEPENDS nowhere)\n")


if __name__ == "__main__":
    unittest.main()
