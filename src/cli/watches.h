// SPDX-License-Identifier: Apache-2.0
//
// The shell's one watch, and where it is set. As in ZooKeeper's shell, a change is told once however many
// ways the node is watched in.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.h"
#include "drover/client.h"

namespace drover::cli {

class Watches {
 public:
  explicit Watches(Output& output);

  // To be given to reads. note() before the read, forget() if it failed.
  const Watch& watch() const { return watch_; }
  void note(const std::string& path, WatchScope scope);
  void forget(const std::string& path, WatchScope scope);
  // Ends those at the path that are of these scopes, and tells so; false: there were none.
  bool remove(const Client& client, const std::string& path, const std::vector<WatchScope>& scopes);
  // With the session.
  void clear();

  bool is_printing() const { return printing_; }
  void set_printing(bool on) { printing_ = on; }
  void set_json(bool on) { json_ = on; }
  // Changes of the session's state are not told.
  void set_quiet(bool on) { quiet_ = on; }
  // A change of the session's state, by its Java name.
  void tell_state(std::string_view state);

 private:
  void on_event(const WatchEvent& event);
  void tell(std::string_view state, std::string_view type, std::string_view path);

  Output& output_;
  std::atomic<bool> printing_ = true;
  std::atomic<bool> json_ = false;
  std::atomic<bool> quiet_ = false;
  std::mutex mutex_;
  std::map<std::string, std::set<WatchScope>> places_;
  Watch watch_;  // the last: its callback uses all the others
};

// "NodeCreated"
std::string_view event_name(EventType type);

}  // namespace drover::cli
