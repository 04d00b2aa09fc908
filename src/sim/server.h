// SPDX-License-Identifier: Apache-2.0
//
// A machine that runs a server: its disk and its clock outlive the processes on it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "sim/clock.h"
#include "sim/election_net.h"
#include "sim/network.h"
#include "sim/plan.h"
#include "sim/process.h"
#include "sim/world.h"
#include "storage/memory_disk.h"

namespace drover::sim {

class SimServer final : private Network::Host, private ElectionNet::Host, private Process::Owner {
 public:
  // Shared by all servers; outlives them.
  struct Parts {
    World& world;
    Network& network;
    ElectionNet& election;
    const Plan& plan;
    ServerObserver& observer;
  };
  SimServer(const Parts& parts, ServerId id);
  ~SimServer() override;

  ServerId id() const { return id_; }
  // Starts a process; if it cannot start, it is retried after a while.
  void start();
  // The process is gone, and so is what it did not sync, according to `survival`.
  void crash(Farewell farewell, storage::Survival survival);
  // A moment at which it crashes: before its `number`-th change of the disk or send, counted from the very
  // first.
  struct CrashPoint {
    enum class Kind : std::uint8_t { kDisk, kSend };
    Kind kind{};
    std::uint64_t number = 0;
    storage::Survival survival{};
  };
  void set_crash_point(const CrashPoint& point);
  // Counts so far.
  std::uint64_t sends() const { return sends_; }
  std::uint64_t disk_operations() const { return disk_.operations() - operations_at_first_; }
  // Crashes as soon as the disk has done `operations` more changes, in the middle of whatever it is doing.
  void crash_at_disk(std::uint64_t operations) { disk_.power_off_after(operations); }
  // Crashes before one of its next sends.
  void crash_at_send(std::uint64_t sends, storage::Survival survival) {
    set_crash_point({CrashPoint::Kind::kSend, sends_ + sends, survival});
  }
  void forget_crash_point() { crash_point_.reset(); }
  void pause();
  void resume();
  bool is_up() const { return process_ != nullptr; }
  bool is_paused() const { return is_up() && parts_.world.is_paused(actor_); }

  Process* process() { return process_.get(); }
  const Process* process() const { return process_.get(); }
  storage::MemoryDisk& disk() { return disk_; }
  Clock& clock() { return clock_; }
  // How soon it is restarted after its process has ended by itself.
  void set_restarts(Micros low, Micros high) { restart_low_ = low, restart_high_ = high; }
  // Empties the disk, without the operator's mark that it is meant to be empty.
  void wipe();
  // It was wiped, and is not synced yet.
  bool has_lost_disk() const { return has_lost_disk_; }
  // It holds a history of an earlier ensemble, which the others do not know.
  bool is_stranger() const { return stranger_; }
  // All files of its history, with their names.
  std::string history_files();
  // Its disk lost something since it was last synced with a leader.
  bool is_impaired() const { return impaired_; }
  void set_impaired() { impaired_ = true; }
  // Something on its disk is not what was written there, perhaps forever.
  void set_damaged() { impaired_ = damaged_ = true; }
  // It has taken part in the ensemble's history since its disk was last empty.
  bool has_history() const { return has_history_; }
  std::uint64_t lives() const { return life_; }

 private:
  void on_accepted(SocketId socket, Port port, HostId) override { process_->on_accepted(socket, port); }
  void on_connected(SocketId socket) override { process_->on_connected(socket); }
  void on_dial_failed(SocketId socket) override { process_->on_dial_failed(socket); }
  void on_bytes(SocketId socket, std::string_view bytes) override { process_->on_bytes(socket, bytes); }
  void on_closed(SocketId socket) override { process_->on_closed(socket); }
  void on_notification(ServerId from, std::string_view bytes) override {
    process_->on_notification(from, bytes);
  }
  void on_reachable(ServerId peer, bool reachable) override { process_->on_reachable(peer, reachable); }
  void on_over() override;
  bool on_send() override;
  void on_discard() override { impaired_ = true; }
  void on_serving() override {
    impaired_ = has_lost_disk_ = false;
    has_history_ = true;
  }

  void prepare_disk();
  void write_history(Zxid last, std::uint64_t id);
  void check_memory();
  void restart_later();
  void call_the_operator(const std::string& why);
  void arm_crash_point();
  storage::Survival next_survival();

  Parts parts_;
  ServerId id_;
  ActorId actor_;
  Random random_;
  storage::MemoryDisk disk_;
  Clock clock_;
  std::unique_ptr<Process> process_;
  std::uint64_t life_ = 0;
  bool impaired_ = false;
  bool damaged_ = false;
  bool stranger_ = false;
  bool has_history_ = false;
  bool has_lost_disk_ = false;
  std::optional<CrashPoint> crash_point_;
  std::uint64_t sends_ = 0;
  std::uint64_t operations_at_first_ = 0;  // of the disk, before the first start
  std::uint64_t restarts_ = 0;             // the current one
  Micros restart_low_ = 100 * kMillisecond;
  Micros restart_high_ = 5 * kSecond;
};

}  // namespace drover::sim
