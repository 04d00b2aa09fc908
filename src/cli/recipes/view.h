// SPDX-License-Identifier: Apache-2.0
//
// The state of a lock, an election, a queue or a group, and how it is printed.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drover/types.h"
#include "layouts/layout.h"

namespace drover::cli::observe {

using layouts::Family;
using layouts::Kind;
using layouts::name_of;
using layouts::Part;
using layouts::QueueOrder;
using layouts::recognise;
using layouts::Recognition;
using layouts::Role;

// A holder, a waiter or a member.
struct Stand {
  std::string node;  // full path
  Role role = Role::kPlain;
  Stat stat{};  // ctime: when it queued; czxid: the fencing token
  std::string data{};
  std::string address{};  // client address of its session; empty: unknown
  bool asked_to_leave = false;
};

struct Item {
  std::string name;
  std::string key{};
  Stat stat{};
  std::optional<Stand> claim{};
};

struct View {
  std::string path;
  Kind kind = Kind::kNothing;
  Family family = Family::kCurator;
  QueueOrder order = QueueOrder::kFifo;

  std::vector<Stand> holders{};  // or leaders
  std::vector<Stand> waiters{};  // in order
  std::vector<Stand> members{};
  std::size_t unseen = 0;  // further waiters that were not read

  std::vector<Item> items{};  // first items of a queue, and claimed ones
  std::size_t items_total = 0;
  std::optional<std::int64_t> oldest_ms{};

  std::vector<std::string> notes{};
  std::vector<std::string> things{};  // of kSeveral
};

// The command that was run: `drover locks`, `leaders`, `queues` or `members`.
enum class Purpose : std::uint8_t { kLocks, kLeaders, kQueues, kMembers };
std::string_view command_of(Purpose purpose);  // "locks"
bool is_for(Purpose purpose, Kind kind);
// The command that shows this kind of recipe.
std::string_view command_for(Kind kind);

void fill_addresses(View& view, const std::map<std::int64_t, std::string>& addresses);

// The view as text.
std::vector<std::string> text_of(const View& view, Purpose purpose, std::int64_t now_ms);
// Only the first line of it.
std::string summary_of(const View& view, Purpose purpose, std::int64_t now_ms);
boost::json::object json_of(const View& view);

}  // namespace drover::cli::observe
