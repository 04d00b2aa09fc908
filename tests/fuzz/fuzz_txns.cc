// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary log entries: a log with valid checksums need not be ours. Decoding and applying must never crash,
// and must leave a tree with correct counts and digest.
//
// Input: entries. Each is two bytes of length and the bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "state/apply.h"
#include "state/digest.h"
#include "state/machine.h"
#include "wire/txns.h"

namespace {

using namespace drover;
using namespace drover::state;

void check(const Tree& tree) {
  std::uint64_t digest = 0;
  std::size_t nodes = 0;
  tree.for_subtree_refs(tree.root(), [&](NodeRef ref) {
    const std::string path = ref == tree.root() ? "" : tree.path_of(ref);
    const Node& node = tree.at(ref);
    if (counts_in_digest(path)) digest += node_digest(content_crc(path, node.data()), persisted_stat(node));
    ENSURE(tree.find(path) == ref, "every node is found under its path");
    ++nodes;
  });
  ENSURE(digest == tree.digest(), "the digest is the sum over the nodes");
  ENSURE(nodes + 1 == tree.node_count(), "every node is counted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Options options;
  options.extended_types = true;
  Machine machine(options);
  TreeEvents events;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  while (input.size() >= 2) {
    const std::size_t length = static_cast<std::size_t>(static_cast<std::uint8_t>(input[0])) << 8 |
                               static_cast<std::uint8_t>(input[1]);
    const std::string_view entry = input.substr(2, length);
    input.remove_prefix(2 + entry.size());
    const auto txn = wire::decode_entry(entry);
    if (!txn) continue;
    events.clear();
    apply(machine, *txn, events);
  }
  check(machine.tree);
  return 0;
}
