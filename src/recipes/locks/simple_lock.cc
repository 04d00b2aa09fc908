// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/simple_lock.h"

#include <utility>

#include "recipes/locks/holding.h"
#include "recipes/locks/seat.h"

namespace drover::recipes {
namespace {

Task<Result<Guard>> acquire_seat(Client client, SeatOptions options, Wait wait) {
  auto taking = take_seat(std::move(client), std::move(options), std::move(wait));
  Result<Ticket> ticket = co_await std::move(taking);
  if (!ticket) co_return std::unexpected(std::move(ticket).error());
  co_return hold(*std::move(ticket));
}

}  // namespace

SimpleLock::SimpleLock(Client client, std::string path, SimpleLockOptions options)
    : client_(std::move(client)), path_(std::move(path)), options_(std::move(options)) {}

Task<Result<Guard>> SimpleLock::acquire(Wait wait) const {
  return acquire_seat(client_, {path_, options_.data, options_.acl}, std::move(wait));
}

}  // namespace drover::recipes
