// SPDX-License-Identifier: Apache-2.0
#include "recipes/locks/seat.h"
#include "recipes/common/steps.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <utility>

namespace drover::recipes {
namespace {

// A globally unique mark of one claim: session id and a counter of this process.
std::string new_claim(SessionId session) {
  static std::atomic<std::uint64_t> next{0};
  char text[48];
  std::snprintf(text, sizeof text, "0x%llx-%llu", static_cast<unsigned long long>(raw(session)),
                static_cast<unsigned long long>(++next));
  return text;
}

struct Claim {
  Client client;  // bound
  SeatOptions options;
  std::string name;
  std::string epoch_path() const { return epoch_path_of(options.path); }
};

// The seat, if this claim has it.
Task<Result<std::optional<Ticket>>> find_claimed(Claim claim, NodeData seat, Wait wait) {
  std::optional<Ticket> ticket;
  if (seat.stat.ephemeral_owner != claim.client.bound_session()) co_return ticket;
  auto reading = read_node(claim.client, claim.epoch_path(), nullptr, wait);
  const Result<NodeData> epoch = co_await std::move(reading);
  if (!epoch && epoch.error() == Errc::kNoNode) co_return ticket;
  if (!epoch) co_return std::unexpected(epoch.error());
  if (epoch->data == claim.name && epoch->stat.mzxid == seat.stat.czxid)
    ticket.emplace(claim.client, claim.options.path, seat.stat.czxid,
                   Op::check(claim.epoch_path(), epoch->stat.version));
  co_return ticket;
}

Task<Result<void>> sync_surely(Client client, std::string path, Wait wait) {
  for (;;) {
    auto syncing = client.sync(path, wait);
    Result<void> synced = co_await std::move(syncing);
    if (synced || !is_recoverable(synced.error())) co_return synced;
    CO_TRY(pause_before_retry(client, synced.error(), wait));
  }
}

// Removes what an abandoned claim may have created.
Task<Result<void>> clean_up(Claim claim) {
  auto syncing = sync_surely(claim.client, claim.options.path, Wait{});
  const Result<void> synced = co_await std::move(syncing);
  if (!synced) co_return synced;
  auto reading = read_node(claim.client, claim.options.path, nullptr, Wait{});
  Result<NodeData> seat = co_await std::move(reading);
  if (!seat) co_return std::unexpected(seat.error());
  auto finding = find_claimed(claim, *std::move(seat), Wait{});
  const Result<std::optional<Ticket>> found = co_await std::move(finding);
  co_return Result<void>{};
}

// A claim with an unknown outcome.
class Doubt {
 public:
  explicit Doubt(Claim claim) : claim_(std::move(claim)) {}
  Doubt(const Doubt&) = delete;
  Doubt& operator=(const Doubt&) = delete;
  ~Doubt() {
    if (open_) start(clean_up(claim_));
  }
  void begin() { open_ = true; }
  void settle() { open_ = false; }
  bool is_open() const { return open_; }

 private:
  Claim claim_;
  bool open_ = false;
};

Task<Result<void>> make_epoch(Claim claim, Wait wait) {
  for (;;) {
    auto making =
        claim.client.create(claim.epoch_path(), {}, {.acl = claim.options.acl, .parents = true}, wait);
    const Result<Created> made = co_await std::move(making);
    if (made || made.error() == Errc::kNodeExists) co_return Result<void>{};
    if (!is_recoverable(made.error())) co_return std::unexpected(made.error());
    CO_TRY(pause_before_retry(claim.client, made.error(), wait));
  }
}

Task<Result<std::vector<OpResult>>> claim_once(Claim claim, Wait wait) {
  std::vector<Op> ops;
  ops.push_back(Op::create(claim.options.path, claim.options.data,
                           {.mode = CreateMode::kEphemeral, .acl = claim.options.acl}));
  ops.push_back(Op::set(claim.epoch_path(), claim.name));
  return claim.client.multi(std::move(ops), std::move(wait));
}

// Tries to take the seat. Empty: it was not free, or the outcome is unknown, as `doubt` says.
Task<Result<std::optional<Ticket>>> try_claim(Claim claim, Doubt* doubt, Wait wait) {
  for (int makings = 0;; ++makings) {
    doubt->begin();
    auto claiming = claim_once(claim, wait);
    const Result<std::vector<OpResult>> claimed = co_await std::move(claiming);
    // Its node ends with its session.
    const bool over = !claimed && claimed.error().error_class() == ErrorClass::kUnrecoverable;
    if (claimed || over || !claimed.error().maybe_applied()) doubt->settle();
    if (claimed) {
      const Stat epoch = claimed->back().stat.value_or(Stat{});
      co_return Ticket(claim.client, claim.options.path, epoch.mzxid,
                       Op::check(claim.epoch_path(), epoch.version));
    }
    if (claimed.error() == Errc::kNodeExists) co_return std::optional<Ticket>{};
    if (is_recoverable(claimed.error())) {
      CO_TRY(pause_before_retry(claim.client, claimed.error(), wait));
      co_return std::optional<Ticket>{};
    }
    if (claimed.error() != Errc::kNoNode || makings == kTriesWithParents)
      co_return std::unexpected(claimed.error());
    auto making = make_epoch(claim, wait);
    const Result<void> made = co_await std::move(making);
    if (!made) co_return std::unexpected(made.error());
  }
}

struct SeatView {
  bool is_free = false;
  std::optional<Ticket> ours = {};
};

// Resolves the doubt, if there is one. `watch` reports the next change of the seat.
Task<Result<SeatView>> look_at_seat(Claim claim, Doubt* doubt, const Watch* watch, Wait wait) {
  if (doubt->is_open()) {
    auto syncing = sync_surely(claim.client, claim.options.path, wait);
    const Result<void> synced = co_await std::move(syncing);
    if (!synced) co_return std::unexpected(synced.error());
  }
  auto reading = read_node(claim.client, claim.options.path, watch, wait);
  Result<NodeData> seat = co_await std::move(reading);
  if (!seat && seat.error() == Errc::kNoNode) co_return SeatView{.is_free = true};
  if (!seat) co_return std::unexpected(seat.error());
  if (!doubt->is_open()) co_return SeatView{};
  auto finding = find_claimed(claim, *std::move(seat), wait);
  Result<std::optional<Ticket>> found = co_await std::move(finding);
  if (!found) co_return std::unexpected(found.error());
  doubt->settle();
  co_return SeatView{.ours = *std::move(found)};
}

}  // namespace

Task<Result<Ticket>> take_seat_in_session(Client bound, SeatOptions options, Wait wait) {
  const Claim claim{bound, options, new_claim(bound.bound_session())};
  const Wait steps = for_steps(bound, wait);
  Waker waker(bound);
  Doubt doubt(claim);
  Watch watch;
  for (;;) {
    auto claiming = try_claim(claim, &doubt, steps);
    Result<std::optional<Ticket>> claimed = co_await std::move(claiming);
    if (!claimed) co_return std::unexpected(claimed.error());
    if (*claimed) co_return **std::move(claimed);
    Watch next = waker.watch();
    auto looking = look_at_seat(claim, &doubt, &next, steps);
    Result<SeatView> look = co_await std::move(looking);
    watch = std::move(next);
    if (!look) co_return std::unexpected(look.error());
    if (look->ours) co_return *std::move(look->ours);
    if (look->is_free) continue;
    if (wait.is_poll()) co_return fail(Errc::kDeadline, options.path);
    auto waiting = waker.wait(wait);
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return std::unexpected(woken.error());
  }
}

Task<Result<Ticket>> take_seat(Client client, SeatOptions options, Wait wait) {
  auto there = client.scheduler().enter();
  co_await there;
  for (;;) {
    auto binding = bind_to_session(client, for_steps(client, wait));
    const Result<Client> bound = co_await std::move(binding);
    if (!bound) co_return std::unexpected(bound.error());
    auto taking = take_seat_in_session(*bound, options, wait);
    Result<Ticket> ticket = co_await std::move(taking);
    const bool again = !ticket && can_begin_again(client, ticket.error()) && !wait.is_over();
    if (!again) co_return ticket;
  }
}

}  // namespace drover::recipes
