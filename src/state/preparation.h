// SPDX-License-Identifier: Apache-2.0
//
// Turns one request into a transaction. Private to state/prepare*.cc, which implement it by op.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "state/prepare.h"
#include "wire/requests.h"
#include "wire/txns.h"

namespace drover::state {

using wire::OpCode;

// Size of an entry without its record.
inline constexpr std::size_t kAroundRecordBytes = wire::kTxnHeaderBytes + wire::kTxnDigestBytes;

// One transaction in preparation. Each op appends its record to `out` and puts its changes into `pending`, or
// returns an error; the caller then discards what was appended.
class Preparation {
 public:
  Preparation(const Machine& machine, PendingChanges& pending, const WriteRequest& request, Zxid zxid,
              WallTime now)
      : m_(machine), pending_(pending), request_(request), zxid_(zxid), now_(now) {}

  CodeResult<void> single(std::string& out);
  // Unlike the others, a failing multi returns no error here: its transaction holds the errors of its
  // elements, and `first_error` is the first of them.
  CodeResult<void> multi(std::string& out, ErrorCode& first_error);
  bool is_undecodable() const { return undecodable_; }
  void sweep(std::span<const std::string> paths, std::string& out);
  bool too_large() const { return too_large_; }
  std::vector<std::string> take_unlisted() { return std::move(unlisted_); }

 private:
  template <class Request, class Handler>
  CodeResult<void> decoded(const std::optional<Request>& request, Handler handler);
  CodeResult<void> decoded_delete(wire::Reader r, std::string& out);
  CodeResult<void> create(OpCode op, const wire::CreateRequest& create, std::string& out);
  CodeResult<void> remove(const wire::DeleteRequest& request, std::string& out);
  CodeResult<void> remove_container(std::string_view path, std::string& out);
  CodeResult<void> set_data(const wire::SetDataRequest& request, std::string& out);
  CodeResult<void> set_acl(const wire::SetAclRequest& request, std::string& out);
  CodeResult<void> check(const wire::CheckRequest& request, std::string& out);
  CodeResult<void> create_session(std::string& out);
  CodeResult<void> close_session(std::string& out);
  CodeResult<void> reconfig(std::string& out);
  CodeResult<void> multi_element(const wire::MultiOp& op, std::string& record);

  // begin_record() marks the start of the record in `out`. fits() checks its size plus kAroundRecordBytes.
  void begin_record(const std::string& out) { record_start_ = out.size(); }
  CodeResult<void> fits(const std::string& out);
  // The nodes that the session will own after everything in flight is applied.
  struct Ephemerals {
    std::vector<NodeRef> settled;       // in the tree, and not changed by anything in flight
    std::vector<std::string> changing;  // the others
  };
  Ephemerals ephemerals() const;
  std::vector<std::string> end_settled(std::vector<NodeRef> nodes);
  std::vector<std::string> list_what_fits(std::vector<std::string> paths);
  CodeResult<void> session_alive() const;
  CodeResult<void> may_own_ephemerals() const;
  CodeResult<void> allowed(const NodeFacts& node, std::int32_t perms) const;
  CodeResult<void> validate_create(OpCode op, const wire::CreateRequest& create) const;
  CodeResult<NodeFacts> existing(std::string_view path) const;
  CodeResult<void> valid_path(std::string_view path) const;
  CodeResult<void> quota_allows(std::string_view path, Quotas::Growth growth) const;
  void update(std::string_view path, NodeFacts& node, std::uint64_t digest_before);
  void count_child(std::string_view parent_path, NodeFacts parent, std::int32_t children_more);
  void forget(std::string_view path, const NodeFacts& node);
  NodeFacts new_node(OpCode op, const wire::CreateRequest& create, std::string_view path,
                     std::string_view acl) const;

  const Machine& m_;
  PendingChanges& pending_;
  const WriteRequest& request_;
  Zxid zxid_;
  WallTime now_;
  bool undecodable_ = false;
  std::size_t record_start_ = 0;
  bool too_large_ = false;
  std::vector<std::string> unlisted_;
};

}  // namespace drover::state
