// SPDX-License-Identifier: Apache-2.0
//
// A SASL exchange as the protocol code sees it: tokens in, tokens out. It knows no mechanism and no library.
//
// The pure folders and the links between servers use these interfaces; `src/sasl` implements them, and tests
// and the simulator have implementations of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace drover {

struct SaslStep {
  enum class Status : std::uint8_t {
    kContinue,  // send `token` and wait for the peer's next one
    kDone,      // the exchange has succeeded on this side; send `token` if there is one
    kFailed,    // final; `reason` says why
  };
  Status status = Status::kFailed;
  std::optional<std::string> token = {};
  std::string reason = {};  // one line for the log, without secrets
};

// One side of one exchange. Each call runs to completion; a client's first step may ask a KDC, so it belongs
// on a thread that may block.
class SaslConversation {
 public:
  virtual ~SaslConversation() = default;
  // `token` is hostile input. After kDone or kFailed there are no further steps.
  virtual SaslStep step(std::string_view token) = 0;
  // On the server's side, after kDone: whom the peer has proven to be, with the rules for Kerberos names
  // applied ("bob", "hbase/node1@EXAMPLE.COM").
  virtual const std::string& authorization_id() const = 0;
};

// Starts exchanges, one per connection that asks for one. Safe to call from any thread.
class SaslFactory {
 public:
  virtual ~SaslFactory() = default;
  virtual std::unique_ptr<SaslConversation> start() = 0;
};

}  // namespace drover
