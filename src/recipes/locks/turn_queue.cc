// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/turn_queue.h"

#include <utility>

#include "recipes/locks/holding.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {
namespace {

LineOptions line_options(const std::string& path, const std::vector<Acl>& acl) {
  LineOptions line;
  line.directory = path;
  line.marker = "t-";
  line.markers = {"t-"};
  line.acl = acl;
  line.layout = Layout::kNative;
  return line;
}

Task<Result<Guard>> take_turn(Client client, LineOptions line, Wait wait) {
  auto acquiring = acquire_turn(std::move(client), std::move(line), std::move(wait));
  Result<Ticket> ticket = co_await std::move(acquiring);
  if (!ticket) co_return std::unexpected(std::move(ticket).error());
  co_return hold(*std::move(ticket));
}

Task<Result<std::vector<Turn>>> read_turns(Client client, LineOptions line, Wait wait) {
  auto listing = participants_of(client, std::move(line), wait);
  const Result<std::vector<std::string>> nodes = co_await std::move(listing);
  if (!nodes) co_return std::unexpected(nodes.error());
  std::vector<Turn> turns;
  for (const std::string& node : *nodes) {
    auto reading = read_node(client, node, nullptr, wait);
    Result<NodeData> data = co_await std::move(reading);
    if (!data && data.error() == Errc::kNoNode) continue;  // It has just left.
    if (!data) co_return std::unexpected(data.error());
    turns.push_back({node, std::move(data->data), data->stat.czxid});
  }
  co_return turns;
}

}  // namespace

TurnQueue::TurnQueue(Client client, std::string path, std::vector<Acl> acl)
    : client_(std::move(client)), path_(std::move(path)), acl_(std::move(acl)) {}

Task<Result<Guard>> TurnQueue::take(std::string payload, Wait wait) const {
  LineOptions line = line_options(path_, acl_);
  line.data = std::move(payload);
  return take_turn(client_, std::move(line), std::move(wait));
}

Task<Result<std::vector<Turn>>> TurnQueue::waiting(Wait wait) const {
  return read_turns(client_, line_options(path_, acl_), std::move(wait));
}

}  // namespace drover::recipes
