// SPDX-License-Identifier: Apache-2.0
#include "client/rebalance.h"

namespace drover::client {
namespace {

double ratio(std::size_t part, std::size_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double chance_to_leave(const ListChange& change) {
  const std::size_t after = change.kept + change.added;
  if (!change.current_kept) return 1;
  return after > change.before ? 1 - ratio(change.before, after) : 0;
}

// In a list that did not grow, only clients of removed servers move. Each kept server must get from 1/before
// to 1/after of all clients, and the clients that move are (before - kept)/before of all:
//
//   kept * (1/after - 1/before) / ((before - kept)/before) = kept * (before - after) / (after * (before -
//   kept))
double chance_of_added(const ListChange& change) {
  const std::size_t after = change.kept + change.added;
  if (change.added == 0) return 0;
  if (change.kept == 0 || after > change.before) return 1;
  if (change.kept >= change.before) return ratio(change.added, after);
  return 1 - ratio(change.kept * (change.before - after), after * (change.before - change.kept));
}

}  // namespace drover::client
