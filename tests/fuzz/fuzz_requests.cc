// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary request bodies, for every operation, on a small tree. Applying a transaction must give what
// prepare predicted, the incremental digest must equal the digest of the nodes, and every read must give
// exactly one reply.
//
// Input: requests. Each is an op code byte, a byte of options, two bytes of length, and the body.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ensure.h"
#include "state/apply.h"
#include "state/digest.h"
#include "state/machine.h"
#include "state/pending_changes.h"
#include "state/prepare.h"
#include "state/read.h"
#include "wire/txns.h"

namespace {

using namespace drover;
using namespace drover::state;
using wire::OpCode;

constexpr std::array kOps = {
    OpCode::kCreate,   OpCode::kCreate2,       OpCode::kCreateContainer, OpCode::kCreateTtl,
    OpCode::kDelete,   OpCode::kSetData,       OpCode::kSetAcl,          OpCode::kMulti,
    OpCode::kReconfig, OpCode::kCreateSession, OpCode::kCloseSession,    OpCode::kDeleteContainer,
    OpCode::kExists,   OpCode::kGetData,       OpCode::kGetChildren,     OpCode::kGetChildren2,
    OpCode::kGetAcl,   OpCode::kSync,          OpCode::kMultiRead,       OpCode::kGetAllChildrenNumber,
    OpCode::kAddWatch, OpCode::kSetWatches,    OpCode::kSetWatches2,     OpCode::kGetEphemerals,
    OpCode::kWhoAmI,   OpCode::kPing,          OpCode::kCheckWatches,    OpCode::kRemoveWatches,
};

Options all_features() {
  Options options;
  options.extended_types = true;
  options.enforce_quota = true;
  options.path_bytes_max = 512;
  options.acl_entries_max = 8;
  options.multi_ops_max = 16;
  return options;
}

std::uint64_t digest_of(const Tree& tree) {
  std::uint64_t sum = 0;
  tree.for_subtree_refs(tree.root(), [&](NodeRef ref) {
    const std::string path = ref == tree.root() ? "" : tree.path_of(ref);
    const Node& node = tree.at(ref);
    if (counts_in_digest(path)) sum += node_digest(content_crc(path, node.data()), persisted_stat(node));
  });
  return sum;
}

class Subject {
 public:
  void request(OpCode op, std::uint8_t choices, std::string_view body) {
    if (is_write(op)) return write(op, choices, body);
    const Identities& who = (choices & 1) ? super_ : user_;
    std::string out;
    answer_read(machine_, watches_, {.per_connection = 16, .per_table = 16},
                {.session = SessionId{choices & 3},
                 .xid = 7,
                 .op = op,
                 .body = body,
                 .who = &who,
                 .watcher = WatcherId{0}},
                out);
    check_reply(out);
  }

  void apply_all() {
    for (const std::string& entry : proposed_) apply_one(entry);
    proposed_.clear();
    ENSURE(pending_.size() == 0, "nothing is pending when everything is applied");
    ENSURE(digest_of(machine_.tree) == machine_.tree.digest(), "the digest is the sum over the nodes");
  }

 private:
  void write(OpCode op, std::uint8_t choices, std::string_view body) {
    const Identities& who = (choices & 1) ? super_ : user_;
    const WriteRequest request{
        .session = SessionId{(choices >> 1) & 3}, .cxid = 1, .op = op, .body = body, .who = &who};
    last_ = next(last_);
    proposed_.emplace_back();
    prepare(machine_, pending_, request, last_, WallTime{raw(last_)}, proposed_.back());
    if (choices & 0x80) return;  // stays in flight until the next one
    apply_all();
  }

  void apply_one(const std::string& entry) {
    const auto txn = wire::decode_entry(entry);
    ENSURE(txn.has_value(), "a prepared transaction can be decoded");
    events_.clear();
    apply(machine_, *txn, events_);
    pending_.applied(txn->header.zxid);
    ENSURE(!txn->digest || txn->digest->tree_digest == machine_.tree.digest(),
           "the digest that prepare predicted");
    std::vector<WatcherId> heard;
    for (const TreeEvent& event : events_.list) watches_.fire(event.type, event.path, heard);
  }

  // The output is events, then exactly one reply.
  static void check_reply(std::string_view out) {
    int replies = 0;
    while (!out.empty()) {
      wire::Reader r(out);
      const auto frame = r.buffer();
      ENSURE(frame && frame->size() >= wire::kReplyHeaderBytes, "output is whole frames");
      if (wire::load_be<std::int32_t>(frame->data()) == 7) ++replies;
      out.remove_prefix(4 + frame->size());
    }
    ENSURE(replies == 1, "a request has one reply");
  }

  Machine machine_{all_features()};
  PendingChanges pending_{machine_.tree};
  Watches watches_{HashKey{}};
  TreeEvents events_;
  Zxid last_{};
  std::vector<std::string> proposed_;
  const Identities user_{{"ip", "127.0.0.1"}, {"digest", "u:h"}};
  const Identities super_{{"super", ""}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Subject subject;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  while (input.size() >= 4) {
    const OpCode op = kOps[static_cast<std::uint8_t>(input[0]) % kOps.size()];
    const auto choices = static_cast<std::uint8_t>(input[1]);
    const std::size_t length = static_cast<std::size_t>(static_cast<std::uint8_t>(input[2])) << 8 |
                               static_cast<std::uint8_t>(input[3]);
    const std::string_view body = input.substr(4, length);
    subject.request(op, choices, body);
    input.remove_prefix(4 + body.size());
  }
  subject.apply_all();
  return 0;
}
