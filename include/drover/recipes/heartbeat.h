// SPDX-License-Identifier: Apache-2.0
//
// A sign of life: the process is present and, optionally, makes progress.
//
//   Heartbeat alive(client, "/cluster", "host-7", {.beat_every = 2s});
//   unwrap(sync_wait(alive.start(wait)));
//   for (;;) { work(); alive.beat(); }     // costs nothing; written at most every two seconds
//
// Presence follows from the session: <cluster>/live/<id> is ephemeral, returns by itself in the next session,
// and needs no writes. Beats detect processes that hang while their session lives: then the count in the
// node's data stops growing. recipes::Cluster watches both.
//
// The node is a PersistentNode: if another session has the id, it waits, or returns kIdConflict.
//
// Curator: PersistentNode. kazoo: Party.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "drover/client.h"
#include "drover/recipes/persistent_node.h"

namespace drover::recipes {

struct HeartbeatOptions {
  std::string info = {};                    // whatever others should know
  std::chrono::milliseconds beat_every{0};  // zero: beats are not written
  PersistentNodeOptions::OnConflict on_conflict = PersistentNodeOptions::OnConflict::kWait;
};

// The data of a live node: the count of beats, a new line, and the info.
struct LiveData {
  std::uint64_t beats = 0;
  std::string info = {};
  std::string to_text() const;
  static std::optional<LiveData> parse(std::string_view text);
};

class Heartbeat {
 public:
  Heartbeat(Client client, std::string cluster, std::string id, HeartbeatOptions options = {});
  Heartbeat(Heartbeat&&) noexcept = default;
  Heartbeat& operator=(Heartbeat&& other) noexcept;
  ~Heartbeat();

  Task<Result<void>> start(Wait wait = {});
  // Safe to call from any thread, as often as you like.
  void beat();
  bool is_there() const;
  // Removes it for good; the destructor does it in the background.
  Task<Result<void>> stop(Wait wait = {});

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
