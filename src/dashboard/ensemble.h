// SPDX-License-Identifier: Apache-2.0
//
// The ensemble as this server sees it: every member with its role, zxid and lag, and servers that join, leave
// or follow the leader without being members.
//
// The server knows its own state and, as a leader, the progress of its learners. It asks the other servers
// (member_probe.h): all at once, at most once a second, and only while a page is open. That blocks, so the
// dashboard's own thread calls refresh(), and an answer uses the last results.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "dashboard/json.h"
#include "dashboard/member_probe.h"
#include "runtime/server_inside.h"

namespace drover::server {

// This server's role, which changes with elections.
struct OwnPlace {
  std::string mode = "standalone";  // or leader, follower, observer, looking, read-only
  std::uint32_t epoch = 0;
  std::optional<ServerId> leader{};
  std::string why_elected{};
  struct Learner {
    bool synced = false;
    bool observer = false;
    std::int64_t lag = 0;
  };
  std::map<ServerId, Learner> learners{};  // only on a leader
  Membership members{};                    // in force
  std::optional<Membership> proposed{};    // logged, but not in force yet
};
OwnPlace own_place(const ServerInside& inside);

class EnsembleView {
 public:
  explicit EnsembleView(const ServerInside& inside);

  HttpResponse answer();

  // --- by the dashboard's thread ---
  // When to call refresh() next; none: no page is open.
  std::optional<Instant> next_refresh() const;
  void refresh();
  // `wake` is called by a request that wants newer results.
  void set_waker(std::function<void()> wake) { wake_ = std::move(wake); }

 private:
  struct Round {
    Instant at;
    Zxid own{};  // our zxid when the others were asked
    std::map<ServerId, ProbeResult> results;
  };
  Round newest();
  // Where the other members answer words.
  std::map<ServerId, Endpoint> endpoints() const {
    return client_endpoints(inside_.config, inside_.members());
  }
  std::map<ServerId, std::string_view> standing(const OwnPlace& place) const;
  json::object describe_self(const OwnPlace& place, const Facts& facts) const;
  json::object describe_other(ServerId id, const OwnPlace& place, const Round& round) const;
  json::object describe(ServerId id, const OwnPlace& place, const Round& round, const Facts& facts) const;
  json::array members(const OwnPlace& place, const Round& round, const Facts& facts) const;
  json::object server(const OwnPlace& place, const Facts& facts) const;

  const ServerInside& inside_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable refreshed_;
  Instant looked_at_;  // time of the last request
  std::optional<Round> round_;
};

}  // namespace drover::server
