// SPDX-License-Identifier: Apache-2.0
#include "tools/history_command.h"

#include <limits>
#include <map>

#include "base/path.h"
#include "storage/txn_log_reader.h"
#include "tools/json.h"
#include "tools/loaded_state.h"
#include "tools/node_history.h"
#include "tools/progress.h"
#include "tools/snapshot_file.h"
#include "tools/text.h"

namespace drover::tools {
namespace {

constexpr std::size_t kDataShown = 256;

// Catches one node of a snapshot.
class OneNode final : public storage::SnapshotSink {
 public:
  explicit OneNode(std::string_view path) : path_(path == "/" ? "" : path) {}
  const std::optional<NodeState>& found() const { return found_; }

  bool session(SessionId, std::int32_t) override { return true; }
  bool acl(std::int64_t key, std::string_view jute_list) override {
    acls_[key] = std::string(jute_list);
    return true;
  }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override {
    if (path != path_) return true;
    found_ = NodeState{.data = data ? std::optional<std::string>(*data) : std::nullopt,
                       .acl = acl == -1 ? wire::open_acl_bytes() : acls_[acl],
                       .version = stat.version,
                       .aversion = stat.aversion,
                       .owner = stat.ephemeral_owner,
                       .czxid = stat.czxid,
                       .mzxid = stat.mzxid};
    return true;
  }

 private:
  std::string path_;
  std::map<std::int64_t, std::string> acls_;
  std::optional<NodeState> found_;
};

class HistoryListing {
 public:
  HistoryListing(const Context& context, const HistoryCommand& command)
      : context_(context), command_(command), history_(command.path) {}

  Outcome run();

 private:
  IoResult<void> begin(const storage::DataDirs& dirs, const ReplayBase& base);
  void show(const NodeChange& change);
  void show_json(const NodeChange& change);
  std::string text_of(const std::optional<NodeState>& state, bool known) const;
  std::string json_of(const NodeState& state) const;

  const Context& context_;
  const HistoryCommand& command_;
  NodeHistory history_;
  std::uint64_t changes_ = 0;
};

Outcome HistoryListing::run() {
  if (!is_valid_path(command_.path)) {
    return std::unexpected(data_error("'" + printable(command_.path) + "' is not the path of a node: " +
                                      std::string(invalid_path_reason(command_.path))));
  }
  TRY_ASSIGN(const storage::DataDirs dirs, find_directories(context_.disk, command_.directories));
  TRY_ASSIGN(const ReplayBase base, oldest_base(context_.disk, dirs));
  TRY(begin(dirs, base));
  TRY_ASSIGN(auto log, storage::TxnLogReader::open(context_.disk, dirs.logs, {.after = base.zxid}));
  Progress progress("transactions", 0, context_.show_progress);
  std::uint64_t bytes = 0;
  for (;;) {
    const auto record = log.next();
    if (!record) return std::unexpected(record.error());  // Earlier changes have been printed.
    if (!*record) break;
    progress.reached(bytes += (*record)->entry.size());
    const auto txn = wire::decode_entry((*record)->entry);
    if (!txn)
      return std::unexpected(data_error("transaction " + zxid_text((*record)->zxid) + " cannot be decoded"));
    for (const NodeChange& change : history_.apply(*txn)) show(change);
  }
  if (changes_ == 0 && !history_.now()) {
    context_.notes.print("{} is in no snapshot and no transaction here\n", path_text(command_.path));
  }
  return kFine;
}

IoResult<void> HistoryListing::begin(const storage::DataDirs& dirs, const ReplayBase& base) {
  if (!base.snapshot) {
    context_.notes.print("from the first transaction on\n");
    return {};
  }
  context_.notes.print("from {} on; earlier changes are not in these files\n", base.snapshot->name);
  OneNode sink(command_.path);
  TRY_ASSIGN(const SnapshotPlace place, snapshot_at(context_.disk, dirs.snapshots, base.snapshot->name));
  TRY(read_snapshot(context_, place, sink));
  if (!sink.found()) return {};
  history_.start_with(*sink.found());
  if (context_.json) {
    std::string line;
    JsonObject json(line);
    json.text("operation", "snapshot")
        .zxid("zxid", base.zxid)
        .json("after", json_of(*history_.now()))
        .end_line();
    context_.out.write(line);
  } else {
    context_.out.print("{} in the snapshot: {}\n", zxid_text(base.zxid), text_of(history_.now(), true));
  }
  return {};
}

std::string HistoryListing::text_of(const std::optional<NodeState>& state, bool known) const {
  if (!known) return "not known (the snapshot shows a later state)";
  if (!state) return "not there";
  std::string text =
      data_text(state->data, command_.whole_data ? std::numeric_limits<std::size_t>::max() : kDataShown);
  text += fmt::format(" version {}", state->version);
  if (state->owner != 0) text += fmt::format(" {}", kind_text(state->owner));
  if (state->acl != wire::open_acl_bytes()) text += " acl " + acl_text(state->acl);
  return text;
}

std::string HistoryListing::json_of(const NodeState& state) const {
  std::string text;
  JsonObject json(text);
  json.data("data", state.data ? wire::Nullable(*state.data) : wire::Nullable());
  json.number("version", state.version).number("aversion", state.aversion).text("acl", acl_text(state.acl));
  json.text("type", kind_text(state.owner))
      .hex("ephemeralOwner", static_cast<std::uint64_t>(state.owner))
      .end();
  return text;
}

void HistoryListing::show(const NodeChange& change) {
  ++changes_;
  if (context_.json) return show_json(change);
  const wire::TxnHeader& h = change.header;
  context_.out.print("{} {} session {} cxid {} {}{}: {} -> {}\n", zxid_text(h.zxid), time_text(h.time_ms),
                     session_text(h.session), h.cxid, op_name(change.type),
                     change.in_multi ? " in a multi" : "", text_of(change.before, change.before_known),
                     text_of(change.after, true));
}

void HistoryListing::show_json(const NodeChange& change) {
  const wire::TxnHeader& h = change.header;
  std::string line;
  JsonObject json(line);
  json.zxid("zxid", h.zxid).text("time", time_text(h.time_ms)).session("session", h.session);
  json.number("cxid", h.cxid).text("operation", op_name(change.type)).boolean("multi", change.in_multi);
  if (change.before_known) json.json("before", change.before ? json_of(*change.before) : "null");
  json.json("after", change.after ? json_of(*change.after) : "null").end_line();
  context_.out.write(line);
}

}  // namespace

Outcome run_history(const Context& context, const HistoryCommand& command) {
  return HistoryListing(context, command).run();
}

}  // namespace drover::tools
