// SPDX-License-Identifier: Apache-2.0
//
// How a client logs in, as the client library sees it. It knows no mechanism: `src/login` has those, and
// programs that do not log in need not link them.
#pragma once

#include <memory>
#include <string>

#include "base/sasl.h"

namespace drover {

class SaslLogin {
 public:
  struct Server {
    std::string host;  // as in the list of servers
    std::string ip;    // of this connection
  };
  virtual ~SaslLogin() = default;
  // One exchange. Safe to call from any thread; it may block, and so may the first step of the conversation.
  virtual std::unique_ptr<SaslConversation> start(const Server& server) const = 0;
};

}  // namespace drover
