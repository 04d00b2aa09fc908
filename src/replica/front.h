// SPDX-License-Identifier: Apache-2.0
//
// One I/O thread's part of the server's logic: its connections' requests, their order, their watches, and
// reads.
//
// Pure like the Replica: bytes come in, bytes and batches go out. The front answers a read from the shared
// tree. If a write of the same connection is still on its way, the read waits behind it, so that replies come
// in the order of requests and a client reads its own writes.
//
// Two threads call a front, never at the same time. The I/O thread holds its reader lock on the tree around
// open(), close(), collect() and on_bytes(), in this order. The replica's thread calls on_events(),
// on_result() and on_session_answer() while it holds the writer lock, transaction by transaction. Their
// output is staged, and collect() moves it into the connections' outputs before new requests may read. So an
// event is in the output before any reply that could show its change.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/client_limits.h"
#include "base/error_code.h"
#include "base/ids.h"
#include "base/sasl.h"
#include "base/time.h"
#include "replica/front_counts.h"
#include "replica/messages.h"
#include "state/acl.h"
#include "state/apply.h"
#include "state/children_reply.h"
#include "state/machine.h"
#include "state/read.h"
#include "state/watches.h"
#include "wire/records.h"
#include "wire/requests.h"

namespace drover::replica {

struct FrontConfig {
  std::int32_t frame_bytes_max = client_limits::kFrameBytes;  // jute.maxbuffer
  std::int32_t session_timeout_min_ms = 6000;
  std::int32_t session_timeout_max_ms = 60'000;
  // base/client_limits.h explains each of them; totals are those of this front.
  std::size_t outstanding_max = client_limits::kOutstanding;
  std::size_t outstanding_total_max = client_limits::kOutstandingTotal;
  std::size_t outstanding_bytes_max = client_limits::kOutstandingBytes;
  std::size_t outstanding_total_bytes_max = client_limits::kOutstandingBytesTotal;
  std::size_t output_high_water_bytes = client_limits::kOutputHighWaterBytes;
  std::size_t output_max_bytes = client_limits::kOutputBytes;
  std::size_t output_total_max_bytes = client_limits::kOutputBytesTotal;
  std::size_t staged_total_max_bytes = client_limits::kStagedBytesTotal;
  std::size_t work_per_connection = client_limits::kWorkOfConnection;
  std::size_t work_per_round = client_limits::kWorkOfRound;
  std::size_t children_at_once = client_limits::kChildrenAtOnce;
  std::size_t children_of_piece = client_limits::kChildrenOfPiece;
  std::size_t identities_max = client_limits::kIdentities;
  // Larger requests are large; those in progress may have so many bytes in total (largeRequestMaxBytes), with
  // all fronts that share the counter.
  std::int32_t large_request_threshold = std::numeric_limits<std::int32_t>::max();
  std::int64_t large_requests_max_bytes = 0;
  std::shared_ptr<std::atomic<std::int64_t>> large_request_bytes{};  // null: no request is large
  state::WatchLimits watches;
  std::vector<std::string> required_schemes;  // enforce.auth.schemes; empty: none
  bool eager_acl = false;                     // refuse writes by this server's ACLs (state/eager_acl.h)
  SaslFactory* sasl = nullptr;                // outlives the front; null: nobody can log in with SASL
  bool allow_sasl_failed_clients = false;     // a client whose login fails goes on without an identity
};

// Which clients are served. A member of an ensemble serves while it leads or follows. Without a leader it may
// show its last state to clients that accept a read-only server.
enum class Serving : std::uint8_t { kNo, kYes, kReadOnly };

class Front {
 public:
  Front(const FrontConfig& config, const state::Machine& machine)
      : config_(config), machine_(machine), watches_(machine.options.hash_key) {}

  struct Peer {
    std::string ip;                // "127.0.0.1"
    std::string remote;            // "127.0.0.1:54321"
    state::Identities identities;  // proven before the first byte: ip, and x509 after TLS
    bool secure = false;           // TLS
  };
  ConnId open(const Peer& peer, Instant now);
  // The socket is gone. Its watches are removed; the session lives on.
  void close(ConnId id);

  // Consumes whole frames from the front of `bytes` and returns how many bytes it consumed. It consumes
  // nothing while the connection must not be read (see reading()).
  std::size_t on_bytes(ConnId id, std::string_view bytes, Instant now);
  // Moves the output that the replica has staged into the connections' outputs.
  void collect();
  // Copies the next piece of a long list of children. Call once per round, after collect().
  void list_on(Instant now);
  // Reports which sessions were heard, and closes connections that are silent for their session's timeout.
  // Call at least every half tick. Everything that arrived before `read_until` has been read.
  void on_tick(Instant read_until);
  // Output was sent, perhaps all of it. A connection that was not read because of its output may be read
  // again.
  void on_sent(ConnId id);

  // --- called by the replica, under the writer lock ---
  // A transaction was applied: notifies the watchers of what it changed.
  void on_events(const state::TreeEvents& events, Zxid zxid);
  // Answers a write, and the reads that waited behind it.
  struct WriteResult {
    wire::OpCode op{};
    std::int32_t xid = 0;
    const state::ApplyResult* applied = nullptr;  // null: refused with `error`
    ErrorCode error = ErrorCode::kOk;
  };
  void on_result(ConnId id, const WriteResult& result, Instant now);
  void on_session_answer(const SessionAnswer& answer);
  // `floor`: this server's state is at least as new as that, even if its last transaction is older. kNo
  // closes every connection: this server can vouch for nothing newer than what they were told last.
  void set_serving(Serving serving, Zxid floor);
  // Closes this percentage of the connections that have a session, spread evenly; returns how many.
  std::size_t shed(std::size_t percentage);
  bool has_staged() const { return !staged_.empty(); }
  // Some connections wait for the next round, before they are read again or for a part of an answer.
  bool has_resting() const {
    return !turned_back_.empty() || !worked_off_.empty() || listing_ || !lists_due_.empty();
  }

  // --- called by the I/O thread, without a lock ---
  // What the replica should get now; the caller takes it.
  ToReplica& outbox() { return outbox_; }

  // Logins that ended since the last call, for the log. Each begins with the client's address.
  struct SaslOutcome {
    bool success = false;
    std::string text;
  };
  std::vector<SaslOutcome> take_sasl_outcomes() { return std::exchange(sasl_outcomes_, {}); }

  // Returns the connections whose output, reading() or closing() changed since the last call.
  void take_changed(std::vector<ConnId>& out);
  bool exists(ConnId id) const { return find(id) != nullptr; }
  std::string& output(ConnId id) { return find(id)->out; }
  bool reading(ConnId id) const;
  // Close the socket once the output is sent.
  bool closing(ConnId id) const { return find(id)->closing; }

  Serving serving() const { return serving_; }
  const state::Watches& watches() const { return watches_; }
  const FrontStats& stats() const { return stats_; }
  FrontStats& stats() { return stats_; }
  const FrontTotals& totals() const { return totals_; }
  std::size_t connection_count() const { return open_count_; }
  std::size_t outstanding() const { return outstanding_; }
  // Memory of all outputs.
  std::size_t output_bytes() const { return output_bytes_; }

  // For the four-letter words.
  struct ConnFacts {
    std::string remote;
    bool secure = false;
    Instant opened;
    SessionId session{};
    std::int32_t timeout_ms = 0;
    std::size_t queued = 0;
    bool reading = true;
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    wire::OpCode last_op{};
    std::int32_t last_xid = 0;
    Zxid last_zxid{};
    Instant last_reply;
    std::uint32_t last_latency_ms = 0;
    std::uint32_t min_latency_ms = 0;
    std::uint32_t max_latency_ms = 0;
    std::uint64_t latency_sum_ms = 0;
    std::uint64_t latency_count = 0;
    state::WatcherId watcher{};
  };
  template <class Visit>
  void for_each_connection(Visit visit) const {
    for (const auto& c : conns_) {
      if (c->in_use) visit(facts(*c));
    }
  }
  // 0: the connection is gone, or has no session.
  SessionId session_of(state::WatcherId watcher) const {
    const auto& c = conns_[static_cast<std::size_t>(watcher)];
    return c->in_use ? c->session : SessionId{0};
  }
  void reset_connection_stats();

 private:
  // Requests behind an unanswered write. The replica already has a waiting write, so it only keeps its place;
  // a read keeps its bytes.
  struct Waiting {
    struct Entry {
      bool is_write = false;
      bool is_long_list = false;  // the last entry: nothing behind it is read
      std::uint32_t body_bytes = 0;
      std::size_t offset = 0;  // of a read's body
      std::int32_t xid = 0;
      wire::OpCode op{};
      Instant received;
      std::size_t reply_bytes = 0;  // estimated size of a read's answer
      state::IdentitiesPtr who;     // the identities when a read came
      std::uint32_t charged_bytes = 0;
    };
    std::vector<Entry> entries;
    std::size_t head = 0;
    std::string bytes;
    std::size_t charged_bytes = 0;  // of all entries, writes too
    std::int64_t large_bytes = 0;   // of entries that are large requests
    std::size_t reply_bytes = 0;    // of all entries
    std::size_t size() const { return entries.size() - head; }
    void forget_answered();
  };

  enum class Phase : std::uint8_t { kHandshake, kConnecting, kConnected, kEnding };

  struct Conn {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    Phase phase = Phase::kHandshake;
    bool in_use = false;
    bool below_limit = true;  // number of outstanding requests, when last checked
    bool throttled = false;   // stopped only because all connections together have too many
    bool old_client = false;  // sent no readOnly byte, so it gets none
    bool closing = false;
    bool dropped = false;  // by the replica's thread, which has more output than this connection may take
    bool listed = false;   // in changed_
    bool touched = false;  // heard since the last report
    bool resting = false;  // until the next round: it, or all together, did enough work in this one
    bool secure = false;
    bool lists = false;      // a long list of children is due or being copied: nothing else is read
    bool sasl_over = false;  // its one exchange has ended, well or not
    std::uint8_t sasl_steps = 0;
    SessionId session{};
    std::int32_t timeout_ms = 0;
    Instant last_heard;
    std::unique_ptr<SaslConversation> sasl;  // null: no exchange is under way
    state::IdentitiesPtr who;
    std::uint32_t who_bytes = 0;  // of the names in `who`
    std::uint32_t work = 0;       // in round `work_round`
    std::uint32_t work_round = 0;
    std::uint32_t staged_bytes = 0;  // size of events for it that collect() has not moved yet
    std::string ip;
    std::string remote;
    Instant opened;
    std::string out;
    std::size_t counted_bytes = 0;     // size of `out` that is counted in output_bytes_
    std::unique_ptr<Waiting> waiting;  // null: nothing waits
    // For the four-letter words.
    std::uint32_t received = 0;
    std::uint32_t sent = 0;
    wire::OpCode last_op{};
    std::int32_t last_xid = 0;
    Zxid last_zxid{};
    Instant last_reply;
    std::uint32_t last_latency_ms = 0;
    std::uint32_t min_latency_ms = 0;
    std::uint32_t max_latency_ms = 0;
    std::uint32_t latency_count = 0;
    std::uint64_t latency_sum_ms = 0;

    ConnId id() const { return {slot, generation}; }
  };

  // The reply to one getChildren, and what must follow it: events, because the list is older than they are.
  struct Listing {
    ConnId conn;
    Waiting::Entry request;
    std::unique_ptr<state::ChildrenReply> reply;
    std::string behind;
  };

  // Output for a connection: bytes of staged_bytes_, the answer to its handshake, or that a list is due.
  struct Staged {
    enum class Kind : std::uint8_t { kBytes, kLastBytes, kList, kSession, kNoSession, kDrop };
    Kind kind{};
    ConnId conn;
    std::size_t offset = 0;
    std::size_t length = 0;
    SessionId session{};
  };

  Conn* find(ConnId id) const;
  bool may_read(const Conn& c) const;
  void look_at_limits(Conn& c);
  bool has_room_for_large(std::int32_t length) const;
  std::int64_t large_bytes_of(const Waiting::Entry& entry) const;
  void count_large(std::int64_t bytes) const;
  void release_throttled();
  void list(Conn& c);
  void end(Conn& c);

  void on_frame(Conn& c, std::string_view frame, Instant now);
  void on_connect(Conn& c, std::string_view frame, Instant now);
  void answer_connect(Conn& c, bool valid);
  void on_request(Conn& c, const wire::RequestHeader& header, std::string_view body, Instant now);
  // front_auth.cc
  void on_auth(Conn& c, const wire::RequestHeader& header, std::string_view body);
  void on_ensemble_name(Conn& c, const wire::RequestHeader& header, std::string_view name);
  bool is_authenticated(const Conn& c) const;
  bool add_identities(Conn& c, const state::Identities& proven);
  void answer_auth(Conn& c, const wire::RequestHeader& header);
  void on_sasl(Conn& c, const wire::RequestHeader& header, std::string_view body);
  SaslStep step_sasl(Conn& c, std::string_view token);
  void answer_sasl(Conn& c, const wire::RequestHeader& header, ErrorCode error,
                   const std::optional<std::string>& token);
  void on_sasl_failure(Conn& c, const wire::RequestHeader& header, std::string_view reason);
  void report_sasl(const Conn& c, bool success, std::string_view text);
  void refuse(Conn& c, const wire::RequestHeader& header, ErrorCode error, Zxid zxid);
  bool refuse_early(Conn& c, const wire::RequestHeader& header, std::string_view body, Instant now);
  void refuse_to_change(Conn& c, const wire::RequestHeader& header, Instant now);
  void forward(Conn& c, const wire::RequestHeader& header, std::string_view body, Instant now);
  struct Read {
    std::int32_t xid = 0;
    wire::OpCode op{};
    std::string_view body;
    const state::Identities* who = nullptr;
    Instant received;
  };
  // Returns how many nodes and watches it visited. nullopt: it is a list of more than `children_max`
  // children, and not answered.
  std::optional<std::size_t> answer(Conn& c, const Read& read, Instant now, std::string& out,
                                    std::size_t children_max = std::numeric_limits<std::size_t>::max());
  state::ReadRequest read_request(const Conn& c, const Read& read) const;
  void count_work(Conn& c, std::size_t work);
  void rest(Conn& c, std::vector<ConnId>& list);
  void begin_round();
  void wait(Conn& c, const wire::RequestHeader& header, std::string_view body, Instant now);
  void enqueue(Conn& c, Waiting::Entry entry, std::string_view body);
  Waiting::Entry dequeue(Conn& c);
  bool answer_waiting(Conn& c, std::size_t from, Instant now);
  // front_listing.cc
  bool has_list_at_head(const Conn& c) const;
  void begin_list(ConnId id, Instant now);
  void end_list(Conn& c, Instant now);
  bool is_listing(const Conn& c) const { return listing_ && listing_->conn == c.id(); }
  std::string& tail(Conn& c) { return is_listing(c) ? listing_->behind : c.out; }
  void recycle(Conn& c);
  void forget_waiting(Conn& c);
  void drop(Conn& c);
  bool has_room_for_event(Conn& c, std::size_t bytes);
  std::size_t staged_bytes_max() const;
  void stage_bytes(Conn& c, std::size_t from, Staged::Kind kind);
  struct Replied {
    wire::OpCode op;
    std::int32_t xid;
    Instant received;
    bool is_write;
    std::size_t bytes;
  };
  void count_reply(Conn& c, const Replied& replied, Instant now);
  void count_latency(Conn& c, const Replied& replied, Instant now);
  // front_output.cc
  void check_output(Conn& c);
  void count_output(Conn& c);
  bool is_output_full() const { return output_bytes_ > config_.output_total_max_bytes + exempt_bytes_; }
  void evict_unread();
  void drop_output(Conn& c);
  void borrow_buffer(Conn& c);
  static ConnFacts facts(const Conn& c);

  FrontConfig config_;
  const state::Machine& machine_;
  Serving serving_ = Serving::kYes;
  Zxid floor_{};
  std::vector<std::unique_ptr<Conn>> conns_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::unique_ptr<Waiting>> spare_;  // queues without work keep no memory in connections
  std::vector<std::string> spare_buffers_;       // likewise for output
  std::vector<ConnId> changed_;
  std::vector<ConnId> throttled_;
  // Resting connections: those that did nothing in this round go first in the next.
  std::vector<ConnId> turned_back_;
  std::vector<ConnId> worked_off_;
  // One long list is copied at a time: each holds its reply in memory.
  std::deque<ConnId> lists_due_;
  std::optional<Listing> listing_;
  std::vector<SaslOutcome> sasl_outcomes_;
  std::uint32_t round_ = 1;
  std::size_t round_work_ = 0;
  std::vector<state::WatcherId> fired_;  // scratch
  state::Watches watches_;
  ToReplica outbox_;
  std::string staged_bytes_;
  std::vector<Staged> staged_;
  std::size_t staged_event_bytes_ = 0;  // size that they will have in the outputs
  FrontStats stats_;
  FrontTotals totals_;
  std::size_t open_count_ = 0;
  std::size_t outstanding_ = 0;
  std::size_t outstanding_bytes_ = 0;
  std::size_t output_bytes_ = 0;
  std::size_t exempt_bytes_ = 0;  // size of the largest output, if it alone exceeds the total
};

}  // namespace drover::replica
