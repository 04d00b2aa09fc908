// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/leader_latch.h"

#include <utility>

#include "recipes/elections/election.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {
namespace {

LineOptions line_options(std::string path, std::string id, const LeaderLatchOptions& options) {
  LineOptions line;
  line.directory = std::move(path);
  line.marker = "latch-";
  line.markers = {"latch-"};
  line.data = std::move(id);
  line.acl = options.acl;
  line.layout = options.layout;
  return line;
}

}  // namespace

struct LeaderLatch::State {
  Client client;
  LineOptions line;
  std::shared_ptr<Election> election;
};

LeaderLatch::LeaderLatch(Client client, std::string path, std::string id, LeaderLatchOptions options) {
  LineOptions line = line_options(std::move(path), std::move(id), options);
  auto election = Election::begin(client, options.loss, [line](Client where, Wait wait) {
    return acquire_turn(std::move(where), line, std::move(wait));
  });
  state_.reset(new State{std::move(client), std::move(line), std::move(election)});
}

LeaderLatch& LeaderLatch::operator=(LeaderLatch&& other) noexcept {
  if (state_ && this != &other) state_->election->stop();
  state_ = std::move(other.state_);
  return *this;
}

LeaderLatch::~LeaderLatch() {
  if (state_) state_->election->stop();
}

bool LeaderLatch::is_leader() const { return state_->election->is_leader(); }
Task<Result<Leadership>> LeaderLatch::await(Wait wait) const {
  return Election::await(state_->election, std::move(wait));
}
Task<Result<void>> LeaderLatch::resign(Wait wait) {
  return Election::resign(state_->election, std::move(wait));
}
Stream<bool> LeaderLatch::changes() const { return Election::changes(state_->election); }

// --- looks ---

namespace {

Task<Result<std::vector<Participant>>> look_at(Client client, LineOptions line, std::size_t most, Wait wait) {
  auto listing = participants_of(client, std::move(line), wait);
  const Result<std::vector<std::string>> nodes = co_await std::move(listing);
  if (!nodes) co_return std::unexpected(nodes.error());
  std::vector<Participant> found;
  for (const std::string& node : *nodes) {
    auto reading = read_node(client, node, nullptr, wait);
    const Result<NodeData> data = co_await std::move(reading);
    if (!data && data.error() == Errc::kNoNode) continue;  // It has just left.
    if (!data) co_return std::unexpected(data.error());
    found.push_back({data->data, node, found.empty()});
    if (found.size() == most) break;
  }
  co_return found;
}

Task<Result<std::optional<Participant>>> first_of(Task<Result<std::vector<Participant>>> looking) {
  Result<std::vector<Participant>> found = co_await std::move(looking);
  if (!found) co_return std::unexpected(found.error());
  if (found->empty()) co_return std::optional<Participant>{};
  co_return std::optional(found->front());
}

}  // namespace

Task<Result<std::vector<Participant>>> LeaderLatch::participants(Wait wait) const {
  return look_at(state_->client, state_->line, static_cast<std::size_t>(-1), std::move(wait));
}
Task<Result<std::optional<Participant>>> LeaderLatch::leader(Wait wait) const {
  return first_of(look_at(state_->client, state_->line, 1, std::move(wait)));
}

}  // namespace drover::recipes
