// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/session.h"

#include <fmt/format.h>

#include <utility>

namespace drover::cli::observe {
namespace {

// Wait before retrying a refused request.
constexpr std::chrono::milliseconds kPauseAfterError{10};

template <class T>
Result<void> without_value(const Result<T>& result) {
  if (!result) return std::unexpected(result.error());
  return {};
}

}  // namespace

std::string key_path(const Plan& plan, std::uint64_t i) { return fmt::format("{}/k{}", plan.root, i); }

BenchSession::BenchSession(Client client, const Plan& plan, std::shared_ptr<const Phases> phases, int number)
    : client_(std::move(client)),
      plan_(plan),
      phases_(std::move(phases)),
      number_(number),
      data_(static_cast<std::size_t>(plan.size), 'x'),
      random_(0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(number + 1)) {}

// xorshift64*: the choice of node must be fast, not unpredictable.
std::string BenchSession::random_key() {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return key_path(plan_, (random_ * 0x2545F4914F6CDD1DULL >> 33) % static_cast<std::uint64_t>(plan_.keys));
}

bool BenchSession::is_read() {
  if (plan_.load != Load::kMixed) return plan_.load == Load::kGet;
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<double>(random_ % 10'000) < plan_.reads * 100;
}

Task<Result<void>> BenchSession::request(Self self) {
  if (self->plan_.load == Load::kCreate) {
    auto creating = self->client_.create(
        fmt::format("{}/s{}/n{}", self->plan_.root, self->number_, self->created_++), self->data_);
    const Result<Created> created = co_await std::move(creating);
    co_return without_value(created);
  }
  if (self->is_read()) {
    auto reading = self->client_.get(self->random_key());
    const Result<NodeData> node = co_await std::move(reading);
    if (node && node->data.size() != self->data_.size())
      co_return fail(Errc::kBadData, {}, "data of another length");
    co_return without_value(node);
  }
  auto writing = self->client_.set(self->random_key(), self->data_);
  const Result<Stat> stat = co_await std::move(writing);
  co_return without_value(stat);
}

void BenchSession::count(Steady::time_point due, Steady::time_point end) {
  if (due < phases_->counts_from() || due >= phases_->until()) return;
  last_end_.store(end, std::memory_order_relaxed);
  latencies_.add(std::chrono::duration_cast<std::chrono::nanoseconds>(end - due).count());
}

void BenchSession::count_error(const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++errors_[what];
}

std::map<std::string, std::uint64_t> BenchSession::errors() const {
  const std::lock_guard lock(mutex_);
  return errors_;
}

// False: the session is over.
Task<bool> BenchSession::perform(Self self, Steady::time_point due) {
  auto asking = request(self);
  const Result<void> done = co_await std::move(asking);
  if (done) {
    self->count(due, Steady::now());
    co_return true;
  }
  if (done.error() == Errc::kClosed) co_return false;
  if (due >= self->phases_->counts_from()) self->count_error(std::string(name_of(done.error().code)));
  auto pausing = self->client_.scheduler().sleep(Wait::within(kPauseAfterError));
  const Result<void> paused = co_await std::move(pausing);
  co_return paused.has_value();
}

Task<bool> BenchSession::run_closed(Self self) {
  for (;;) {
    const auto now = Steady::now();
    if (self->phases_->are_over(now)) co_return true;
    auto performing = perform(self, now);
    const bool goes_on = co_await std::move(performing);
    if (!goes_on) co_return false;
  }
}

void BenchSession::begin_closed() {
  for (int i = 0; i < plan_.in_flight; ++i) {
    hold();
    start(run_on(client_.scheduler(), run_closed(shared_from_this())),
          [self = shared_from_this()](bool) { self->let_go(); });
  }
}

// Sends a request that is due, then waiting ones; their latency counts from when they were due.
Task<bool> BenchSession::run_due(Self self, Steady::time_point due) {
  for (;;) {
    auto performing = perform(self, due);
    const bool goes_on = co_await std::move(performing);
    if (!goes_on || self->waiting_.empty()) co_return goes_on;
    due = self->waiting_.front();
    self->waiting_.pop_front();
  }
}

void BenchSession::arrive(Steady::time_point due) {
  hold();
  client_.scheduler().post([self = shared_from_this(), due] {
    if (self->busy_ == self->plan_.in_flight) {
      self->waiting_.push_back(due);
      self->let_go();
      return;
    }
    ++self->busy_;
    start(run_due(self, due), [self](bool) {
      --self->busy_;
      self->let_go();
    });
  });
}

}  // namespace drover::cli::observe
