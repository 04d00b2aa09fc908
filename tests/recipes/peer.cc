// SPDX-License-Identifier: Apache-2.0
//
// A process that runs our recipes on command, line by line. Peer.java and peer.py do the same with Curator's
// and kazoo's recipes. run.py sends the commands and checks the answers.
//
//   -> 7 lock /a          <- 7 ok, once it is held
//   -> 8 unlock /a        <- 8 ok            or <- 8 error NotOwner: ...
//
// Blocking commands run concurrently. The process ends at the end of the input, and its session ends with it.
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/atomic_value.h"
#include "drover/recipes/barrier.h"
#include "drover/recipes/delay_queue.h"
#include "drover/recipes/double_barrier.h"
#include "drover/recipes/group.h"
#include "drover/recipes/id_queue.h"
#include "drover/recipes/leader_latch.h"
#include "drover/recipes/mutex.h"
#include "drover/recipes/priority_queue.h"
#include "drover/recipes/queue.h"
#include "drover/recipes/read_write_lock.h"
#include "drover/recipes/semaphore.h"

namespace drover::recipes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Words = std::vector<std::string>;

Wait patience() { return Wait::within(seconds(60)); }

// Objects created by one command and used by later ones, by path.
template <class T>
class Shelf {
 public:
  void put(const std::string& name, T thing) {
    std::lock_guard lock(mutex_);
    things_.insert_or_assign(name, std::move(thing));
  }
  T take(const std::string& name) {
    std::lock_guard lock(mutex_);
    auto found = things_.extract(name);
    if (found.empty()) throw StateError(Error{Errc::kNotOwner, Applied::kNo, name});
    return std::move(found.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<std::string, T> things_;
};

class Peer {
 public:
  explicit Peer(const std::string& servers)
      : client_(unwrap(
            sync_wait(Client::connect({.servers = servers, .session_timeout = seconds(5)}, patience())))) {}

  // Returns the text after "ok".
  std::string carry_out(const std::string& verb, const Words& words) {
    const auto found = commands_.find(verb);
    if (found == commands_.end()) throw UsageError(Error{Errc::kUnimplemented, Applied::kNo, verb});
    return found->second(words);
  }

 private:
  using Command = std::function<std::string(const Words&)>;

  std::string lock(const Words& w) {
    guards_.put(w.at(0), unwrap(sync_wait(Mutex(client_, w.at(0)).acquire(patience()))));
    return {};
  }
  std::string try_lock(const Words& w) {
    auto guard = sync_wait(Mutex(client_, w.at(0)).acquire(Wait::within(milliseconds(std::stoi(w.at(1))))));
    if (!guard && guard.error() == Errc::kDeadline) return "no";
    guards_.put(w.at(0), unwrap(std::move(guard)));
    return "yes";
  }
  std::string read(const Words& w) {
    guards_.put(w.at(0), unwrap(sync_wait(ReadWriteLock(client_, w.at(0)).read(patience()))));
    return {};
  }
  std::string write(const Words& w) {
    guards_.put(w.at(0), unwrap(sync_wait(ReadWriteLock(client_, w.at(0)).write(patience()))));
    return {};
  }
  std::string lease(const Words& w) {
    const Semaphore semaphore(client_, w.at(0), std::stoi(w.at(1)));
    guards_.put(w.at(0), unwrap(sync_wait(semaphore.acquire(patience()))));
    return {};
  }
  std::string release(const Words& w) {
    unwrap(sync_wait(guards_.take(w.at(0)).release(patience())));
    return {};
  }
  std::string latch(const Words& w) {
    LeaderLatch standing(client_, w.at(0), w.at(1));
    unwrap(sync_wait(standing.await(patience())));
    latches_.put(w.at(0), std::move(standing));
    return {};
  }
  std::string leader(const Words& w) {
    const LeaderLatch looking(client_, w.at(0), "nobody");
    const auto found = unwrap(sync_wait(looking.leader(patience())));
    return found ? found->id : "";
  }
  std::string unlatch(const Words& w) {
    LeaderLatch standing = latches_.take(w.at(0));
    unwrap(sync_wait(standing.resign(patience())));
    return {};
  }
  std::string set_barrier(const Words& w) {
    unwrap(sync_wait(Barrier(client_, w.at(0)).set(patience())));
    return {};
  }
  std::string remove_barrier(const Words& w) {
    unwrap(sync_wait(Barrier(client_, w.at(0)).remove(patience())));
    return {};
  }
  std::string wait_barrier(const Words& w) {
    unwrap(sync_wait(Barrier(client_, w.at(0)).wait(patience())));
    return {};
  }
  std::string enter(const Words& w) {
    DoubleBarrier barrier(client_, w.at(0), {.parties = std::stoi(w.at(1))});
    unwrap(sync_wait(barrier.enter(patience())));
    barriers_.put(w.at(0), std::move(barrier));
    return {};
  }
  std::string leave(const Words& w) {
    DoubleBarrier barrier = barriers_.take(w.at(0));
    unwrap(sync_wait(barrier.leave(patience())));
    return {};
  }

  Queue queue(const std::string& path) const {
    return {client_, path, {.layout = QueueLayout::kSimple, .ack = QueueAck::kAutomatic}};
  }
  std::string put(const Words& w) {
    unwrap(sync_wait(queue(w.at(0)).put(w.at(1), patience())));
    return {};
  }
  std::string take(const Words& w) { return unwrap(sync_wait(queue(w.at(0)).take(patience()))).data(); }
  // Curator's four kinds: kind, path, data, and the arguments of the kind.
  std::string put_kind(const Words& w) {
    const std::string& kind = w.at(0);
    const std::string& path = w.at(1);
    if (kind == "fifo") {
      unwrap(sync_wait(Queue(client_, path).put(w.at(2), patience())));
    } else if (kind == "priority") {
      unwrap(sync_wait(PriorityQueue(client_, path).put(w.at(2), std::stoi(w.at(3)), patience())));
    } else if (kind == "delay") {
      const auto due = std::chrono::system_clock::now() + milliseconds(std::stoi(w.at(3)));
      unwrap(sync_wait(DelayQueue(client_, path).put(w.at(2), due, patience())));
    } else {
      unwrap(sync_wait(IdQueue(client_, path).put(w.at(2), w.at(3), patience())));
    }
    return {};
  }
  std::string take_kind(const Words& w) {
    const std::string& kind = w.at(0);
    const std::string& path = w.at(1);
    auto taking = kind == "fifo"       ? Queue(client_, path).take(patience())
                  : kind == "priority" ? PriorityQueue(client_, path).take(patience())
                  : kind == "delay"    ? DelayQueue(client_, path).take(patience())
                                       : IdQueue(client_, path).take(patience());
    QueueItem item = unwrap(sync_wait(std::move(taking)));
    const std::string data = item.data();
    unwrap(sync_wait(item.done(patience())));
    return data;
  }
  std::string remove_id(const Words& w) {
    return std::to_string(unwrap(sync_wait(IdQueue(client_, w.at(0)).remove(w.at(1), patience()))));
  }
  std::string add(const Words& w) {
    const AtomicLong counter(client_, w.at(0));
    return std::to_string(unwrap(sync_wait(counter.add(std::stoll(w.at(1)), patience()))));
  }
  std::string join(const Words& w) {
    const bool party = w.at(3) == "kazoo";
    const Group group(client_, w.at(0), party ? GroupLayout::kParty : GroupLayout::kCurator);
    unwrap(sync_wait(group.start(patience())));
    members_.put(w.at(0), unwrap(sync_wait(group.join(w.at(1), w.at(2), patience()))));
    groups_.put(w.at(0), group);
    return {};
  }
  std::string members(const Words& w) {
    Group group = groups_.take(w.at(0));
    std::string all;
    for (const Member& each : group.members()) all += (all.empty() ? "" : ",") + each.id;
    groups_.put(w.at(0), std::move(group));
    return all;
  }
  std::string quit_group(const Words& w) {
    unwrap(sync_wait(members_.take(w.at(0)).leave(patience())));
    return {};
  }

  Client client_;
  Shelf<Guard> guards_;
  Shelf<LeaderLatch> latches_;
  Shelf<Group> groups_;
  Shelf<GroupMember> members_;
  Shelf<DoubleBarrier> barriers_;
  const std::map<std::string, Command> commands_{
      {"lock", [this](const Words& w) { return lock(w); }},
      {"try_lock", [this](const Words& w) { return try_lock(w); }},
      {"unlock", [this](const Words& w) { return release(w); }},
      {"read", [this](const Words& w) { return read(w); }},
      {"write", [this](const Words& w) { return write(w); }},
      {"lease", [this](const Words& w) { return lease(w); }},
      {"return", [this](const Words& w) { return release(w); }},
      {"put", [this](const Words& w) { return put(w); }},
      {"take", [this](const Words& w) { return take(w); }},
      {"put_kind", [this](const Words& w) { return put_kind(w); }},
      {"take_kind", [this](const Words& w) { return take_kind(w); }},
      {"remove_id", [this](const Words& w) { return remove_id(w); }},
      {"add", [this](const Words& w) { return add(w); }},
      {"join", [this](const Words& w) { return join(w); }},
      {"members", [this](const Words& w) { return members(w); }},
      {"quit_group", [this](const Words& w) { return quit_group(w); }},
      {"latch", [this](const Words& w) { return latch(w); }},
      {"leader", [this](const Words& w) { return leader(w); }},
      {"unlatch", [this](const Words& w) { return unlatch(w); }},
      {"set_barrier", [this](const Words& w) { return set_barrier(w); }},
      {"remove_barrier", [this](const Words& w) { return remove_barrier(w); }},
      {"wait_barrier", [this](const Words& w) { return wait_barrier(w); }},
      {"enter", [this](const Words& w) { return enter(w); }},
      {"leave", [this](const Words& w) { return leave(w); }},
  };
};

void answer(const std::string& line) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::cout << line << std::endl;
}

int serve(const std::string& servers) {
  Peer peer(servers);
  answer("0 ok");
  std::vector<std::jthread> under_way;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string id;
    std::string verb;
    in >> id >> verb;
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    under_way.emplace_back([&peer, id, verb, words] {
      try {
        answer(id + " ok " + peer.carry_out(verb, words));
      } catch (const std::exception& error) {
        answer(id + " error " + error.what());
      }
    });
  }
  std::quick_exit(0);  // Do not wait for blocked commands.
}

}  // namespace
}  // namespace drover::recipes

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: recipe_peer SERVERS\n", 2;
  try {
    return drover::recipes::serve(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "recipe_peer: " << error.what() << "\n";
    return 1;
  }
}
