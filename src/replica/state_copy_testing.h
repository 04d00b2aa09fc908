// SPDX-License-Identifier: Apache-2.0
//
// Copies of a server's state, for tests: a snapshot on a disk, and the leader's state on its way to a
// learner.
//
// The latter travels as two frames that name a copy. When the first has arrived, the first half is in the
// learner's tree; the rest comes with the second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replica/member.h"
#include "replica/snapshot_cursor.h"
#include "replica/state_builder.h"
#include "wire/jute.h"

namespace drover::replica::testing {

struct StateCopy {
  explicit StateCopy(state::Machine& machine) {
    SnapshotCursor cursor(machine);
    SnapshotBeginning b = cursor.begin();
    zxid = b.zxid;
    sessions = std::move(b.sessions);
    for (const auto& [key, list] : b.acls) acls.emplace_back(key, list->bytes);
    for (auto progress = SnapshotCursor::Progress::kMore; progress == SnapshotCursor::Progress::kMore;) {
      nodes.emplace_back();
      progress = cursor.step(nodes.back(), {.nodes = 1});
    }
  }
  // Starts with node `first`.
  void give(StateBuilder& builder, std::size_t first, std::size_t last) const {
    if (first == 0) {
      for (const auto& [session, timeout_ms] : sessions) builder.session(session, timeout_ms);
      for (const auto& [key, list] : acls) builder.acl(key, list);
    }
    for (std::size_t i = first; i < last; ++i)
      nodes[i].for_each([&](const auto&... node) { builder.node(node...); });
  }

  Zxid zxid{};
  std::vector<std::pair<SessionId, std::int32_t>> sessions;
  std::vector<std::pair<std::int64_t, std::string>> acls;
  std::vector<SnapshotNodes> nodes;
};

class CopyReceiver final : public StateReceiver {
 public:
  static constexpr std::size_t kFrameBytes = 4;
  explicit CopyReceiver(const std::vector<StateCopy>& copies) : copies_(copies) {}
  void begin(StateBuilder& builder) override {
    builder_ = &builder;
    frames_ = 0;
  }
  std::optional<std::size_t> feed(std::string_view bytes) override {
    if (bytes.size() < kFrameBytes) return 0;
    const StateCopy& copy = copies_[wire::load_be<std::uint32_t>(bytes.data())];
    const std::size_t half = copy.nodes.size() / 2;
    copy.give(*builder_, frames_ == 0 ? 0 : half, frames_ == 0 ? half : copy.nodes.size());
    ++frames_;
    return kFrameBytes;
  }
  bool done() const override { return frames_ == 2; }

 private:
  const std::vector<StateCopy>& copies_;
  StateBuilder* builder_ = nullptr;
  int frames_ = 0;
};

}  // namespace drover::replica::testing
