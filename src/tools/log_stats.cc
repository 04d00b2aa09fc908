// SPDX-License-Identifier: Apache-2.0
#include "tools/log_stats.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/json.h"
#include "tools/text.h"
#include "tools/txn_text.h"

namespace drover::tools {
namespace {

constexpr std::size_t kShown = 10;
// The log decides how many names and sessions there are; beyond this many, they share one sum.
constexpr std::size_t kKeysMax = 100'000;

// The largest by number of transactions.
template <class Map>
auto largest(const Map& sums) {
  std::vector<std::pair<typename Map::key_type, typename Map::mapped_type>> all(sums.begin(), sums.end());
  const std::size_t n = std::min(kShown, all.size());
  std::partial_sort(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end(), [](const auto& a, const auto& b) {
        return a.second.txns != b.second.txns ? a.second.txns > b.second.txns : a.first < b.first;
      });
  all.resize(n);
  return all;
}

}  // namespace

std::string_view top_level(std::string_view path) {
  return path.substr(0, path.find('/', path.starts_with('/') ? 1 : 0));
}

void LogStats::add(const wire::TxnEntry& txn, std::size_t bytes) {
  if (all_.txns == 0) {
    first_ = txn.header.zxid;
    first_ms_ = txn.header.time_ms;
  }
  last_ = txn.header.zxid;
  last_ms_ = txn.header.time_ms;
  failed_ += has_failed(txn) ? 1 : 0;
  const auto count = [bytes](Sum& sum) {
    ++sum.txns;
    sum.bytes += bytes;
  };
  count(all_);
  count(by_type_[txn.header.type]);
  const std::int64_t session = raw(txn.header.session);
  if (by_session_.size() < kKeysMax || by_session_.contains(session)) count(by_session_[session]);
  for (const Operation& operation : operations_of(txn)) {
    if (operation.record) add_path(path_of(*operation.record), bytes);
  }
}

void LogStats::add_path(std::string_view path, std::size_t bytes) {
  if (path.empty()) return;
  std::string top(top_level(path));
  if (by_top_.size() >= kKeysMax && !by_top_.contains(top)) top = kOthers;
  Sum& sum = by_top_[top];
  ++sum.txns;
  sum.bytes += bytes;
}

void LogStats::print(Output& out) const {
  out.print("{} transactions, {}, {} of them failed requests\n", all_.txns, bytes_text(all_.bytes), failed_);
  if (all_.txns == 0) return;
  out.print("zxid {} to {}, {} to {}\n", zxid_text(first_), zxid_text(last_), time_text(first_ms_),
            time_text(last_ms_));
  out.print("\n{:<16} {:>12} {:>14}\n", "type", "count", "bytes");
  for (const auto& [type, sum] : by_type_)
    out.print("{:<16} {:>12} {:>14}\n", op_name(type), sum.txns, sum.bytes);
  out.print("\n{:<32} {:>12} {:>14}\n", "operations below", "count", "bytes");
  for (const auto& [top, sum] : largest(by_top_))
    out.print("{:<32} {:>12} {:>14}\n", printable(top), sum.txns, sum.bytes);
  out.print("\n{:<32} {:>12} {:>14}\n", "session", "count", "bytes");
  for (const auto& [session, sum] : largest(by_session_)) {
    out.print("{:<32} {:>12} {:>14}\n", session_text(SessionId{session}), sum.txns, sum.bytes);
  }
}

void LogStats::print_json(Output& out) const {
  const auto list = [](const auto& sums, const auto& name) {
    JsonArray array;
    for (const auto& [key, sum] : sums) {
      std::string one;
      JsonObject json(one);
      json.text("key", name(key)).count("count", sum.txns).count("bytes", sum.bytes).end();
      array.add(one);
    }
    return array.take();
  };
  std::string line;
  JsonObject json(line);
  json.count("transactions", all_.txns).count("bytes", all_.bytes).count("failed", failed_);
  if (all_.txns > 0) {
    json.zxid("first", first_).zxid("last", last_);
    json.text("firstTime", time_text(first_ms_)).text("lastTime", time_text(last_ms_));
  }
  json.json("types", list(by_type_, [](wire::OpCode type) { return std::string(op_name(type)); }));
  json.json("top", list(largest(by_top_), [](const std::string& top) { return top; }));
  json.json("sessions",
            list(largest(by_session_), [](std::int64_t id) { return session_text(SessionId{id}); }));
  json.end_line();
  out.write(line);
}

}  // namespace drover::tools
