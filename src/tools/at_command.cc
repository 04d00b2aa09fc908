// SPDX-License-Identifier: Apache-2.0
#include "tools/at_command.h"

#include <cerrno>
#include <map>

#include "base/path.h"
#include "storage/snapshot_writer.h"
#include "tools/json.h"
#include "tools/loaded_state.h"
#include "tools/node_text.h"
#include "tools/text.h"

namespace drover::tools {
namespace {

class NodePrinter final : public storage::SnapshotSink {
 public:
  NodePrinter(const Context& context, const AtCommand& command) : context_(context), command_(command) {
    acls_[-1] = acl_text(wire::open_acl_bytes());
  }
  std::uint64_t shown() const { return shown_; }

  bool session(SessionId, std::int32_t) override { return true; }
  bool acl(std::int64_t key, std::string_view jute_list) override {
    acls_[key] = acl_text(jute_list);
    return true;
  }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override {
    if (!command_.path.empty() && !is_within(path.empty() ? "/" : path, command_.path)) return true;
    ++shown_;
    line_.clear();
    const NodeView view{path, data, acls_[acl], stat};
    const NodeTextOptions options{.data = command_.data};
    context_.json ? append_json(line_, view, options) : append_text(line_, view, options);
    context_.out.write(line_);
    return true;
  }

 private:
  const Context& context_;
  const AtCommand& command_;
  std::map<std::int64_t, std::string> acls_;
  std::string line_;
  std::uint64_t shown_ = 0;
};

// Counts precede their elements in a snapshot, so they are taken from the state.
class WritingSink final : public storage::SnapshotSink {
 public:
  WritingSink(storage::SnapshotWriter& writer, const state::Machine& machine)
      : writer_(writer), acls_(static_cast<std::uint32_t>(machine.tree.acls().size())) {
    writer_.begin_sessions(static_cast<std::uint32_t>(machine.sessions.size()));
    if (machine.sessions.empty()) begin_acls();
    sessions_left_ = machine.sessions.size();
  }
  bool session(SessionId id, std::int32_t timeout_ms) override {
    writer_.session(id, timeout_ms);
    if (--sessions_left_ == 0) begin_acls();
    return true;
  }
  bool acl(std::int64_t key, std::string_view jute_list) override {
    writer_.acl(key, jute_list);
    return true;
  }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override {
    writer_.node(path, data, acl, stat);
    return !writer_.failed();
  }

 private:
  void begin_acls() { writer_.begin_acls(acls_); }

  storage::SnapshotWriter& writer_;
  std::uint32_t acls_;
  std::size_t sessions_left_ = 0;
};

// The snapshot writer names files by zxid, so it writes into a temporary directory, and the file is moved
// from there. So a data directory never contains an incomplete snapshot.
IoResult<void> write_state(storage::Disk& disk, const LoadedState& state, const std::string& path) {
  TRY_ASSIGN(const bool there, disk.exists(path));
  if (there) return std::unexpected(io_error(EEXIST, path));
  const std::string workshop = path + ".writing";
  TRY(disk.make_directories(workshop));
  TRY_ASSIGN(auto writer, storage::SnapshotWriter::open(disk, workshop, state.last));
  WritingSink sink(writer, state.machine);
  (void)give_state(state.machine, sink);  // finish() reports what failed
  storage::SnapshotSeals seals;
  if (state.findings.empty()) {
    seals.digest = storage::SnapshotDigest{state.last, storage::kDigestVersion, state.machine.tree.digest()};
  }
  seals.last_processed = state.last;
  TRY_ASSIGN(const std::string name, writer.finish(seals));
  TRY(disk.rename(storage::join_path(workshop, name), path));
  TRY(disk.sync_directory(split_path(path).directory));
  return disk.remove_directory(workshop);
}

void tell_where(const Context& context, const LoadedState& state) {
  context.notes.print("the state after zxid {}: {} and {} transactions\n", zxid_text(state.last),
                      state.from.empty() ? "the empty tree" : state.from, state.replayed);
  for (const std::string& finding : state.findings) context.notes.print("{}\n", finding);
}

}  // namespace

Outcome run_at(const Context& context, const AtCommand& command) {
  TRY_ASSIGN(const storage::DataDirs dirs, find_directories(context.disk, command.directories));
  TRY_ASSIGN(const auto state, load_at(context, dirs, command.zxid));
  tell_where(context, *state);
  const int code = state->findings.empty() ? kFine : kWrong;
  if (!command.write.empty()) {
    TRY(write_state(context.disk, *state, command.write));
    context.notes.print("written to {}\n", command.write);
    return code;
  }
  NodePrinter printer(context, command);
  (void)give_state(state->machine, printer);
  if (printer.shown() == 0) {
    context.notes.print("{} did not exist then\n", path_text(command.path));
    return kWrong;
  }
  return code;
}

}  // namespace drover::tools
