// SPDX-License-Identifier: Apache-2.0
#include "tools/snapshot_command.h"

#include <map>
#include <vector>

#include "base/path.h"
#include "tools/json.h"
#include "tools/node_text.h"
#include "tools/snapshot_file.h"
#include "tools/snapshot_stats.h"
#include "tools/text.h"

namespace drover::tools {
namespace {

std::string_view explain(std::string_view digest) {
  if (digest == "fuzzy")
    return "of a later state than these nodes; a replay of the log shows whether it is correct";
  return digest == "none" ? "says nothing" : digest;
}

class SnapshotListing final : public storage::SnapshotSink {
 public:
  SnapshotListing(const Context& context, const SnapshotCommand& command)
      : context_(context), command_(command), open_acl_(acl_text(wire::open_acl_bytes())) {}

  Outcome run();

  bool session(SessionId id, std::int32_t timeout_ms) override {
    if (command_.sessions) sessions_.emplace_back(id, timeout_ms);
    return true;
  }
  bool acl(std::int64_t key, std::string_view jute_list) override {
    acls_.insert_or_assign(key, acl_text(jute_list));
    return true;
  }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override;

 private:
  const std::string& acl_of(std::int64_t key) const;
  void show_sessions();
  void show_acls();
  void show_summary(const SnapshotPlace& place, const storage::SnapshotInfo& info);
  std::string_view judge_digest(const SnapshotPlace& place, const storage::SnapshotInfo& info);

  const Context& context_;
  const SnapshotCommand& command_;
  std::vector<std::pair<SessionId, std::int32_t>> sessions_;
  std::map<std::int64_t, std::string> acls_;
  const std::string open_acl_;
  const std::string unknown_acl_ = "unknown";
  SnapshotStats stats_;
  std::string line_;
  int code_ = kFine;
};

bool SnapshotListing::node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                           const wire::StatPersisted& stat) {
  stats_.node(path, data, stat);
  if (!command_.nodes || (!command_.path.empty() && !is_within(path.empty() ? "/" : path, command_.path)))
    return true;
  line_.clear();
  const NodeView view{path, data, acl_of(acl), stat};
  const NodeTextOptions options{.data = command_.data};
  context_.json ? append_json(line_, view, options) : append_text(line_, view, options);
  context_.out.write(line_);
  return true;
}

const std::string& SnapshotListing::acl_of(std::int64_t key) const {
  if (key == -1) return open_acl_;
  const auto it = acls_.find(key);
  return it == acls_.end() ? unknown_acl_ : it->second;
}

Outcome SnapshotListing::run() {
  TRY_ASSIGN(const SnapshotPlace place, find_snapshot(context_, command_.source));
  TRY_ASSIGN(const storage::SnapshotInfo info, read_snapshot(context_, place, *this));
  stats_.finish();
  if (command_.sessions) show_sessions();
  if (command_.acls) show_acls();
  show_summary(place, info);
  if (command_.stats) context_.json ? stats_.print_json(context_.out) : stats_.print(context_.out);
  return code_;
}

void SnapshotListing::show_sessions() {
  for (const auto& [id, timeout_ms] : sessions_) {
    const std::uint64_t ephemerals = stats_.ephemerals_of(id);
    if (!context_.json) {
      context_.out.print("session {} timeout {} ms, {} ephemeral nodes\n", session_text(id), timeout_ms,
                         ephemerals);
      continue;
    }
    std::string line;
    JsonObject json(line);
    json.text("kind", "session").session("session", id).number("timeoutMs", timeout_ms);
    json.count("ephemerals", ephemerals).end_line();
    context_.out.write(line);
  }
}

void SnapshotListing::show_acls() {
  for (const auto& [key, text] : acls_) {
    if (!context_.json) {
      context_.out.print("acl {} {}\n", key, text);
      continue;
    }
    std::string line;
    JsonObject json(line);
    json.text("kind", "acl").number("key", key).text("acl", text).end_line();
    context_.out.write(line);
  }
}

// The seal names the transaction that its digest belongs to. The nodes match it only if nothing was applied
// while the snapshot was written.
std::string_view SnapshotListing::judge_digest(const SnapshotPlace& place,
                                               const storage::SnapshotInfo& info) {
  if (!info.digest || info.digest->version != storage::kDigestVersion || raw(info.digest->zxid) == 0)
    return "none";
  const bool exact = place.has_zxid && info.digest->zxid == place.file.zxid && info.newest <= place.file.zxid;
  if (!exact) return "fuzzy";
  if (info.digest->tree == stats_.tree_digest()) return "matches";
  code_ = kWrong;
  return "DIFFERS";
}

void SnapshotListing::show_summary(const SnapshotPlace& place, const storage::SnapshotInfo& info) {
  const std::string_view digest = judge_digest(place, info);
  if (context_.json) {
    std::string line;
    JsonObject json(line);
    json.text("kind", "snapshot").text("file", storage::join_path(place.directory, place.file.name));
    if (place.has_zxid) json.zxid("zxid", place.file.zxid);
    json.count("fileBytes", place.bytes).text("compression", storage::suffix_of(place.file.compression));
    json.count("sessions", info.sessions).count("acls", info.acls).count("nodes", info.nodes);
    json.count("dataBytes", stats_.data_bytes()).zxid("newest", info.newest).text("digestVerdict", digest);
    if (info.digest) json.zxid("digestZxid", info.digest->zxid).hex("digest", info.digest->tree);
    if (info.last_processed) json.zxid("lastProcessed", *info.last_processed);
    json.end_line();
    context_.out.write(line);
    return;
  }
  Output& out = context_.out;
  out.print("snapshot {} ({}), checksums correct\n", storage::join_path(place.directory, place.file.name),
            bytes_text(place.bytes));
  if (place.has_zxid)
    out.print("started at zxid {}, contains changes up to {}\n", zxid_text(place.file.zxid),
              zxid_text(info.newest));
  out.print("{} nodes with {} of data, {} sessions, {} access control lists\n", info.nodes,
            bytes_text(stats_.data_bytes()), info.sessions, info.acls);
  if (info.digest) {
    out.print("digest {} at zxid {}: {}\n", hex_text(info.digest->tree), zxid_text(info.digest->zxid),
              explain(digest));
  }
  if (info.last_processed) out.print("last processed zxid {}\n", zxid_text(*info.last_processed));
}

}  // namespace

Outcome run_snapshot(const Context& context, const SnapshotCommand& command) {
  return SnapshotListing(context, command).run();
}

}  // namespace drover::tools
