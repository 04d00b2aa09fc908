// SPDX-License-Identifier: Apache-2.0
#include "tools/diff_command.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/hash.h"
#include "base/path.h"
#include "tools/json.h"
#include "tools/state_source.h"
#include "tools/text.h"

namespace drover::tools {
namespace {

// 128 bits, so that different contents never look equal by chance.
struct ContentHash {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  friend bool operator==(const ContentHash&, const ContentHash&) = default;
};
ContentHash hash_of(const wire::Nullable& data) {
  if (!data) return {};
  return {hash_bytes(*data, {0x6469666631, 0}), hash_bytes(*data, {0x6469666632, 0})};
}

struct Known {
  wire::StatPersisted stat;
  ContentHash data;
  std::int64_t data_bytes = -1;  // -1: null
  std::int64_t acl = -1;
  bool seen = false;
};

std::int64_t size_of(const wire::Nullable& data) {
  return data ? static_cast<std::int64_t>(data->size()) : -1;
}

// Nodes of the first state by path. Paths are stored in large blocks and the table holds indices, because a
// growing table moves its entries, and an allocation per name would cost more than the name.
class NodeIndex {
 public:
  void add(std::string_view path, const Known& known) {
    by_path_.emplace(keep(path), static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(known);
  }
  Known* find(std::string_view path) {
    const auto it = by_path_.find(path);
    return it == by_path_.end() ? nullptr : &nodes_[it->second];
  }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  std::string_view keep(std::string_view path) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < path.size()) {
      blocks_.emplace_back().reserve(std::max(kBlockBytes, path.size()));
    }
    std::string& block = blocks_.back();
    block += path;  // within its capacity, so earlier views stay valid
    return std::string_view(block).substr(block.size() - path.size());
  }

  std::deque<std::string> blocks_;
  std::deque<Known> nodes_;
  boost::unordered_flat_map<std::string_view, std::uint32_t> by_path_;
};

// ACL lists and sessions of one side.
struct Tables {
  std::map<std::int64_t, std::string> acls;  // as text
  std::map<std::int64_t, std::int32_t> sessions;

  const std::string& acl(std::int64_t key) const {
    static const std::string open = acl_text(wire::open_acl_bytes());
    static const std::string unknown = "unknown";
    if (key == -1) return open;
    const auto it = acls.find(key);
    return it == acls.end() ? unknown : it->second;
  }
};

struct FieldChange {
  std::string_view field;
  std::string left;
  std::string right;
};

struct Sources {
  DirectoryArguments left;
  DirectoryArguments right;
};

// Empty if it is ambiguous which log directory belongs to which state.
IoResult<std::optional<Sources>> sources_of(const Context& context, const DiffCommand& command) {
  Sources sources{{command.left, {}}, {command.right, {}}};
  auto next = command.log_directories.begin();
  if (next == command.log_directories.end()) return sources;
  for (DirectoryArguments* side : {&sources.left, &sources.right}) {
    TRY_ASSIGN(const bool directory, is_directory(context.disk, side->directory));
    if (!directory) continue;
    if (next == command.log_directories.end()) return std::nullopt;
    side->log_directory = *next++;
  }
  return next == command.log_directories.end() ? std::optional(sources) : std::nullopt;
}

class Difference {
 public:
  Difference(const Context& context, const DiffCommand& command) : context_(context), command_(command) {}

  Outcome run();

 private:
  // Passes the records of one side to one function each.
  struct Side final : storage::SnapshotSink {
    using OnNode = void (Difference::*)(std::string_view, const wire::Nullable&, std::int64_t,
                                        const wire::StatPersisted&);
    Side(Difference& difference, Tables& side_tables, OnNode function)
        : to(difference), tables(side_tables), on_node(function) {}
    bool session(SessionId id, std::int32_t timeout_ms) override {
      tables.sessions[raw(id)] = timeout_ms;
      return true;
    }
    bool acl(std::int64_t key, std::string_view jute_list) override {
      tables.acls[key] = acl_text(jute_list);
      return true;
    }
    bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
              const wire::StatPersisted& stat) override {
      if (to.command_.path.empty() || is_within(path.empty() ? "/" : path, to.command_.path)) {
        (to.*on_node)(path, data, acl, stat);
      }
      return true;
    }
    Difference& to;
    Tables& tables;
    OnNode on_node;
  };

  void remember(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                const wire::StatPersisted& stat);
  void compare(std::string_view path, const wire::Nullable& data, std::int64_t acl,
               const wire::StatPersisted& stat);
  void tell_missing(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                    const wire::StatPersisted& stat);
  std::vector<FieldChange> changes(const Known& left, const Known& right) const;
  void add_stat_changes(const wire::StatPersisted& a, const wire::StatPersisted& b,
                        std::vector<FieldChange>& found) const;
  void compare_sessions();
  void tell(std::string_view kind, std::string_view path, const std::vector<FieldChange>& fields = {});
  void tell_summary(const StateSource& left, const StateSource& right);

  const Context& context_;
  const DiffCommand& command_;
  NodeIndex index_;
  Tables left_;
  Tables right_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
  std::uint64_t same_ = 0;
};

Outcome Difference::run() {
  TRY_ASSIGN(const auto sources, sources_of(context_, command_));
  if (!sources) {
    context_.notes.print(
        "drover inspect: give --log-dir once for each of A and B that is a directory; it may be the same "
        "directory again\n");
    return kUsage;
  }
  TRY_ASSIGN(const StateSource left, StateSource::open(context_, sources->left));
  TRY_ASSIGN(const StateSource right, StateSource::open(context_, sources->right));
  Side first(*this, left_, &Difference::remember);
  TRY(left.read(first));
  Side second(*this, right_, &Difference::compare);
  TRY(right.read(second));
  Side again(*this, left_, &Difference::tell_missing);
  TRY(left.read(again));
  compare_sessions();
  tell_summary(left, right);
  return counts_.empty() ? kFine : kWrong;
}

void Difference::remember(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                          const wire::StatPersisted& stat) {
  index_.add(path, Known{stat, hash_of(data), size_of(data), acl});
}

void Difference::compare(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                         const wire::StatPersisted& stat) {
  Known* known = index_.find(path);
  if (!known) return tell("added", path);
  known->seen = true;
  const auto fields = changes(*known, Known{stat, hash_of(data), size_of(data), acl});
  if (fields.empty()) {
    ++same_;
  } else {
    tell("changed", path, fields);
  }
}

void Difference::tell_missing(std::string_view path, const wire::Nullable&, std::int64_t,
                              const wire::StatPersisted&) {
  const Known* known = index_.find(path);
  if (known && !known->seen) tell("removed", path);
}

std::vector<FieldChange> Difference::changes(const Known& left, const Known& right) const {
  std::vector<FieldChange> found;
  const auto size_text = [](std::int64_t bytes) {
    return bytes < 0 ? "null" : fmt::format("{} bytes", bytes);
  };
  if (left.data != right.data || left.data_bytes != right.data_bytes) {
    found.push_back({"data", size_text(left.data_bytes), size_text(right.data_bytes)});
  }
  if (left_.acl(left.acl) != right_.acl(right.acl)) {
    found.push_back({"acl", left_.acl(left.acl), right_.acl(right.acl)});
  }
  if (left.stat.ephemeral_owner != right.stat.ephemeral_owner) {
    found.push_back({"ephemeralOwner", hex_text(static_cast<std::uint64_t>(left.stat.ephemeral_owner)),
                     hex_text(static_cast<std::uint64_t>(right.stat.ephemeral_owner))});
  }
  if (!command_.ignore_stat && left.stat != right.stat) add_stat_changes(left.stat, right.stat, found);
  return found;
}

void Difference::add_stat_changes(const wire::StatPersisted& a, const wire::StatPersisted& b,
                                  std::vector<FieldChange>& found) const {
  const auto add = [&](std::string_view field, const auto& left, const auto& right, const auto& text) {
    if (left != right) found.push_back({field, text(left), text(right)});
  };
  const auto number = [](std::int32_t value) { return fmt::format("{}", value); };
  add("version", a.version, b.version, number);
  add("cversion", a.cversion, b.cversion, number);
  add("aversion", a.aversion, b.aversion, number);
  add("czxid", a.czxid, b.czxid, zxid_text);
  add("mzxid", a.mzxid, b.mzxid, zxid_text);
  add("pzxid", a.pzxid, b.pzxid, zxid_text);
  add("ctime", a.ctime, b.ctime, time_text);
  add("mtime", a.mtime, b.mtime, time_text);
}

void Difference::compare_sessions() {
  if (!command_.path.empty()) return;
  for (const auto& [id, timeout_ms] : right_.sessions) {
    const auto it = left_.sessions.find(id);
    if (it == left_.sessions.end()) {
      tell("session added", session_text(SessionId{id}));
    } else if (it->second != timeout_ms) {
      tell("session changed", session_text(SessionId{id}),
           {{"timeoutMs", fmt::format("{}", it->second), fmt::format("{}", timeout_ms)}});
    }
  }
  for (const auto& [id, timeout_ms] : left_.sessions) {
    if (!right_.sessions.contains(id)) tell("session removed", session_text(SessionId{id}));
  }
}

void Difference::tell(std::string_view kind, std::string_view path, const std::vector<FieldChange>& fields) {
  ++counts_[std::string(kind)];
  if (command_.summary) return;
  const std::string_view name = path.empty() ? "/" : path;
  if (context_.json) {
    std::string all;
    JsonObject object(all);
    for (const FieldChange& f : fields) {
      JsonArray both;
      both.add_text(f.left);
      both.add_text(f.right);
      object.json(f.field, both.take());
    }
    object.end();
    std::string line;
    JsonObject json(line);
    json.text("kind", kind).text(kind.starts_with("session") ? "session" : "path", name);
    if (!fields.empty()) json.json("fields", all);
    json.end_line();
    context_.out.write(line);
    return;
  }
  context_.out.print("{} {}", kind, printable(name));
  for (const FieldChange& f : fields)
    context_.out.print("{} {} {} -> {}", &f == &fields.front() ? ":" : ",", f.field, f.left, f.right);
  context_.out.write("\n");
}

void Difference::tell_summary(const StateSource& left, const StateSource& right) {
  if (context_.json) {
    std::string line;
    JsonObject json(line);
    json.text("kind", "summary").text("left", left.name()).text("right", right.name()).count("same", same_);
    for (const auto& [kind, count] : counts_) json.count(kind, count);
    json.end_line();
    context_.out.write(line);
    return;
  }
  context_.out.print("{} nodes are the same in {} and {}", same_, left.name(), right.name());
  for (const auto& [kind, count] : counts_) context_.out.print(", {} {}", count, kind);
  context_.out.write("\n");
}

}  // namespace

Outcome run_diff(const Context& context, const DiffCommand& command) {
  return Difference(context, command).run();
}

}  // namespace drover::tools
