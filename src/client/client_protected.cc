// SPDX-License-Identifier: Apache-2.0
//
// Creates and removes nodes despite lost connections: exactly one node, and none left behind.
//
// After a lost reply, a sync and a read of the children decide. Servers refuse a late copy of the request
// once the session is on another connection, sync waits for everything accepted before it, and the client
// never connects to a server that has seen less than it has.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/child_path.h"
#include "client/client_calls.h"

namespace drover {

using client::ClientCore;

namespace {

constexpr std::chrono::milliseconds kPause{50};

bool is_ephemeral(CreateMode mode) {
  return mode == CreateMode::kEphemeral || mode == CreateMode::kEphemeralSequential;
}

bool is_recoverable(const Error& error) { return error.error_class() == ErrorClass::kRecoverable; }

}  // namespace

std::string ClientCore::new_uuid() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string uuid;
  std::uint64_t bits = 0;
  for (int i = 0; i < 32; ++i) {
    if (i % 16 == 0) bits = names_.next();
    unsigned digit = bits & 15;
    bits >>= 4;
    if (i == 12) digit = 4;                // the version: random
    if (i == 16) digit = 8 | (digit & 3);  // the variant
    if (i == 8 || i == 12 || i == 16 || i == 20) uuid += '-';
    uuid += kDigits[digit];
  }
  return uuid;
}

// A protected create with an unknown outcome. If it is cancelled, the node it may have created is removed.
class Client::Calls::Attempt {
 public:
  Attempt(const Client& client, std::string parent, std::string prefix)
      : client_(client), parent_(std::move(parent)), prefix_(std::move(prefix)) {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    if (open_) start(clean_up(client_, parent_, prefix_));
  }
  void begin() { open_ = true; }
  void settle() { open_ = false; }

 private:
  Client client_;
  std::string parent_;
  std::string prefix_;
  bool open_ = false;
};

Task<Result<void>> Client::Calls::pause(Client c, Wait wait) {
  return c.scheduler().sleep(Wait::until(std::min(wait.deadline, Clock::now() + kPause), wait.stop));
}

// Success: try again. Without a connection the next try waits by itself. After a temporary refusal by a
// server it must wait here, because an immediate retry would be refused, too.
Task<Result<void>> Client::Calls::before_next_try(Client c, Error error, Wait wait) {
  if (!is_recoverable(error)) co_return std::unexpected(std::move(error));
  if (error == Errc::kConnectionLoss) co_return Result<void>{};
  auto pausing = pause(c, wait);
  co_return co_await std::move(pausing);
}

// The same for work that may continue in the next session, if there is one.
Task<Result<void>> Client::Calls::before_next_session(Client c, Error error, Wait wait) {
  if (error != Errc::kSessionExpired || c.bound_session() != SessionId{}) {
    auto trying = before_next_try(c, std::move(error), std::move(wait));
    co_return co_await std::move(trying);
  }
  if (c.state() != ConnectionState::kExpired) co_return Result<void>{};
  auto pausing = pause(c, wait);
  const Result<void> paused = co_await std::move(pausing);
  if (paused && c.state() == ConnectionState::kExpired) co_return std::unexpected(std::move(error));
  co_return paused;
}

// Children whose names have this prefix, after a sync.
Task<Result<std::vector<std::string>>> Client::Calls::find(Client c, std::string parent, std::string prefix,
                                                           Wait wait) {
  std::vector<std::string> found;
  for (;;) {
    auto syncing = c.sync(parent, wait);
    Result<void> done = co_await std::move(syncing);
    if (done) {
      auto reading = c.children(parent, wait);
      Result<Children> children = co_await std::move(reading);
      if (!children && children.error() == Errc::kNoNode) co_return found;
      if (children) {
        for (std::string& name : children->names) {
          if (name.starts_with(prefix)) found.push_back(child_path(parent, name));
        }
        co_return found;
      }
      done = std::unexpected(std::move(children).error());
    }
    auto pausing = before_next_try(c, std::move(done).error(), wait);
    const Result<void> again = co_await std::move(pausing);
    if (!again) co_return std::unexpected(again.error());
  }
}

// The node that a protected create made, if it did.
Task<Result<std::optional<Created>>> Client::Calls::find_made(Client c, std::string parent,
                                                              std::string prefix, Wait wait) {
  for (;;) {
    auto finding = find(c, parent, prefix, wait);
    const Result<std::vector<std::string>> found = co_await std::move(finding);
    if (!found) co_return std::unexpected(found.error());
    if (found->empty()) co_return std::optional<Created>{};
    auto looking = c.exists(found->front(), wait);
    const Result<std::optional<Stat>> stat = co_await std::move(looking);
    if (stat && *stat) co_return std::optional(Created{found->front(), **stat});
    if (stat) continue;
    auto trying = before_next_try(c, stat.error(), wait);
    const Result<void> again = co_await std::move(trying);
    if (!again) co_return std::unexpected(again.error());
  }
}

// Retries until it is done or there is no session. For an ephemeral node the client is bound to its session,
// whose end removes the node anyway.
Task<Result<void>> Client::Calls::clean_up(Client c, std::string parent, std::string prefix) {
  for (;;) {
    auto finding = find(c, parent, prefix, Wait{});
    const Result<std::vector<std::string>> found = co_await std::move(finding);
    if (!found) {
      auto pausing = before_next_session(c, found.error(), Wait{});
      const Result<void> again = co_await std::move(pausing);
      if (!again) co_return again;
      continue;
    }
    for (const std::string& path : *found) {
      auto removing = remove_until_gone(c, path, std::nullopt, Wait{});
      const Result<void> removed = co_await std::move(removing);
      if (!removed) co_return removed;
    }
    co_return Result<void>{};
  }
}

Task<Result<Created>> Client::Calls::create_protected(Client c, std::string path, std::string data,
                                                      CreateOptions options, Wait wait) {
  auto there = c.scheduler().enter();
  co_await there;
  if (const auto refused = client::refusal_of_path(path, c.full_path(path) + "1")) {
    co_return std::unexpected(*refused);
  }
  const bool ephemeral = is_ephemeral(options.mode);
  if (ephemeral && c.bound_session() == SessionId{}) {
    auto connecting = wait_until_connected(c, wait);
    const Result<Client> connected = co_await std::move(connecting);
    if (!connected) co_return std::unexpected(connected.error());
    c = connected->bound();
  }
  const std::string parent(parent_or_root(path));
  const std::string prefix = "_c_" + core(c)->new_uuid() + "-";
  const std::string name = child_path(parent, prefix + std::string(base_name(path)));
  Attempt attempt(c, parent, prefix);
  for (;;) {
    attempt.begin();
    auto creating = c.create(name, data, options, wait);
    Result<Created> created = co_await std::move(creating);
    const bool gone = !created && ephemeral && created.error().error_class() == ErrorClass::kUnrecoverable;
    if (created || !created.error().maybe_applied() || gone) attempt.settle();
    if (gone) created.error().applied = Applied::kNo;  // It ended with its session.
    if (created || !is_recoverable(created.error())) co_return created;
    auto pausing = before_next_try(c, created.error(), wait);
    const Result<void> again = co_await std::move(pausing);
    if (!again) co_return std::unexpected(again.error());
    if (!created.error().maybe_applied()) continue;

    auto finding = find_made(c, parent, prefix, wait);
    const Result<std::optional<Created>> found = co_await std::move(finding);
    if (!found) co_return std::unexpected(found.error());
    if (!*found) continue;  // It was not applied and never will be.
    if (ephemeral && (*found)->stat.ephemeral_owner != c.bound_session())
      co_return fail(Errc::kSessionExpired, path);
    attempt.settle();
    co_return **found;
  }
}

Task<Result<Created>> Client::create_protected(std::string path, std::string data, CreateOptions options,
                                               Wait wait) const {
  return Calls::create_protected(Calls::borrowed(*this), std::move(path), std::move(data), std::move(options),
                                 std::move(wait));
}

// --- removal ---

// Continues in the background when it is cancelled.
class Client::Calls::Removal {
 public:
  Removal(const Client& client, std::string path, std::optional<Zxid> czxid)
      : client_(client), path_(std::move(path)), czxid_(czxid) {}
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  ~Removal() {
    if (open_) client_.ensure_deleted(path_, czxid_);
  }
  void settle() { open_ = false; }

 private:
  Client client_;
  std::string path_;
  std::optional<Zxid> czxid_;
  bool open_ = true;
};

// The version to remove; none: the node is gone.
Task<Result<std::optional<Version>>> Client::Calls::version_of(Client c, std::string path, Zxid czxid,
                                                               Wait wait) {
  for (;;) {
    auto syncing = c.sync(path, wait);
    Result<void> done = co_await std::move(syncing);
    if (done) {
      auto looking = c.exists(path, wait);
      Result<std::optional<Stat>> stat = co_await std::move(looking);
      if (stat && *stat && (*stat)->czxid == czxid) co_return std::optional((*stat)->version);
      if (stat) co_return std::optional<Version>{};
      done = std::unexpected(std::move(stat).error());
    }
    auto trying = before_next_try(c, std::move(done).error(), wait);
    const Result<void> again = co_await std::move(trying);
    if (!again) co_return std::unexpected(again.error());
  }
}

// With a czxid, each try first checks that it is still the same node: an earlier try may have succeeded, and
// another client may have created the name again.
Task<Result<void>> Client::Calls::remove_until_gone(Client c, std::string path, std::optional<Zxid> czxid,
                                                    Wait wait) {
  for (;;) {
    Version version = Version::kAny;
    if (czxid) {
      auto looking = version_of(c, path, *czxid, wait);
      const Result<std::optional<Version>> found = co_await std::move(looking);
      if (!found) co_return std::unexpected(found.error());
      if (!*found) co_return Result<void>{};
      version = **found;
    }
    auto removing = c.remove(path, version, wait);
    Result<void> removed = co_await std::move(removing);
    if (removed || removed.error() == Errc::kNoNode) co_return Result<void>{};
    if (czxid && removed.error() == Errc::kBadVersion) continue;
    auto trying = before_next_session(c, std::move(removed).error(), wait);
    const Result<void> again = co_await std::move(trying);
    if (!again) co_return again;
  }
}

Task<Result<void>> Client::Calls::remove_surely(Client c, std::string path, std::optional<Zxid> czxid,
                                                Wait wait) {
  Removal removal(c, path, czxid);
  auto removing = remove_until_gone(c, path, czxid, wait);
  const Result<void> removed = co_await std::move(removing);
  // Cancelled, not failed: it continues in the background.
  if (removed || removed.error().error_class() != ErrorClass::kCancelled) removal.settle();
  co_return removed;
}

Task<Result<void>> Client::remove_surely(std::string path, std::optional<Zxid> czxid, Wait wait) const {
  return Calls::remove_surely(Calls::borrowed(*this), std::move(path), czxid, std::move(wait));
}

void Client::ensure_deleted(std::string path, std::optional<Zxid> czxid) const {
  start(Calls::remove_until_gone(Calls::borrowed(*this), std::move(path), czxid, Wait{}));
}

}  // namespace drover
