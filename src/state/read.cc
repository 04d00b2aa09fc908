// SPDX-License-Identifier: Apache-2.0
#include "state/read.h"

#include <algorithm>
#include <memory>

#include "base/path.h"
#include "base/result.h"
#include "base/text.h"
#include "base/utf8.h"
#include "state/children_reply.h"
#include "wire/replies.h"
#include "wire/requests.h"

namespace drover::state {
namespace {

using wire::OpCode;

// Applies in any case: the length of a frame has 31 bits, and one more node must fit.
constexpr std::size_t kReplyBytesMax = std::size_t{1} << 30;
// To build a reply, at most this many times the largest reply is searched.
constexpr std::size_t kSearchedPerAnswered = 4;

// The watches of all connections of a front, and their limits.
struct WatchRoom {
  Watches& watches;
  const WatchLimits& limits;
  std::size_t path_bytes_max;

  // Registers a watch if there is room. Another mode of an existing watch needs no room.
  CodeResult<void> add(WatcherId watcher, std::string_view path, WatchTable table, WatchMode mode) const {
    // Such a node can never exist.
    if (path.size() > path_bytes_max) return std::unexpected(ErrorCode::kBadArguments);
    if (is_full(watcher, path.size()) && !watches.contains(watcher, path, WatcherType::kAny))
      return std::unexpected(ErrorCode::kQuotaExceeded);
    watches.add(watcher, path, table, mode);
    return {};
  }
  bool is_full(WatcherId watcher, std::size_t bytes_more) const {
    return watches.watch_count(watcher) >= limits.per_connection ||
           watches.watch_count() >= limits.per_table ||
           watches.path_bytes(watcher) + bytes_more > limits.bytes_per_connection ||
           watches.path_bytes() + bytes_more > limits.bytes_per_table;
  }
};

// Writes the reply to one read into `out`. Each op appends the body of its reply, or returns an error.
class Answer {
 public:
  Answer(const Machine& machine, const WatchRoom& room, const ReadRequest& request, std::string& out)
      : m_(machine), room_(room), q_(request), in_(request.body), w_(out), out_(out), start_(out.size()) {}

  std::size_t looked_at() const { return looked_at_; }
  bool has_too_many_children() const { return has_too_many_children_; }

  // The node of getChildren, which the client may list, and whose watch is set.
  CodeResult<NodeRef> begin_list();

  CodeResult<void> body() {
    switch (q_.op) {
      case OpCode::kPing: return {};
      case OpCode::kExists: return exists();
      case OpCode::kGetData: return get_data();
      case OpCode::kGetChildren: return get_children(/*with_stat=*/false);
      case OpCode::kGetChildren2: return get_children(/*with_stat=*/true);
      case OpCode::kGetAcl: return get_acl();
      case OpCode::kGetAllChildrenNumber: return get_all_children_number();
      case OpCode::kGetEphemerals: return get_ephemerals();
      case OpCode::kSync: return sync();
      case OpCode::kWhoAmI: return who_am_i();
      case OpCode::kMultiRead: return multi_read();
      case OpCode::kAddWatch: return add_watch();
      case OpCode::kCheckWatches: return check_watches();
      case OpCode::kRemoveWatches: return remove_watches();
      default: return std::unexpected(ErrorCode::kUnimplemented);
    }
  }

 private:
  CodeResult<void> exists();
  CodeResult<void> get_data();
  CodeResult<void> get_children(bool with_stat);
  CodeResult<void> get_acl();
  CodeResult<void> get_all_children_number();
  CodeResult<void> get_ephemerals();
  CodeResult<void> sync();
  CodeResult<void> who_am_i();
  CodeResult<void> multi_read();
  CodeResult<void> multi_read_element(const wire::MultiOp& op, std::size_t looked_at_max);
  CodeResult<void> add_watch();
  CodeResult<void> check_watches();
  CodeResult<void> remove_watches();

  CodeResult<const Node*> readable(std::string_view path) const;
  CodeResult<void> watch(std::string_view path, WatchTable table, WatchMode mode);
  bool may(const Node& node, std::int32_t perms) const {
    return node.acl == kOpenAcl || is_allowed(*m_.tree.acl(node), perms, *q_.who, m_.options);
  }
  void append_data(const Node& node) {
    w_.buffer(node.data());
    wire::encode(w_, m_.tree.stat(node));
  }
  void append_children(const Node& node);
  bool is_too_large() const { return out_.size() - start_ > std::min(q_.reply_bytes_max, kReplyBytesMax); }

  const Machine& m_;
  const WatchRoom& room_;
  const ReadRequest& q_;
  wire::Reader in_;
  wire::Writer w_;
  const std::string& out_;
  std::size_t start_;
  std::size_t looked_at_ = 0;
  bool has_too_many_children_ = false;
};

CodeResult<const Node*> Answer::readable(std::string_view path) const {
  const Node* node = m_.tree.get(path);
  if (!node) return std::unexpected(ErrorCode::kNoNode);
  if (!may(*node, wire::kRead)) return std::unexpected(ErrorCode::kNoAuth);
  return node;
}

CodeResult<void> Answer::watch(std::string_view path, WatchTable table, WatchMode mode) {
  return room_.add(q_.watcher, path, table, mode);
}

CodeResult<void> Answer::exists() {
  const auto request = wire::decode_path_watch(in_);
  if (!request) return std::unexpected(ErrorCode::kMarshallingError);
  if (request->path.find('\0') != std::string_view::npos) return std::unexpected(ErrorCode::kBadArguments);
  const Node* node = m_.tree.get(request->path);
  if (node && !may(*node, wire::kRead)) return std::unexpected(ErrorCode::kNoAuth);
  // A watch on a missing node waits for its creation.
  if (request->watch) TRY(watch(request->path, WatchTable::kData, kStandard));
  if (!node) return std::unexpected(ErrorCode::kNoNode);
  wire::encode(w_, m_.tree.stat(*node));
  return {};
}

CodeResult<void> Answer::get_data() {
  const auto request = wire::decode_path_watch(in_);
  if (!request) return std::unexpected(ErrorCode::kMarshallingError);
  TRY_ASSIGN(const Node* node, readable(request->path));
  if (request->watch) TRY(watch(request->path, WatchTable::kData, kStandard));
  append_data(*node);
  return {};
}

void Answer::append_children(const Node& node) {
  looked_at_ += node.child_count;
  w_.i32(static_cast<std::int32_t>(node.child_count));
  for (NodeRef ref = node.first_child; ref != kNoNode; ref = m_.tree.at(ref).next_sibling) {
    w_.string(m_.tree.at(ref).name());
  }
}

CodeResult<NodeRef> Answer::begin_list() {
  const auto request = wire::decode_path_watch(in_);
  if (!request) return std::unexpected(ErrorCode::kMarshallingError);
  const NodeRef ref = m_.tree.find(request->path);
  if (ref == kNoNode) return std::unexpected(ErrorCode::kNoNode);
  const Node& node = m_.tree.at(ref);
  if (!may(node, wire::kRead)) return std::unexpected(ErrorCode::kNoAuth);
  has_too_many_children_ = node.child_count > q_.children_max;
  if (has_too_many_children_) return ref;
  if (request->watch) TRY(watch(request->path, WatchTable::kChild, kStandard));
  return ref;
}

CodeResult<void> Answer::get_children(bool with_stat) {
  TRY_ASSIGN(const NodeRef ref, begin_list());
  if (has_too_many_children_) return {};
  const Node& node = m_.tree.at(ref);
  append_children(node);
  if (with_stat) wire::encode(w_, m_.tree.stat(node));
  return {};
}

// Only those who may change the list see the password hashes (CVE-2019-0201).
std::vector<wire::Acl> masked(std::vector<wire::Acl> acl) {
  for (wire::Acl& entry : acl) {
    const std::size_t colon = entry.who.id.find(':');
    if (entry.who.scheme == "digest" && colon != std::string::npos)
      entry.who.id.replace(colon, std::string::npos, ":x");
  }
  return acl;
}

CodeResult<void> Answer::get_acl() {
  const auto path = wire::decode_path(in_);
  if (!path) return std::unexpected(ErrorCode::kMarshallingError);
  const Node* node = m_.tree.get(*path);
  if (!node) return std::unexpected(ErrorCode::kNoNode);
  if (!may(*node, wire::kRead | wire::kAdmin)) return std::unexpected(ErrorCode::kNoAuth);
  const AclList& acl = *m_.tree.acl(*node);
  if (may(*node, wire::kAdmin)) {
    w_.raw(acl.bytes);
  } else {
    wire::encode_acl_list(w_, masked(acl.entries));
  }
  wire::encode(w_, m_.tree.stat(*node));
  return {};
}

CodeResult<void> Answer::get_all_children_number() {
  const auto path = wire::decode_path(in_);
  if (!path) return std::unexpected(ErrorCode::kMarshallingError);
  const NodeRef ref = m_.tree.find(*path);
  if (ref == kNoNode) return std::unexpected(ErrorCode::kNoNode);
  if (!may(m_.tree.at(ref), wire::kRead)) return std::unexpected(ErrorCode::kNoAuth);
  // Java's table holds the root as "" and as "/", and counts "/" as below "".
  std::size_t count = m_.tree.below(ref).nodes;
  if (path->empty()) ++count;
  w_.i32(static_cast<std::int32_t>(count));
  return {};
}

CodeResult<void> Answer::get_ephemerals() {
  const std::string_view prefix = in_.string();
  if (!in_.ok()) return std::unexpected(ErrorCode::kMarshallingError);
  const std::string_view core = trimmed(prefix);
  const bool all = core.empty() || core == "/";
  const std::size_t count_at = out_.size();
  std::int32_t count = 0;
  w_.i32(count);
  const NodeSet* owned = m_.tree.ephemerals_of(q_.session);
  if (!owned) return {};
  if (owned->size() > q_.nodes_max) return std::unexpected(ErrorCode::kQuotaExceeded);
  looked_at_ += owned->size();
  std::size_t path_bytes = 0;
  for (const NodeRef ref : *owned) {
    const std::string path = m_.tree.path_of(ref);
    path_bytes += path.size();
    // Nodes share their ancestors, but paths do not: a small tree may have a very large list of paths.
    // Building the paths without the prefix is as much work.
    if (is_too_large() || path_bytes / kSearchedPerAnswered > q_.reply_bytes_max) {
      return std::unexpected(ErrorCode::kQuotaExceeded);
    }
    if (!all && !path.starts_with(prefix)) continue;
    w_.string(path);
    ++count;
  }
  wire::store_be(w_.out().data() + count_at, count);
  return {};
}

// On a standalone server and on a leader, everything before this request is already applied.
CodeResult<void> Answer::sync() {
  const wire::Nullable path = in_.buffer();
  if (!in_.ok()) return std::unexpected(ErrorCode::kMarshallingError);
  path ? w_.string(to_valid_utf8(*path)) : w_.null();
  return {};
}

CodeResult<void> Answer::who_am_i() {
  w_.i32(static_cast<std::int32_t>(q_.who->size()));
  for (const wire::Identity& id : *q_.who) {
    w_.string(id.scheme);
    w_.string(user_name(id, m_.options));
  }
  return {};
}

CodeResult<void> Answer::multi_read_element(const wire::MultiOp& op, std::size_t looked_at_max) {
  const auto* request = std::get_if<wire::PathWatchRequest>(&op.request);
  if (!request) return std::unexpected(ErrorCode::kMarshallingError);
  TRY_ASSIGN(const Node* node, readable(request->path));
  const bool lists = op.op != OpCode::kGetData;
  if (lists && looked_at_ + node->child_count > looked_at_max)
    return std::unexpected(ErrorCode::kQuotaExceeded);
  wire::encode(w_, wire::MultiHeader{op.op, false, 0});
  if (lists) {
    append_children(*node);
  } else {
    append_data(*node);
  }
  return {};
}

CodeResult<void> Answer::multi_read() {
  const auto ops = wire::decode_multi(in_, m_.options.multi_ops_max);
  if (!ops) return std::unexpected(ErrorCode::kMarshallingError);
  looked_at_ += ops->size();
  const std::size_t looked_at_max = ops->size() + q_.nodes_max;
  for (const wire::MultiOp& op : *ops) {
    // A client may request the same large node thousands of times.
    if (is_too_large()) return std::unexpected(ErrorCode::kQuotaExceeded);
    const auto done = multi_read_element(op, looked_at_max);
    if (done) continue;
    if (done.error() == ErrorCode::kMarshallingError || done.error() == ErrorCode::kQuotaExceeded)
      return done;
    const auto code = static_cast<std::int32_t>(done.error());
    wire::encode(w_, wire::MultiHeader{OpCode::kError, false, code});
    w_.i32(code);
  }
  wire::encode(w_, wire::kMultiEnd);
  return {};
}

CodeResult<void> Answer::add_watch() {
  const auto request = wire::decode_path_type(in_);
  if (!request || request->type < 0 || request->type > 1)
    return std::unexpected(ErrorCode::kMarshallingError);
  const std::string_view path = request->path.value_or("");
  if (request->type == 1) {
    TRY(watch(path, WatchTable::kData, kPersistentRecursive));
  } else {
    TRY(watch(path, WatchTable::kData, kPersistent));
    room_.watches.add(q_.watcher, path, WatchTable::kChild, kPersistent);
  }
  w_.i32(0);
  return {};
}

CodeResult<void> Answer::check_watches() {
  const auto request = wire::decode_path_type(in_);
  if (!request || !request->path || !is_watcher_type(request->type)) {
    return std::unexpected(ErrorCode::kMarshallingError);
  }
  const bool found =
      room_.watches.contains(q_.watcher, *request->path, static_cast<WatcherType>(request->type));
  if (!found) return std::unexpected(ErrorCode::kNoWatcher);
  return {};
}

CodeResult<void> Answer::remove_watches() {
  const auto request = wire::decode_path_type(in_);
  if (!request || !is_watcher_type(request->type)) return std::unexpected(ErrorCode::kMarshallingError);
  const auto type = static_cast<WatcherType>(request->type);
  if (!request->path || !room_.watches.remove(q_.watcher, *request->path, type)) {
    return std::unexpected(ErrorCode::kNoWatcher);
  }
  return {};
}

// setWatches, after a reconnect: sends events for everything that changed since the client last looked, and
// watches the rest again. The events come before the reply, so this is not a part of Answer.
class WatchReset {
 public:
  WatchReset(const Machine& machine, const WatchRoom& room, const ReadRequest& q, std::string& out)
      : m_(machine), room_(room), q_(q), out_(out) {}

  CodeResult<void> run(const wire::SetWatchesRequest& q) {
    for (const auto path : q.data) TRY(data_watch(path, q.relative_zxid));
    for (const auto path : q.exist) TRY(exist_watch(path));
    for (const auto path : q.child) TRY(child_watch(path, q.relative_zxid));
    for (const auto path : q.persistent) {
      TRY(watch(path, WatchTable::kData, kPersistent));
      TRY(watch(path, WatchTable::kChild, kPersistent));
    }
    for (const auto path : q.persistent_recursive) TRY(watch(path, WatchTable::kData, kPersistentRecursive));
    return {};
  }

 private:
  CodeResult<void> data_watch(std::string_view path, Zxid since) {
    const Node* node = m_.tree.get(path);
    if (!node) return tell(wire::EventType::kNodeDeleted, path);
    if (node->mzxid > since) return tell_of(*node, wire::EventType::kNodeDataChanged, path);
    return watch(path, WatchTable::kData, kStandard);
  }
  CodeResult<void> exist_watch(std::string_view path) {
    const Node* node = m_.tree.get(path);
    if (node) return tell_of(*node, wire::EventType::kNodeCreated, path);
    return watch(path, WatchTable::kData, kStandard);
  }
  CodeResult<void> child_watch(std::string_view path, Zxid since) {
    const Node* node = m_.tree.get(path);
    if (!node) return tell(wire::EventType::kNodeDeleted, path);
    if (node->pzxid > since) return tell_of(*node, wire::EventType::kNodeChildrenChanged, path);
    return watch(path, WatchTable::kChild, kStandard);
  }
  // If the client may not read the node, it gets no event, and the watch is used up, as when an event fires.
  CodeResult<void> tell_of(const Node& node, wire::EventType type, std::string_view path) {
    const bool readable =
        node.acl == kOpenAcl || is_allowed(*m_.tree.acl(node), wire::kRead, *q_.who, m_.options);
    return readable ? tell(type, path) : CodeResult<void>{};
  }
  CodeResult<void> tell(wire::EventType type, std::string_view path) {
    wire::append_event(out_, type, to_valid_utf8(path), Zxid{-1});
    return {};
  }
  CodeResult<void> watch(std::string_view path, WatchTable table, WatchMode mode) {
    return room_.add(q_.watcher, path, table, mode);
  }

  const Machine& m_;
  const WatchRoom& room_;
  const ReadRequest& q_;
  std::string& out_;
};

std::size_t path_count(const wire::SetWatchesRequest& q) {
  return q.data.size() + q.exist.size() + q.child.size() + q.persistent.size() +
         q.persistent_recursive.size();
}

ReadOutcome answer_set_watches(const Machine& machine, const WatchRoom& room, const ReadRequest& q,
                               std::string& out) {
  wire::Reader r(q.body);
  const auto request = wire::decode_set_watches(r, q.op);
  ReadOutcome outcome{ErrorCode::kMarshallingError, 0};
  if (request) {
    const auto done = WatchReset(machine, room, q, out).run(*request);
    outcome = {done ? ErrorCode::kOk : done.error(), path_count(*request)};
  }
  wire::append_bare_reply(out, {q.xid, machine.last_zxid, outcome.error});
  return outcome;
}

}  // namespace

namespace {

std::size_t node_bytes_estimate(const Tree& tree, OpCode op, std::string_view path) {
  const Node* node = tree.get(path);
  if (!node) return 0;
  if (op == OpCode::kGetAcl) return tree.acl(*node)->bytes.size();
  return op == OpCode::kGetData ? node->data_bytes() : node->child_count * kChildBytesEstimate;
}

}  // namespace

std::size_t reply_bytes_estimate(const Machine& machine, SessionId session, OpCode op,
                                 std::string_view body) {
  wire::Reader r(body);
  switch (op) {
    case OpCode::kGetAcl: return node_bytes_estimate(machine.tree, op, wire::decode_path(r).value_or(""));
    case OpCode::kGetEphemerals: {
      // All of them are examined, however few have the prefix.
      const NodeSet* owned = machine.tree.ephemerals_of(session);
      return owned ? owned->size() * kChildBytesEstimate : 0;
    }
    case OpCode::kGetData:
    case OpCode::kGetChildren:
    case OpCode::kGetChildren2: {
      const auto request = wire::decode_path_watch(r);
      return request ? node_bytes_estimate(machine.tree, op, request->path) : 0;
    }
    case OpCode::kMultiRead: {
      std::size_t sum = 0;
      const auto ops = wire::decode_multi(r, machine.options.multi_ops_max);
      for (const wire::MultiOp& each : ops.value_or(std::vector<wire::MultiOp>{})) {
        const auto* request = std::get_if<wire::PathWatchRequest>(&each.request);
        if (request) sum += node_bytes_estimate(machine.tree, each.op, request->path);
      }
      return sum;
    }
    default: return 0;
  }
}

bool is_read(OpCode op) {
  switch (op) {
    case OpCode::kPing:
    case OpCode::kExists:
    case OpCode::kGetData:
    case OpCode::kGetChildren:
    case OpCode::kGetChildren2:
    case OpCode::kGetAcl:
    case OpCode::kGetAllChildrenNumber:
    case OpCode::kGetEphemerals:
    case OpCode::kSync:
    case OpCode::kWhoAmI:
    case OpCode::kMultiRead:
    case OpCode::kAddWatch:
    case OpCode::kCheckWatches:
    case OpCode::kRemoveWatches:
    case OpCode::kSetWatches:
    case OpCode::kSetWatches2: return true;
    default: return false;
  }
}

ReadOutcome answer_read(const Machine& machine, Watches& watches, const WatchLimits& limits,
                        const ReadRequest& q, std::string& out) {
  const WatchRoom room{watches, limits, machine.options.path_bytes_max};
  if (q.op == OpCode::kSetWatches || q.op == OpCode::kSetWatches2) {
    return answer_set_watches(machine, room, q, out);
  }
  const std::size_t start = out.size();
  CodeResult<void> done;
  ReadOutcome outcome;
  {
    wire::Frame frame(out);
    wire::Writer w(out);
    wire::encode(w, wire::ReplyHeader{q.xid, machine.last_zxid, ErrorCode::kOk});
    Answer answer(machine, room, q, out);
    done = answer.body();
    outcome.looked_at = answer.looked_at();
    outcome.has_too_many_children = answer.has_too_many_children();
  }
  if (outcome.has_too_many_children) out.resize(start);
  if (done) return outcome;
  outcome.error = done.error();
  out.resize(start);
  wire::append_bare_reply(out, {q.xid, machine.last_zxid, outcome.error});
  return outcome;
}

std::unique_ptr<ChildrenReply> begin_children_reply(const Machine& machine, Watches& watches,
                                                    const WatchLimits& limits, const ReadRequest& q,
                                                    std::string& out) {
  const auto node = Answer(machine, {watches, limits, machine.options.path_bytes_max}, q, out).begin_list();
  if (node) return std::make_unique<ChildrenReply>(machine, *node, q);
  wire::append_bare_reply(out, {q.xid, machine.last_zxid, node.error()});
  return nullptr;
}

}  // namespace drover::state
