// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the membership files of a stopped server, for membership_files_test.py.
//
//   membership_tool show ZOO_CFG ID             prints the committed members, and the proposed ones behind
//   "---" membership_tool propose ZOO_CFG ID TEXT     TEXT as in /zookeeper/config, with its version
//   membership_tool commit ZOO_CFG ID TEXT
#include <cstdio>
#include <string>
#include <vector>

#include "host/membership_files.h"
#include "storage/posix_disk.h"
#include "zab/membership_text.h"

namespace {

using namespace drover;

int fail(const std::string& what) {
  std::fprintf(stderr, "membership_tool: %s\n", what.c_str());
  return 1;
}

int show(host::MembershipFiles& files) {
  const auto stored = files.load();
  if (!stored) return fail(stored.error().what);
  std::puts(to_text(stored->committed).c_str());
  if (stored->proposed) std::printf("---\n%s\n", to_text(*stored->proposed).c_str());
  return 0;
}

int store(host::MembershipFiles& files, const std::string& verb, const std::string& text) {
  const auto membership = zab::parse_membership(text);
  if (!membership) return fail(membership.error().sentence);
  const auto stored = verb == "propose" ? files.propose(*membership) : files.commit(*membership);
  return stored ? 0 : fail(stored.error().what);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 3) return fail("expected a verb, a file and an id");
  const auto id = zab::parse_number(words[2]);
  if (!id) return fail(id.error().sentence);
  storage::PosixDisk disk;
  host::MembershipFiles files(disk, {.static_file = words[1], .me = ServerId{*id}});
  if (words[0] == "show") return show(files);
  return words.size() == 4 ? store(files, words[0], words[3]) : fail("expected a text");
}
