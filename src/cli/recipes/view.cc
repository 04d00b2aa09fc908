// SPDX-License-Identifier: Apache-2.0
#include "cli/recipes/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/number.h"
#include "base/text.h"
#include "cli/common/human_text.h"

namespace drover::cli::observe {
namespace {

namespace json = boost::json;

constexpr std::size_t kNoteNames = 8;

std::string session_text(const Stat& stat) {
  return stat.is_ephemeral() ? hex_text(stat.ephemeral_owner) : std::string("none");
}

std::string since_text(const Stat& stat, std::int64_t now_ms) { return time_text(stat.ctime_ms, now_ms); }
std::string for_text(const Stat& stat, std::int64_t now_ms) { return duration_text(now_ms - stat.ctime_ms); }

std::string name_in(std::string_view path) { return safe_text(path.substr(path.rfind('/') + 1)); }

std::string data_of(const Stand& stand) {
  return stand.asked_to_leave ? "asked to release it" : data_text(stand.data);
}

std::string_view word_for_holder(const Stand& stand, const View& view, Purpose purpose) {
  if (stand.role == Role::kReader) return "reads";
  if (stand.role == Role::kWriter) return "writes";
  if (purpose == Purpose::kLeaders || view.kind == Kind::kElection) return "leads";
  return view.kind == Kind::kTurnQueue ? "has its turn" : "holds";
}

std::string word_for_waiter(const Stand& stand, std::size_t place) {
  if (stand.role == Role::kReader) return fmt::format("{}. to read", place);
  if (stand.role == Role::kWriter) return fmt::format("{}. to write", place);
  return fmt::format("{}.", place);
}

// The address of a service instance in Curator's format; otherwise the data.
std::string member_text(const Stand& stand) {
  json::error_code error;
  const json::value instance = json::parse(stand.data, error);
  const json::object* object = error ? nullptr : instance.if_object();
  const json::value* address = object == nullptr ? nullptr : object->if_contains("address");
  if (address == nullptr || !address->is_string() || !object->contains("serviceType"))
    return data_text(stand.data);
  std::string text = safe_text(std::string(address->get_string()));
  for (const std::string_view name : {"port", "sslPort"}) {
    const json::value* port = object->if_contains(name);
    if (port != nullptr && port->is_int64())
      text += fmt::format("{}{}", name == "port" ? ":" : " TLS:", port->get_int64());
  }
  return text;
}

void add_lines(std::vector<std::string>& lines, const Table& table) {
  for (const std::string& line : table.lines()) lines.push_back("  " + line);
}

void show_line(const View& view, Purpose purpose, std::int64_t now_ms, std::vector<std::string>& lines) {
  if (view.holders.empty() && view.waiters.empty()) return;
  Table table({"", "session", "address", "in line since", "for", "fence", "data", "node"});
  const auto add = [&](std::string word, const Stand& stand) {
    table.add({std::move(word), session_text(stand.stat), stand.address, since_text(stand.stat, now_ms),
               for_text(stand.stat, now_ms), hex_text(stand.stat.czxid), data_of(stand),
               name_in(stand.node)});
  };
  for (const Stand& stand : view.holders) add(std::string(word_for_holder(stand, view, purpose)), stand);
  for (std::size_t i = 0; i < view.waiters.size(); ++i)
    add(word_for_waiter(view.waiters[i], i + 1), view.waiters[i]);
  add_lines(lines, table);
}

std::string key_text(const Item& item, QueueOrder order, std::int64_t now_ms) {
  if (order != QueueOrder::kDelay) return safe_text(item.key);
  const auto due = parse_number<std::int64_t>(item.key).value_or(0);
  return due <= now_ms ? "now" : fmt::format("in {}", duration_text(due - now_ms));
}

std::string_view head_of_key(QueueOrder order) {
  switch (order) {
    case QueueOrder::kFifo: return "";
    case QueueOrder::kPriority: return "priority";
    case QueueOrder::kDelay: return "due";
    case QueueOrder::kId: return "id";
  }
  return "";
}

void show_items(const View& view, std::int64_t now_ms, std::vector<std::string>& lines) {
  if (view.items.empty()) return;
  Table table({"item", std::string(head_of_key(view.order)), "since", "for", "bytes", "claimed by", "address",
               "claimed for"});
  for (const Item& item : view.items) {
    const Stand claim = item.claim.value_or(Stand{});
    table.add({safe_text(item.name), key_text(item, view.order, now_ms), since_text(item.stat, now_ms),
               for_text(item.stat, now_ms), std::to_string(item.stat.data_length),
               item.claim ? session_text(claim.stat) : "", claim.address,
               item.claim ? for_text(claim.stat, now_ms) : ""});
  }
  add_lines(lines, table);
}

void show_members(const View& view, std::int64_t now_ms, std::vector<std::string>& lines) {
  if (view.members.empty()) return;
  Table table({"member", "session", "address", "since", "for", "data"});
  for (const Stand& stand : view.members) {
    table.add({name_in(stand.node), session_text(stand.stat), stand.address, since_text(stand.stat, now_ms),
               for_text(stand.stat, now_ms), member_text(stand)});
  }
  add_lines(lines, table);
}

std::string plural(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string state_text(const View& view, Purpose purpose, std::int64_t now_ms) {
  switch (view.kind) {
    case Kind::kQueue: {
      std::string text = plural(view.items_total, "item", "items");
      if (view.oldest_ms) text += fmt::format(", the oldest for {}", duration_text(now_ms - *view.oldest_ms));
      const auto claimed = std::count_if(view.items.begin(), view.items.end(),
                                         [](const Item& i) { return i.claim.has_value(); });
      return claimed == 0 ? text : text + fmt::format(", {} claimed", claimed);
    }
    case Kind::kGroup: return plural(view.members.size() + view.unseen, "member", "members");
    case Kind::kSeveral: return fmt::format("{}", fmt::join(view.things, ", "));
    case Kind::kNothing: return {};
    case Kind::kSemaphore:
      return fmt::format("{}, {}", plural(view.holders.size(), "lease", "leases"),
                         plural(view.waiters.size() + view.unseen, "waits", "wait"));
    default: break;
  }
  const bool election = purpose == Purpose::kLeaders;
  if (view.holders.empty()) return election ? "no leader" : "free";
  const std::string_view held = election ? "has a leader" : "held";
  return view.waiters.empty()
             ? std::string(held)
             : fmt::format("{}, {}", held, plural(view.waiters.size() + view.unseen, "waits", "wait"));
}

json::value text_or_hex(std::string_view data) {
  if (is_utf8_text(data)) return json::string(data);
  std::string hex;
  for (const char c : data) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return json::object{{"hex", hex}};
}

json::object json_of(const Stand& stand) {
  json::object object{{"node", safe_text(stand.node)},
                      {"session", session_text(stand.stat)},
                      {"address", stand.address.empty() ? json::value(nullptr) : json::value(stand.address)},
                      {"since_ms", stand.stat.ctime_ms},
                      {"fence", hex_text(stand.stat.czxid)},
                      {"data", text_or_hex(stand.data)}};
  if (stand.role != Role::kPlain) object["role"] = stand.role == Role::kReader ? "read" : "write";
  if (stand.asked_to_leave) object["revoked"] = true;
  return object;
}

json::array json_of(const std::vector<Stand>& stands) {
  json::array array;
  for (const Stand& stand : stands) array.push_back(json_of(stand));
  return array;
}

json::array json_of(const std::vector<Item>& items) {
  json::array array;
  for (const Item& item : items) {
    array.push_back(
        json::object{{"name", safe_text(item.name)},
                     {"key", safe_text(item.key)},
                     {"since_ms", item.stat.ctime_ms},
                     {"bytes", item.stat.data_length},
                     {"claim", item.claim ? json::value(json_of(*item.claim)) : json::value(nullptr)}});
  }
  return array;
}

}  // namespace

std::string_view command_of(Purpose purpose) {
  constexpr std::array<std::string_view, 4> kNames{"locks", "leaders", "queues", "members"};
  return kNames.at(static_cast<std::size_t>(purpose));
}

bool is_for(Purpose purpose, Kind kind) {
  switch (purpose) {
    case Purpose::kLocks:
      return kind == Kind::kMutex || kind == Kind::kReadWriteLock || kind == Kind::kSemaphore ||
             kind == Kind::kSimpleLock || kind == Kind::kTimeLease || kind == Kind::kTurnQueue;
    case Purpose::kLeaders:
      // A leader selector is a mutex, and an election may be one node.
      return kind == Kind::kElection || kind == Kind::kMutex || kind == Kind::kSimpleLock;
    case Purpose::kQueues: return kind == Kind::kQueue || kind == Kind::kTurnQueue;
    case Purpose::kMembers: return kind == Kind::kGroup;
  }
  return false;
}

std::string_view command_for(Kind kind) {
  for (const Purpose purpose : {Purpose::kLocks, Purpose::kLeaders, Purpose::kQueues, Purpose::kMembers}) {
    if (is_for(purpose, kind)) return command_of(purpose);
  }
  return {};
}

void fill_addresses(View& view, const std::map<std::int64_t, std::string>& addresses) {
  const auto fill = [&](Stand& stand) {
    const auto found = addresses.find(raw(stand.stat.ephemeral_owner));
    if (stand.stat.is_ephemeral() && found != addresses.end()) stand.address = found->second;
  };
  for (auto* stands : {&view.holders, &view.waiters, &view.members})
    std::for_each(stands->begin(), stands->end(), fill);
  for (Item& item : view.items) {
    if (item.claim) fill(*item.claim);
  }
}

std::string summary_of(const View& view, Purpose purpose, std::int64_t now_ms) {
  const std::string state = state_text(view, purpose, now_ms);
  std::string what(name_of(view.kind));
  if (view.kind == Kind::kQueue && view.order != QueueOrder::kFifo)
    what = fmt::format("{} queue", name_of(view.order));
  if (view.kind == Kind::kMutex && purpose == Purpose::kLeaders) what = "election by a mutex";
  if (view.kind == Kind::kSimpleLock && purpose == Purpose::kLeaders) what = "election by one node";
  const bool known = view.kind != Kind::kSeveral && view.kind != Kind::kNothing && view.kind != Kind::kGroup;
  return fmt::format("{}: {}{}{}{}", safe_text(view.path), what,
                     known ? fmt::format(" ({})", name_of(view.family)) : "", state.empty() ? "" : ": ",
                     state);
}

std::vector<std::string> text_of(const View& view, Purpose purpose, std::int64_t now_ms) {
  std::vector<std::string> lines{summary_of(view, purpose, now_ms)};
  show_line(view, purpose, now_ms, lines);
  show_items(view, now_ms, lines);
  show_members(view, now_ms, lines);
  for (std::size_t i = 0; i < std::min(view.notes.size(), kNoteNames); ++i)
    lines.push_back("  note: " + view.notes[i]);
  return lines;
}

json::object json_of(const View& view) {
  json::object object{{"path", safe_text(view.path)}, {"kind", name_of(view.kind)}};
  if (view.kind != Kind::kNothing && view.kind != Kind::kSeveral) object["layout"] = name_of(view.family);
  if (view.kind == Kind::kQueue) {
    object["order"] = name_of(view.order);
    object["length"] = view.items_total;
    object["oldest_since_ms"] = view.oldest_ms ? json::value(*view.oldest_ms) : json::value(nullptr);
    object["items"] = json_of(view.items);
  } else if (view.kind == Kind::kGroup) {
    object["members"] = json_of(view.members);
  } else if (view.kind != Kind::kNothing && view.kind != Kind::kSeveral) {
    object["holders"] = json_of(view.holders);
    object["waiters"] = json_of(view.waiters);
  }
  if (view.unseen > 0) object["not_shown"] = view.unseen;
  if (!view.things.empty()) object["things"] = json::value_from(view.things);
  object["notes"] = json::value_from(view.notes);
  return object;
}

}  // namespace drover::cli::observe
