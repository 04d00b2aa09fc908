// SPDX-License-Identifier: Apache-2.0
#include "cli/reconfig/look.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "cli/ensemble/four_letter_words.h"
#include "cli/top/sample.h"

namespace drover::cli::reconfig {
namespace {

using observe::Answer;
using observe::Heard;

constexpr std::chrono::milliseconds kWordPatience{2000};
constexpr int kPortPatienceMs = 2000;

// True if a port accepts a connection; nothing is sent.
bool is_port_open(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  const int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  bool open = connect(descriptor, found->ai_addr, found->ai_addrlen) == 0;
  if (!open && errno == EINPROGRESS) {
    pollfd waiting{descriptor, POLLOUT, 0};
    int error = 0;
    socklen_t length = sizeof error;
    open = poll(&waiting, 1, kPortPatienceMs) == 1 &&
           getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
  }
  close(descriptor);
  return open;
}

Health health_of(const Answer& srvr, const Answer& conf) {
  using State = Health::State;
  const observe::Sample sample = observe::read_sample(srvr, {}, {});
  Health health{.id = observe::sid_in(conf), .zxid = sample.zxid, .trouble = sample.trouble};
  health.leads = sample.role == "leader";
  switch (srvr.heard) {
    case Heard::kNothing: health.state = State::kDown; break;
    case Heard::kNotServing: health.state = State::kNotServing; break;
    case Heard::kNotAllowed: health.state = State::kUnknown; break;
    case Heard::kText: {
      const bool member = health.leads || sample.role == "follower" || sample.role == "observer";
      health.state = member ? State::kServing : State::kNotServing;
      if (sample.role == "standalone") health.state = State::kAlone;
      health.role = sample.role;
      break;
    }
  }
  return health;
}

}  // namespace

std::map<std::int64_t, Health> look_at(const std::vector<EnsembleMember>& members, bool ports) {
  std::map<std::int64_t, Health> found;
  std::vector<observe::Question> questions;
  std::vector<std::int64_t> asked;
  for (const EnsembleMember& member : members) {
    Health& health = found[member.id];
    health.trouble = "its client port is not in the configuration";
    if (!member.client) continue;
    const observe::Address address{member.client->host, member.client->port};
    questions.push_back({address, "srvr"});
    questions.push_back({address, "conf"});
    asked.push_back(member.id);
  }
  const std::vector<Answer> answers = observe::ask(questions, kWordPatience);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    found[asked[i]] = health_of(answers[2 * i], answers[2 * i + 1]);
  }
  for (const EnsembleMember& member : members) {
    if (!ports) break;
    found[member.id].election_port_open = is_port_open(member.peers[0].host, member.peers[0].election_port);
  }
  return found;
}

std::string state_text(const Health& health) {
  switch (health.state) {
    case Health::State::kUnknown: return "unknown";
    case Health::State::kDown: return "down";
    case Health::State::kNotServing: return "looking";
    case Health::State::kServing: return health.role;
    case Health::State::kAlone: return "standalone";
  }
  return {};
}

}  // namespace drover::cli::reconfig
