// SPDX-License-Identifier: Apache-2.0
#include "client/threads.h"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace drover::client {
namespace {

class Keeper {
 public:
  static Keeper& instance() {
    static Keeper keeper;
    return keeper;
  }

  void launch(Thread thread) {
    const std::lock_guard lock(mutex_);
    join_ended();
    Kept& kept = kept_.emplace_back();
    kept.stop = std::move(thread.stop);
    kept.serves_others = thread.serves_others;
    kept.thread = std::thread([&kept, body = std::move(thread.body)]() mutable {
      body();
      body = nullptr;  // Destroy what it owns on its own thread.
      kept.ended.store(true, std::memory_order_release);
    });
    ::pthread_setname_np(kept.thread.native_handle(), thread.name);
  }

  ~Keeper() {
    end(false);
    end(true);
  }

 private:
  struct Kept {
    std::thread thread;
    std::function<void()> stop;
    bool serves_others = false;
    std::atomic<bool> ended{false};
  };

  void end(bool serving) {
    for (Kept& kept : kept_) {
      if (kept.serves_others == serving) kept.stop();
    }
    for (Kept& kept : kept_) {
      if (kept.serves_others == serving) kept.thread.join();
    }
  }

  void join_ended() {
    for (auto it = kept_.begin(); it != kept_.end();) {
      if (!it->ended.load(std::memory_order_acquire)) {
        ++it;
        continue;
      }
      it->thread.join();
      it = kept_.erase(it);
    }
  }

  std::mutex mutex_;
  std::list<Kept> kept_;
};

class ThreadExecutor final : public Executor {
 public:
  ThreadExecutor() : queue_(std::make_shared<Queue>()) {
    launch_thread({.name = "drover-calls",
                   .body = [queue = queue_] { queue->run(); },
                   .stop = [queue = queue_] { queue->stop(); },
                   .serves_others = true});
  }
  ~ThreadExecutor() override { queue_->stop(); }
  void post(std::move_only_function<void()> work) override { queue_->post(std::move(work)); }

 private:
  // Shared with the thread, which may destroy the executor itself.
  struct Queue {
    void post(std::move_only_function<void()> task) {
      const std::lock_guard lock(mutex);
      work.push_back(std::move(task));
      if (work.size() == 1) ready.notify_one();
    }
    void stop() {
      const std::lock_guard lock(mutex);
      stopping = true;
      ready.notify_one();
    }
    void run() {
      std::unique_lock lock(mutex);
      for (;;) {
        ready.wait(lock, [this] { return stopping || !work.empty(); });
        if (work.empty()) return;
        auto batch = std::exchange(work, {});
        lock.unlock();
        for (auto& task : batch) task();
        batch.clear();
        lock.lock();
      }
    }

    std::mutex mutex;
    std::condition_variable ready;
    std::deque<std::move_only_function<void()>> work;
    bool stopping = false;
  };

  std::shared_ptr<Queue> queue_;
};

}  // namespace

void launch_thread(Thread thread) { Keeper::instance().launch(std::move(thread)); }

std::shared_ptr<Executor> make_thread_executor() { return std::make_shared<ThreadExecutor>(); }

}  // namespace drover::client
