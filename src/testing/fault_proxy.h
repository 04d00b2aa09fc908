// SPDX-License-Identifier: Apache-2.0
//
// The implementation of testing::Proxy: a thread that forwards frames and drops selected ones.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "testing/loopback.h"

struct pollfd;

namespace drover::testing {

class FaultProxy {
 public:
  enum class Mode : std::uint8_t { kOpen, kCut, kFrozen };
  struct Trap {
    std::string op;
    int nth = 1;
    bool on_reply = true;
  };

  FaultProxy(Socket listener, Place server);
  ~FaultProxy();

  std::uint16_t port() const { return listener_.port(); }
  void set_trap(Trap trap);
  void set_mode(Mode mode);
  void disconnect();
  std::size_t connections() const;
  std::uint64_t requests(std::string_view op) const;

 private:
  // Bytes from one side that the other side has not received yet.
  struct Direction {
    std::string heard;  // an incomplete frame
    std::string to_send;
    bool greeted = false;  // the first frame has no header
  };
  struct Link {
    Socket client;
    Socket server;
    Direction up;                                    // from the client
    Direction down;                                  // from the server
    std::map<std::int32_t, std::string> asked = {};  // outstanding requests, by xid
    bool over = false;
  };

  void run();
  void poll_all(std::vector<pollfd>& polled);
  void accept_one();
  void serve(Link& link, short client_events, short server_events);
  void receive(Link& link, const Socket& from, Direction& direction, bool up);
  bool pass_request(Link& link, std::string_view frame);
  bool pass_reply(Link& link, std::string_view frame);
  bool springs(const std::string& op, bool on_reply);
  void wake() const;

  Socket listener_;
  Place server_;
  Socket wake_read_;
  Socket wake_write_;

  mutable std::mutex mutex_;  // protects everything below
  std::list<Link> links_;
  std::vector<Trap> traps_;
  std::map<std::string, std::uint64_t, std::less<>> requests_;
  Mode mode_ = Mode::kOpen;
  bool stopping_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace drover::testing
