// SPDX-License-Identifier: Apache-2.0
//
// What is going on at a lock, an election, a queue or a group, ready to be shown.
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

// Somebody who holds, waits, or is there.
struct Stand {
  std::string node;  // the whole path
  Role role = Role::kPlain;
  Stat stat{};  // ctime: when it got in line; czxid: the fencing token
  std::string data{};
  std::string address{};  // where its session is connected from; empty: not known
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
  std::vector<Stand> waiters{};  // in the order of the line
  std::vector<Stand> members{};
  std::size_t unseen = 0;  // more of them, behind those

  std::vector<Item> items{};  // the first of a queue, and those that are claimed
  std::size_t items_total = 0;
  std::optional<std::int64_t> oldest_ms{};

  std::vector<std::string> notes{};
  std::vector<std::string> things{};  // of kSeveral
};

// What somebody wants to see: `drover locks` and the three others.
enum class Purpose : std::uint8_t { kLocks, kLeaders, kQueues, kMembers };
std::string_view command_of(Purpose purpose);  // "locks"
bool is_for(Purpose purpose, Kind kind);
// The command that shows such a thing.
std::string_view command_for(Kind kind);

void fill_addresses(View& view, const std::map<std::int64_t, std::string>& addresses);

// Lines for people.
std::vector<std::string> text_of(const View& view, Purpose purpose, std::int64_t now_ms);
// The first of these lines only.
std::string summary_of(const View& view, Purpose purpose, std::int64_t now_ms);
boost::json::object json_of(const View& view);

}  // namespace drover::cli::observe
