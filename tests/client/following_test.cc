// SPDX-License-Identifier: Apache-2.0
//
// Clients that follow the members of an ensemble which really change. SERVER is the first of three members,
// LEAVING its id; JOINING is the line of a fourth server that runs, and JOINING_ADDRESS its client port.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "drover/client.h"
#include "drover/ensemble.h"

namespace drover {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kClients = 60;  // that none of them moves to one of four servers has a chance of 3e-8

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Wait soon() { return Wait::within(seconds(30)); }

// The answer of a server on 127.0.0.1 to a four-letter word.
std::string ask(const std::string& address, std::string_view word) {
  const int port = std::stoi(address.substr(address.find(':') + 1));
  const int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(to, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0 &&
      write(to, word.data(), word.size()) == static_cast<ssize_t>(word.size())) {
    char bytes[4096];
    for (ssize_t got = 0; (got = read(to, bytes, sizeof bytes)) > 0;)
      answer.append(bytes, static_cast<std::size_t>(got));
  }
  ::close(to);
  return answer;
}

// How many sessions a server has connections of.
int sessions_at(const std::string& address) {
  const std::string text = ask(address, "cons");
  int sessions = 0;
  for (std::size_t at = 0; (at = text.find(",sid=0x", at)) != std::string::npos; ++at) ++sessions;
  return sessions;
}

bool becomes_true(const std::function<bool()>& condition) {
  const auto until = Clock::now() + seconds(30);
  while (!condition()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return true;
}

TEST(Following, ClientsUseAServerThatJoinsAndLeaveOneThatIsRemoved) {
  const std::string first = variable("SERVER"), fourth = variable("JOINING_ADDRESS");
  std::vector<Client> clients;
  std::vector<SessionId> sessions;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(
        unwrap(sync_wait(Client::connect({.servers = first + "/", .follow_ensemble = true}, soon()))));
    sessions.push_back(clients.back().session());
  }
  const auto expect_all_work = [&](const std::string& data) {
    for (int i = 0; i < kClients; ++i) {
      const Client& client = clients[static_cast<std::size_t>(i)];
      const std::string path = "/following-" + std::to_string(i);
      if (data == "0") {
        unwrap(sync_wait(client.create(path, data, {.mode = CreateMode::kEphemeral}, soon())));
      } else {
        unwrap(sync_wait(client.set(path, data, Version::kAny, soon())));
      }
      EXPECT_EQ(client.session(), sessions[static_cast<std::size_t>(i)]) << "no session is lost";
    }
  };
  expect_all_work("0");
  EXPECT_EQ(sessions_at(fourth), 0);

  const NodeData before = unwrap(sync_wait(clients[0].config(soon())));
  const NodeData grown = unwrap(sync_wait(clients[0].reconfig(
      {.joining = variable("JOINING"), .from_version = parse_ensemble_config(before.data).version}, soon())));
  const EnsembleConfig config = parse_ensemble_config(grown.data);
  EXPECT_EQ(config.members.size(), 4u);
  EXPECT_TRUE(becomes_true([&] { return sessions_at(fourth) > 0; })) << "some move to the new server";
  expect_all_work("1");

  // Java refuses the version of the past.
  const auto stale = sync_wait(clients[0].reconfig(
      {.leaving = variable("LEAVING"), .from_version = parse_ensemble_config(before.data).version}, soon()));
  EXPECT_EQ(stale.error().code, Errc::kBadVersion);

  const NodeData shrunk = unwrap(sync_wait(clients[0].reconfig({.leaving = variable("LEAVING")}, soon())));
  EXPECT_EQ(parse_ensemble_config(shrunk.data).members.size(), 3u);
  EXPECT_TRUE(becomes_true([&] { return sessions_at(first) == 0; })) << "nobody stays at a removed server";
  expect_all_work("2");
}

}  // namespace
}  // namespace drover
