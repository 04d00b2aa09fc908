// SPDX-License-Identifier: Apache-2.0
//
// Every watcher is notified: each change once, in order, before any reply that shows it, and never without a
// change (I9).
//
// A watch that was set by a reply at zxid z waits for the first change after z that concerns it. When the
// history has that change, the event is due: it must reach the client before any reply from that zxid on.
//
// A lost connection loses the server's watches, and the client sets them again on the next one. This has
// three effects. The event of a change in between comes without a zxid, and describes the node as it is then.
// A node that was waited for, and was created and deleted meanwhile, causes no event. Persistent watches
// report nothing about the time in between; they are certain again from the first event or reply on.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sim/check_calls.h"
#include "sim/oracle_failures.h"
#include "sim/oracle_model.h"
#include "wire/replies.h"
#include "wire/txns.h"

namespace drover::sim {

class CheckWatches {
 public:
  CheckWatches(Failures& failures, Model& model) : failures_(failures), model_(model) {}

  void new_client() { clients_.emplace_back(); }
  // The model has applied a transaction: every watcher of its changes must be notified.
  void on_committed();
  // The end of a large session sets the pzxid of these nodes' parents once more (state/prepare.h). A watch on
  // their children that is set again then may fire without a change.
  void on_swept(const wire::MultiTxn& sweep);
  // Call before other checks of the reply: the client must have been notified of what it shows.
  void before_reply(ClientId client, Zxid zxid);
  // How the reply changes the client's watches.
  void on_reply(ClientId client, const Call& call, const wire::ReplyHeader& header);
  void on_event(ClientId client, wire::EventType type, std::string_view path, Zxid zxid);
  void on_disconnected(ClientId client);
  void on_over(ClientId client);

  std::size_t count(ClientId client) const { return of(client).watches.size(); }

 private:
  enum class Kind : std::uint8_t { kData, kExist, kChild, kPersistent, kRecursive };
  using Key = std::pair<PathId, Kind>;
  struct Watch {
    std::size_t next = 0;    // in the path's list of changes: the first without an event
    Zxid due{};              // of the next change to report; 0: there is none yet
    bool set_again = false;  // on another connection than the first
    bool uncertain = false;  // persistent, and it is unknown what was missed
  };
  struct Client {
    std::map<Key, Watch> watches;
    std::set<std::pair<Zxid, Key>> due;
    // When watches are set again, a node's end may be reported once for its data and once for its children.
    std::set<PathId> second_deletions;
    Zxid replied{};
    std::size_t uncertain = 0;
  };

  static bool is_persistent(Kind kind) { return kind == Kind::kPersistent || kind == Kind::kRecursive; }
  static bool concerns(Kind kind, wire::EventType type);
  const std::vector<TreeChange>& changes_of(const Key& key) const;
  Client& of(ClientId id) { return clients_[static_cast<std::size_t>(id)]; }
  const Client& of(ClientId id) const { return clients_[static_cast<std::size_t>(id)]; }

  void add(ClientId id, Kind kind, std::string_view path, Zxid zxid);
  void remove(ClientId id, std::int32_t watcher_type, std::string_view path);
  void erase(ClientId id, Client& client, std::map<Key, Watch>::iterator it);
  void look_ahead(ClientId id, Client& client, const Key& key, Watch& watch);
  void skip_to(ClientId id, Client& client, const Key& key, Watch& watch, Zxid zxid);
  void become_certain(ClientId id, Client& client, Zxid zxid);
  bool may_skip(const Key& key, const Watch& watch, Zxid shown) const;

  struct Event {
    wire::EventType type{};
    PathId path{};
    Zxid zxid{};
  };
  std::vector<Key> who_hears(const Client& client, const Event& event) const;
  void hear(ClientId id, Client& client, const Key& key, const Event& event);
  void hear_late(ClientId id, Client& client, const Event& event);
  bool find_uncertain(ClientId id, Client& client, const Key& key, Watch& watch, const Event& event);

  Failures& failures_;
  Model& model_;
  std::deque<Client> clients_;
  // Watches without a due change, by path: the clients that a new change wakes. Recursive ones wait at their
  // own path.
  std::map<Key, std::set<ClientId>> waiting_;
  std::set<PathId> swept_;
};

}  // namespace drover::sim
