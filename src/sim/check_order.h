// SPDX-License-Identifier: Apache-2.0
//
// One history: which server leads when, what comes after what, and that nothing committed is ever lost
// (I1-I4).
//
// A zxid names one transaction, because one leader proposes in an epoch. Its predecessor is the one with the
// counter before it or, for the first of an epoch, the end of the history that the new leader took over. So
// all transactions form a tree, and what is committed must be one path in it: every transaction that a
// serving server applies, or that a client is told of, extends that path or lies on it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.h"
#include "base/time.h"
#include "sim/oracle_failures.h"
#include "wire/txns.h"

namespace drover::sim {

// The server or client that has seen something, for messages.
struct Witness {
  std::string_view what;
  std::int64_t number = 0;
};
inline void append_text(std::string& out, const Witness& witness) {
  out.append(witness.what).append(" ").append(std::to_string(witness.number));
}

class CheckOrder {
 public:
  // Called for every transaction once, in order, when it is committed. Returns the digests after it with
  // set_model_digests().
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_committed(std::string_view entry, const wire::TxnEntry& txn) = 0;
  };

  CheckOrder(Failures& failures, Listener& listener) : failures_(failures), listener_(listener) {}

  void begin_with(std::string_view entry);
  void on_known(std::string_view entry);
  void on_applied(ServerId server, Zxid zxid, std::string_view entry, std::optional<std::uint64_t> digest,
                  bool serving);
  void on_state(ServerId server, Zxid zxid, std::optional<std::uint64_t> tree_digest,
                std::optional<std::uint64_t> sessions_digest);
  // A standalone server starts, with a history up to `last`.
  void on_standalone(ServerId server, Zxid last, Instant now);
  void on_established(ServerId server, std::uint32_t epoch, Zxid last, Instant now);
  // A client has seen the state at `zxid`, so it is committed. False if there is no such state.
  bool on_seen(Zxid zxid, const Witness& witness);
  // Call during Listener::on_committed().
  void set_model_digests(std::uint64_t tree, std::uint64_t sessions);
  void on_settled(ServerId server, Zxid zxid, std::uint64_t tree_digest, std::uint64_t sessions_digest);

  Zxid last_committed() const { return last_; }
  bool is_committed(Zxid zxid) const;
  struct Reign {
    ServerId server{};
    Zxid last{};  // of the history it took over
    Instant since;
  };
  const Reign* reign(std::uint32_t epoch) const;

 private:
  struct Txn {
    std::uint64_t hash = 0;
    bool committed = false;
    std::uint64_t tree_digest = 0;  // of the model, once committed
    std::uint64_t sessions_digest = 0;
    std::optional<std::uint64_t> reported;  // a server's tree digest, until the model has its own
    ServerId reported_by{};
    std::string entry;  // until it is committed
  };
  struct Server {
    std::uint32_t led = 0;  // its last epoch as a leader
    Zxid position{};
    bool known = false;  // otherwise it has reported nothing yet
  };

  Txn* learn(Zxid zxid, std::string_view entry);
  // The zxid that must come directly before; nullopt if the epoch's beginning was not seen.
  std::optional<Zxid> predecessor(Zxid zxid) const;
  bool commit(Zxid zxid, const Witness& witness);
  bool commit_one(Txn& txn);
  void compare_tree(ServerId server, Zxid zxid, Txn& txn, std::uint64_t digest);

  Failures& failures_;
  Listener& listener_;
  boost::unordered_flat_map<Zxid, Txn> txns_;
  std::map<ServerId, Server> servers_;
  bool standalone_ = false;  // then zxids are contiguous across epochs
  std::map<std::uint32_t, Reign> reigns_;
  Zxid last_{};
  Txn* committing_ = nullptr;
  bool lost_track_ = false;  // the model cannot follow any more
};

}  // namespace drover::sim
