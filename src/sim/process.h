// SPDX-License-Identifier: Apache-2.0
//
// One run of a server's process: the product's member, replica, fronts, recovery and journal, and around them
// what the real server does with threads and sockets, on virtual time.
//
//   process.cc           recovery, inputs and effects
//   process_links.cc     other servers: links, the state on its way to a learner
//   process_clients.cc   connections of clients and the fronts' turns
//   process_files.cc     snapshots, purge, reloading the state
//
// Between a front and the core there are two hops, each with a delay: as between threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "host/link_guard.h"
#include "host/log_stream.h"
#include "host/receive_state.h"
#include "host/start.h"
#include "host/state_walk.h"
#include "replica/front.h"
#include "replica/member.h"
#include "replica/replica.h"
#include "sim/clock.h"
#include "sim/election_net.h"
#include "sim/log_device.h"
#include "sim/network.h"
#include "sim/plan.h"
#include "sim/world.h"
#include "state/machine.h"
#include "storage/data_dir.h"
#include "storage/memory_disk.h"
#include "storage/snapshot_writer.h"

namespace drover::sim {

// Observes what servers do, as far as it is visible from outside.
class ServerObserver {
 public:
  virtual ~ServerObserver() = default;
  // A transaction that exists: proposed, or found in a log.
  virtual void on_known(std::string_view entry) = 0;
  // The new state in memory: read from the disk, or sent by a leader. If not `exact`, it may hold some later
  // transactions.
  virtual void on_state(ServerId server, const state::Machine& machine, bool exact) = 0;
  // `digest` is the tree's after it; if several were applied at once, only the last one has it.
  virtual void on_applied(ServerId server, Zxid zxid, std::string_view entry,
                          std::optional<std::uint64_t> digest, bool serving) = 0;
  // A standalone server starts with this history.
  virtual void on_standalone(ServerId server, Zxid last) = 0;
  // The server leads from here on, and a quorum follows.
  virtual void on_established(ServerId server, std::uint32_t epoch, Zxid last) = 0;
  // An input has run to completion, and its effects have not begun.
  virtual void on_step(const zab::Peer& peer) = 0;
};

// As an operator writes it; the server may rewrite it.
inline constexpr const char* kStaticFile = "/conf/zoo.cfg";

class Process final : private LogDevice::Owner, private host::StateInMemory, private host::StartHooks {
 public:
  // The machine that it runs on. Called from within the process: it must not end the process at once.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_over() = 0;     // it cannot continue
    virtual bool on_send() = 0;     // it is about to send something; false: it ends before
    virtual void on_discard() = 0;  // it discards its history
    virtual void on_serving() = 0;  // it is synced with a leader, or leads
  };
  // Parts that outlive it.
  struct Parts {
    World& world;
    Network& network;
    ElectionNet& election;
    storage::MemoryDisk& disk;
    const Clock& clock;
    const Plan& plan;
    ServerObserver& observer;
    Owner& owner;
    ServerId id{};
    ActorId actor{};
    std::uint64_t life = 0;
    bool stranger = false;  // its disk holds another history than the others'
  };
  explicit Process(const Parts& parts);
  ~Process() override;

  // Reads the disk and starts; an error means that this process could not start.
  IoResult<void> start();

  // --- from the network ---
  void on_accepted(SocketId socket, Port port);
  void on_connected(SocketId socket);
  void on_dial_failed(SocketId socket);
  void on_bytes(SocketId socket, std::string_view bytes);
  void on_closed(SocketId socket);
  void on_notification(ServerId from, std::string_view bytes);
  void on_reachable(ServerId peer, bool reachable);

  // The disk does nothing for this long, whatever its orders are.
  void stall_disk(Micros time) { log_->stall(time); }

  // The state in memory silently changes, as by a fault of the memory or the program. False: not now, because
  // something is on its way.
  bool spoil_state();

  // False before its disk was read.
  bool has_member() const { return member_ != nullptr; }
  const replica::Member& member() const { return *member_; }
  const state::Machine& machine() const { return machine_; }
  const replica::Front& front(std::size_t i) const { return *fronts_[i]; }
  std::size_t front_count() const { return fronts_.size(); }
  bool is_serving() const { return replica_->service() != replica::Service::kNone; }
  bool is_leading() const { return replica_->service() == replica::Service::kLeading; }

 private:
  // --- process.cc ---
  IoResult<void> recover_and_join();
  void make_brain(replica::MemberStart start);
  template <class Input>
  void input(Input give) {
    if (why_over_) return;
    replica::Effects effects;
    give(*member_, effects);
    carry_out(effects);
    settle();
  }
  void settle();
  void work_on_tree();
  void observe();
  void check_that_removed_serves_nobody();
  void count(zab::Event event);
  void count_sweep(std::string_view entry);
  void carry_out(replica::Effects& effects);
  void arm_timer();
  void tick();
  void end(std::string why);
  bool may_send();
  void look_at_power();
  Micros hop() {
    return random_.below(8) == 0 ? between(random_, 0, 2 * kMillisecond) : between(random_, 5, 60);
  }
  void say(const std::string& what) const;

  // --- process_links.cc ---
  struct StateStream : host::StateStream {
    using host::StateStream::StateStream;
    Micros piece_time = 0;  // that each takes
    Micros time_left = 0;   // for all that are to come
  };
  struct LogOnItsWay {
    host::LogStream stream;
    bool is_found = false;
    std::string behind{};  // what was sent meanwhile
  };
  struct Link {
    SocketId socket{};
    std::string in;
    std::unique_ptr<StateStream> stream;
    std::unique_ptr<LogOnItsWay> log;
  };
  void tell(const zab::LinkEvent& event);
  void dial(const zab::Dial& dial);
  void send(const zab::LinkSend& send);
  void begin_stream(zab::LinkId id, Link& link);
  void pump(zab::LinkId id);
  void pump_later(zab::LinkId id, StateStream& stream);
  void begin_log(zab::LinkId id, Link& link, const zab::LogRange& range);
  void pump_log_later(zab::LinkId id);
  void pump_log(zab::LinkId id);
  void no_log(zab::LinkId id, Link& link);
  void send_log(zab::LinkId id, Link& link);
  void close(zab::LinkId id);
  void lose(zab::LinkId id);
  void feed(zab::LinkId id);
  // False: the greeting is incomplete, or it was refused and the link is gone.
  bool is_greeting_accepted(zab::LinkId id, std::string_view bytes);
  void await_greetings();

  // --- process_clients.cc ---
  struct ClientLink {
    std::size_t front = 0;
    replica::ConnId conn;
    std::string in;
  };
  struct FrontPort {
    bool wake_scheduled = false;
    bool post_scheduled = false;
    std::map<std::uint32_t, SocketId> sockets;  // by slot
  };
  void wake(std::size_t front);
  void run_front(std::size_t front);
  void feed_front(std::size_t front);
  void flush_front(std::size_t front);
  void post(std::size_t front);
  void close_client(SocketId socket);

  // --- process_files.cc ---
  struct SnapshotTask {
    explicit SnapshotTask(state::Machine& machine) : walk(machine) {}
    host::SnapshotWalk walk;
    std::optional<storage::SnapshotWriter> writer;
    bool walked = false;
  };
  void begin_snapshot_later();
  void begin_snapshot();
  void step_snapshot(std::uint64_t number);
  void end_snapshot();
  void purge();
  void check(const std::vector<std::string>& contradictions);

  // LogDevice::Owner
  void on_disk(const zab::DiskAnswer& answer) override;
  void on_fatal(const IoError& error) override;
  void on_disk_full(bool full) override;
  void cancel_snapshot() override;
  bool want_snapshot() override;
  std::uint64_t snapshot_bytes() const override { return snapshot_bytes_; }

  // host::StateInMemory
  IoResult<void> write_state(storage::SnapshotWriter& writer) override;
  IoResult<bool> reload_state() override;
  void clear_state() override { host::clear(machine_); }

  // host::StartHooks
  void on_txn(std::string_view entry) override { parts_.observer.on_known(entry); }
  IoResult<std::string> write_first_snapshot() override;

  Parts parts_;
  Random random_;
  state::Machine machine_;
  std::optional<storage::DataDir> data_dir_;
  host::MembershipFiles membership_files_;
  std::vector<std::unique_ptr<replica::Front>> fronts_;
  std::vector<FrontPort> ports_;
  std::unique_ptr<replica::Replica> replica_;
  host::ReceiveState receiver_;
  std::unique_ptr<replica::Member> member_;
  std::unique_ptr<LogDevice> log_;
  std::optional<std::string> why_over_;

  host::LinkGuard guard_;
  bool greetings_awaited_ = false;
  std::map<zab::LinkId, Link> links_;
  std::map<SocketId, zab::LinkId> link_of_;
  std::uint64_t next_link_ = 0;
  std::map<SocketId, ClientLink> clients_;
  std::size_t next_front_ = 0;

  std::unique_ptr<SnapshotTask> snapshot_;
  bool snapshot_wanted_ = false;
  std::uint64_t snapshots_begun_ = 0;
  std::uint64_t snapshot_bytes_ = 0;  // of the newest

  std::uint64_t timer_ = 0;  // the current one
  std::optional<Instant> timer_at_;
  Instant last_tick_;
  bool told_serving_ = false;
  bool was_member_ = false;        // of a numbered membership
  bool spoiled_ = false;           // the state in memory is wrong
  std::uint32_t established_ = 0;  // the epoch that was reported to the observer
};

}  // namespace drover::sim
