// SPDX-License-Identifier: Apache-2.0
//
// The shell's only watch, and the paths it is set on. As in ZooKeeper's shell, a change is printed once,
// however the node is watched.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/output.h"
#include "drover/client.h"

namespace drover::cli {

class Watches {
 public:
  explicit Watches(Output& output);

  // Pass it to reads. Call note() before the read, and forget() if it failed.
  const Watch& watch() const { return watch_; }
  void note(const std::string& path, WatchScope scope);
  void forget(const std::string& path, WatchScope scope);
  // Removes watches of these scopes on the path and prints it; false: there were none.
  bool remove(const Client& client, const std::string& path, const std::vector<WatchScope>& scopes);
  // Call it when the session ends.
  void clear();

  bool is_printing() const { return printing_; }
  void set_printing(bool on) { printing_ = on; }
  void set_json(bool on) { json_ = on; }
  // Stop printing changes of the session's state.
  void set_quiet(bool on) { quiet_ = on; }
  // Prints a change of the session's state by its Java name.
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
  Watch watch_;  // must be last: its callback uses the others
};

// "NodeCreated"
std::string_view event_name(EventType type);

}  // namespace drover::cli
