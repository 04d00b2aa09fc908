// SPDX-License-Identifier: Apache-2.0
//
// One operation that a caller waits for: a reply, a deadline, or the end of the session.
//
// It goes from the caller to the engine as a Command, and back to the executor as a Job, exactly once.
// In between the engine owns it; before and after, the caller does.
#pragma once

#include <coroutine>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "client/driver.h"
#include "client/watch_table.h"
#include "drover/error.h"
#include "wire/records.h"
#include "wire/replies.h"

namespace drover::client {

inline constexpr Instant kNever{std::numeric_limits<std::int64_t>::max()};

class Call : public Command, public Job, public std::enable_shared_from_this<Call> {
 public:
  enum class Kind : std::uint8_t {
    kRequest,
    kAuth,   // `path` is the scheme, `body` the credentials
    kTimer,  // until the deadline
    kClose,  // until the session is over
  };
  virtual ~Call() = default;

  // --- used by the caller, before ---
  Kind kind = Kind::kRequest;
  wire::OpCode op{};
  std::string body;
  std::string path;       // with the chroot
  std::size_t strip = 0;  // length of the chroot, which the caller does not see
  SessionId bound{};      // only valid in this session; 0: in any
  Instant deadline = kNever;
  std::shared_ptr<WatchState> watch;
  WatchSlot slot{};
  std::coroutine_handle<> waiting;  // null: the caller no longer waits

  // --- used by the engine ---
  virtual void on_answer(const wire::ReplyHeader& header, std::string_view reply) = 0;
  virtual void on_error(Error error) = 0;
  enum class Stage : std::uint8_t { kNew, kUnderWay, kEnded };
  Stage stage = Stage::kNew;
  std::optional<Errc> cancelled;         // before the engine got it
  std::shared_ptr<Call> session_holds;   // until the session has answered
  std::shared_ptr<Call> executor_holds;  // on its way back
  std::optional<std::multimap<Instant, Call*>::iterator> timer;

  // --- used by the caller again, on the executor ---
  virtual void on_ended() {
    if (waiting) std::exchange(waiting, nullptr).resume();
  }

  // --- both ways ---
  void run(Engine& engine, Instant now) final;  // Command
  void run() final {                            // Job
    const auto self = std::move(executor_holds);
    on_ended();
  }
  void discard() final { const auto self = std::move(executor_holds); }
};

// A call with a typed result. Decode is a function (reader, error, call) -> Result<T>.
template <class T>
class CallOf final : public Call {
 public:
  using Decode = Result<T> (*)(wire::Reader& reader, const Call& call);
  explicit CallOf(Decode decode) : decode_(decode) {}

  void on_answer(const wire::ReplyHeader& header, std::string_view reply) override;
  void on_error(Error error) override { result.emplace(std::unexpected(std::move(error))); }

  std::optional<Result<T>> result;

 private:
  Decode decode_;
};

// An error reply. After some errors it is unknown whether the operation was applied.
Error error_of(ErrorCode code);

template <class T>
void CallOf<T>::on_answer(const wire::ReplyHeader& header, std::string_view reply) {
  // For exists(), NoNode is a normal reply.
  const bool asked_whether = op == wire::OpCode::kExists && header.error == ErrorCode::kNoNode;
  if (header.error != ErrorCode::kOk && !asked_whether) return on_error(error_of(header.error));
  wire::Reader reader(reply);
  result.emplace(decode_(reader, *this));
  if (!reader.ok()) on_error(Error{Errc::kBadReply, Applied::kMaybe});
}

}  // namespace drover::client
