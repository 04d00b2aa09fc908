// SPDX-License-Identifier: Apache-2.0
//
// Reads the log files for learners that get a DIFF from them (host/log_stream), one piece at a time for all.
//
// A disk that has to be asked may take its time, and the core must not wait for it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/log_stream.h"
#include "storage/disk.h"
#include "zab/effects.h"

namespace drover::server {

class LogStreamThread {
 public:
  using Progress = host::LogStream::Progress;
  // The answer to begin() (kEnd: the log is there, kFailed: it is not) or to read().
  struct Answer {
    zab::LinkId link{};
    bool is_piece = false;
    Progress progress{};
    std::string bytes;
    std::string why;  // after kFailed
  };

  // The disk outlives it. `wake` is called on this thread when there is an answer.
  LogStreamThread(storage::Disk& disk, host::LogStreamOptions options, std::function<void()> wake);
  ~LogStreamThread();

  // Each is answered once, unless the link is ended first. A link has one log, and one order at a time.
  void begin(zab::LinkId link, const zab::LogRange& range);
  void read(zab::LinkId link);
  // An answer may still be there.
  void end(zab::LinkId link);
  std::vector<Answer> take_answers();

 private:
  enum class Kind { kBegin, kLook, kRead, kEnd };
  struct Order {
    Kind kind{};
    zab::LinkId link{};
    zab::LogRange range{};
  };
  void submit(const Order& order);
  void run();
  void carry_out(const Order& order);
  void answer(Answer answer);

  storage::Disk& disk_;
  host::LogStreamOptions options_;
  std::function<void()> wake_;
  std::map<zab::LinkId, host::LogStream> streams_;  // only the thread's

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Order> orders_;
  std::vector<Answer> answers_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace drover::server
