// SPDX-License-Identifier: Apache-2.0
//
// The facts of the running server, and the commands that change it.
#include "server/server_process.h"

#include "log/log.h"
#include "runtime/long_facts.h"

namespace drover::server {
namespace {

constexpr int kSendAwayMs = 2000;

}  // namespace

std::string ServerProcess::answer_word(const Word& word, std::string_view bytes_behind,
                                       const std::string& remote) {
  switch (word.action) {
    case Word::Action::kNone: break;
    case Word::Action::kSetTraceMask:
      trace_mask_ = trace_mask_of(bytes_behind).value_or(trace_mask_.load());
      break;
    case Word::Action::kResetServerStats: reset_server_stats(); break;
    case Word::Action::kResetConnectionStats: reset_connection_stats(); break;
  }
  return render(word, facts(word.needs, remote));
}

void ServerProcess::reset_server_stats() {
  TreeLock::Writing everybody(lock_);
  for (const auto& io : io_loops_) io->front().stats() = {};
}

void ServerProcess::reset_connection_stats() {
  TreeLock::Writing everybody(lock_);
  for (const auto& io : io_loops_) io->front().reset_connection_stats();
}

void ServerProcess::reset_observer_stats() {
  core_->look_at([](const replica::Replica&, replica::Member* member) {
    if (member != nullptr && member->peer().leader()) member->peer().leader()->reset_observer_traffic();
  });
}

// Moves clients to other servers: they reconnect to any server.
std::int64_t ServerProcess::shed_connections(int percentage) {
  std::int64_t shed = 0;
  {
    TreeLock::Writing everybody(lock_);
    for (const auto& io : io_loops_)
      shed += static_cast<std::int64_t>(io->front().shed(static_cast<std::size_t>(percentage)));
  }
  for (const auto& io : io_loops_) io->wake();
  return shed;
}

// Acknowledgements may still be in output buffers. When the connections are gone, the buffers are empty.
void ServerProcess::stop_serving() {
  const auto connections = [this](bool stop) {
    std::size_t open = 0;
    core_->look_at([&](const replica::Replica&, const replica::Member*) {
      TreeLock::Writing everybody(lock_);
      for (const auto& io : io_loops_) {
        if (stop) io->front().set_serving(replica::Serving::kNo, {});
        open += io->front().connection_count();
      }
    });
    for (const auto& io : io_loops_) io->wake();
    return open;
  };
  const Instant give_up = monotonic_now() + kSendAwayMs;
  bool stop = true;
  while (connections(std::exchange(stop, false)) > 0 && monotonic_now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// `remote` is the asking connection, if it came over the client port.
Facts ServerProcess::facts(const Needs& needs, const std::string& remote) {
  Facts facts;
  const KernelFacts kernel = ask_kernel(config_, needs);
  core_->look_at([&](const replica::Replica& replica, const replica::Member* member) {
    TreeLock::Writing everybody(lock_);
    FactSources sources{.config = config_,
                        .machine = machine_,
                        .replica = replica,
                        .member = member,
                        .links = {},
                        .refusals = {},
                        .fronts = {},
                        .front_stats = {},
                        .front_totals = {},
                        .io = {},
                        .kernel = kernel,
                        .core = core_->stats(),
                        .log = log_thread_->stats(),
                        .snapshots = snapshots_->stats(),
                        .admin = limits().counts.values(),
                        .now = monotonic_now(),
                        .wall = wall_now(),
                        .started = started_};
    for (const auto& io : io_loops_) {
      sources.fronts.push_back(&io->front());
      sources.front_stats.add(io->front().stats());
      sources.front_totals.add(io->front().totals());
      add_fields(kIoLoopMetrics, sources.io, io->stats());
    }
    sources.insecure_admin = insecure_admin_;
    if (peers_) {
      sources.links = [this](zab::LinkId link) { return peers_->facts(link); };
      sources.refusals = peers_->refusals();
    }
    sources.asking = remote;
    sources.connections = counter_.total();
    sources.connections_rejected = counter_.rejected();
    sources.digest_mismatches = digest_mismatches_;
    sources.startup_ms = startup_ms_;
    sources.startup_txns = recovered_.txns_replayed;
    sources.startup_snapshot_ms = startup_snapshot_ms_;
    sources.startup_txns_ms = startup_txns_ms_;
    sources.trace_mask = trace_mask_;
    sources.snapshot_at_start = recovered_.snapshot.value_or(Zxid{-1});
    sources.snapshot_at_start_time_s = snapshot_at_start_time_s_;
    sources.client_port = client_port_ > 0 ? client_port_.load() : -1;
    sources.secure_port = secure_port_ > 0 ? secure_port_.load() : -1;
    facts = collect_facts(sources, needs);
  });
  if (needs.sessions_and_ephemerals) facts.ephemerals = ephemerals_by_session({machine_, lock_});
  if (needs.watches || needs.watch_counts) {
    std::vector<const replica::Front*> fronts;
    for (const auto& io : io_loops_) fronts.push_back(&io->front());
    add_watches(fronts, lock_, facts);
  }
  return facts;
}

}  // namespace drover::server
