// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/stm.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "recipes/common/settle.h"
#include "recipes/common/steps.h"

namespace drover::recipes {
namespace {

// Another client changed what was read. A node that was never read, or the parent of a new one, may never
// have existed, so a retry would not help.
bool is_conflict(const Error& error, bool has_seen_node) {
  if (error == Errc::kNoNode) return has_seen_node;
  return error == Errc::kBadVersion || error == Errc::kNodeExists;
}

Task<Result<void>> pause(Client client, int tries, std::uint64_t& random, Wait wait) {
  const auto until = Clock::now() + pause_after_conflict(tries, random);
  if (until > wait.deadline) co_return fail(Errc::kDeadline);
  auto sleeping = client.scheduler().sleep(Wait::until(until, wait.stop));
  co_return co_await std::move(sleeping);
}

}  // namespace

Task<Result<std::optional<std::string>>> Stm::Transaction::get(std::string path) {
  return read(*this, std::move(path));
}

Task<Result<std::optional<std::string>>> Stm::Transaction::read(Transaction& self, std::string path) {
  if (const auto written = self.writes_.find(path); written != self.writes_.end()) {
    co_return written->second.data;
  }
  if (!self.reads_.contains(path)) {
    auto getting = self.client_.get(path, self.wait_);
    Result<NodeData> node = co_await std::move(getting);
    if (!node && node.error() != Errc::kNoNode) co_return std::unexpected(node.error());
    self.reads_[path].node = node ? std::optional(*std::move(node)) : std::nullopt;
  }
  const std::optional<NodeData>& node = self.reads_[path].node;
  std::optional<std::string> data;
  if (node) data = node->data;
  co_return data;
}

void Stm::Transaction::set(std::string path, std::string data) {
  writes_[std::move(path)].data = std::move(data);
}
void Stm::Transaction::remove(std::string path) { writes_[std::move(path)].data.reset(); }

// Parents before children where nodes are made, and children before parents where they are removed: paths in
// their order, and in the reverse of it.
Result<std::vector<Op>> Stm::Transaction::ops() const {
  std::vector<Op> checks;
  std::vector<Op> sets;
  std::vector<Op> removes;
  for (const auto& [path, read] : reads_) {
    if (writes_.contains(path)) continue;
    if (!read.node)
      return fail(Errc::kBadArguments, path, "it was read as missing, so the function must create it");
    checks.push_back(Op::check(path, read.node->stat.version));
  }
  for (const auto& [path, write] : writes_) {
    const auto read = reads_.find(path);
    const bool was_read = read != reads_.end();
    const bool missing = was_read && !read->second.node;
    const Version version = was_read && !missing ? read->second.node->stat.version : Version::kAny;
    if (missing && !write.data)
      return fail(Errc::kBadArguments, path, "it was read as missing, so it cannot be removed");
    if (missing) sets.push_back(Op::create(path, *write.data));
    if (!missing && write.data) sets.push_back(Op::set(path, *write.data, version));
    if (!missing && !write.data) removes.push_back(Op::remove(path, version));
  }
  checks.insert(checks.end(), sets.begin(), sets.end());
  checks.insert(checks.end(), removes.rbegin(), removes.rend());
  return checks;
}

// False: it was not done, and is to be tried again.
Task<Result<bool>> Stm::commit(Transaction& transaction) {
  Result<std::vector<Op>> ops = transaction.ops();
  if (!ops) co_return std::unexpected(ops.error());
  if (ops->empty()) co_return true;
  auto committing = transaction.client_.multi(*ops, transaction.wait_);
  const Result<std::vector<OpResult>> done = co_await std::move(committing);
  if (done) co_return true;
  const Error& error = done.error();
  const auto failed = static_cast<std::size_t>(std::max(0, error.op_index));
  const auto read = transaction.reads_.find(failed < ops->size() ? ops->at(failed).path : error.path);
  if (is_conflict(error, read != transaction.reads_.end() && read->second.node)) co_return false;
  if (error.error_class() != ErrorClass::kRecoverable) co_return std::unexpected(error);
  if (!error.maybe_applied()) co_return false;
  auto finding = find_out(transaction, error);
  co_return co_await std::move(finding);
}

// A node that was read and written, and is as it was read, has not been written. Without a write it does not
// matter: it is tried again.
Task<Result<bool>> Stm::find_out(Transaction& transaction, Error lost) {
  if (transaction.writes_.empty()) co_return false;
  for (const auto& [path, write] : transaction.writes_) {
    const auto read = transaction.reads_.find(path);
    if (read == transaction.reads_.end()) continue;
    auto reading = read_now(transaction.client_, path, transaction.wait_);
    const Result<std::optional<NodeData>> now = co_await std::move(reading);
    if (!now) co_return std::unexpected(lost);
    const auto& before = read->second.node;
    const bool same = before ? *now && (*now)->stat.mzxid == before->stat.mzxid : !*now;
    if (same) co_return false;
    break;
  }
  co_return std::unexpected(lost);
}

Task<Result<void>> Stm::run_all(Client client, Body body, Wait wait) {
  auto there = client.scheduler().enter();
  co_await there;
  std::uint64_t random = static_cast<std::uint64_t>(raw(client.session())) ^ 0x9E3779B97F4A7C15ull;
  for (int tries = 1;; ++tries) {
    Transaction transaction(client, wait);
    auto running = body(transaction);
    const Result<void> ran = co_await std::move(running);
    const bool lost = !ran && ran.error().error_class() == ErrorClass::kRecoverable;
    if (!ran && !lost) co_return ran;
    if (ran) {
      auto committing = commit(transaction);
      const Result<bool> done = co_await std::move(committing);
      if (!done) co_return std::unexpected(done.error());
      if (*done) co_return Result<void>{};
    }
    auto pausing = pause(client, tries, random, wait);
    const Result<void> paused = co_await std::move(pausing);
    if (!paused) co_return paused;
  }
}

}  // namespace drover::recipes
