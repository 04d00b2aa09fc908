// SPDX-License-Identifier: Apache-2.0
#include "drover/testing.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>
#include <utility>

#include "client/core.h"
#include "testing/embedded_server.h"
#include "testing/fault_proxy.h"
#include "testing/loopback.h"
#include "testing/session_killer.h"

namespace drover::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kStartLimit(30'000);
constexpr milliseconds kPollPause(10);

std::unexpected<Error> cannot(std::string why) { return fail(Errc::kSystemError, {}, std::move(why)); }

std::string address(int port) { return "127.0.0.1:" + std::to_string(port); }

// A data directory. The destructor removes it if it is temporary.
class Directory {
 public:
  explicit Directory(const std::string& named) : path_(named), temporary_(named.empty()) {
    if (temporary_) {
      std::string pattern = fs::temp_directory_path() / "drover-testing-XXXXXX";
      if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    std::error_code ignored;
    fs::create_directories(path_, ignored);
  }
  ~Directory() {
    std::error_code ignored;
    if (temporary_ && !path_.empty()) fs::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool temporary_;
};

// One server: its files, and the running server if there is one.
struct Node {
  fs::path directory;
  std::vector<std::string> config = {};
  int port = 0;
  std::unique_ptr<EmbeddedServer> running = {};

  Result<void> start() {
    const fs::path file = directory / "zoo.cfg";
    fs::create_directories(directory / "data");
    std::ofstream out(file);
    out << "dataDir=" << (directory / "data").string() << "\nclientPort=" << port
        << "\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\nforceSync=no\nadmin.enableServer=false\n";
    for (const std::string& line : config) out << line << "\n";
    out.close();
    if (!out) return cannot("cannot write " + file.string());
    std::string error;
    running = EmbeddedServer::start(file.string(), error);
    if (!running) return cannot(error);
    port = running->port();
    return {};
  }
};

// "leader", "follower", …; empty while the server does not serve.
std::string mode_of(const Node& node) {
  constexpr std::string_view kLine = "Mode: ";
  const std::string answer = ask_word({"127.0.0.1", static_cast<std::uint16_t>(node.port)}, "srvr");
  const std::size_t at = answer.find(kLine);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kLine.size();
  return answer.substr(begin, answer.find('\n', begin) - begin);
}
bool is_serving(const Node& node) { return !mode_of(node).empty(); }

std::vector<std::string> common_config(const ServerOptions& options) {
  std::vector<std::string> lines{"tickTime=" + std::to_string(options.tick.count())};
  lines.insert(lines.end(), options.config.begin(), options.config.end());
  return lines;
}

}  // namespace

// --- Server ---

struct Server::State {
  explicit State(const ServerOptions& options) : directory(options.directory) {
    node.directory = directory.path();
    node.config = common_config(options);
  }
  Directory directory;
  Node node;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

Result<Server> Server::start(ServerOptions options) {
  auto state = std::make_unique<State>(options);
  if (auto started = state->node.start(); !started) return std::unexpected(started.error());
  return Server(std::move(state));
}

std::string Server::connect_string() const { return address(state_->node.port); }
bool Server::is_running() const { return state_->node.running != nullptr; }
void Server::stop() { state_->node.running.reset(); }

Result<void> Server::restart() {
  stop();
  return state_->node.start();
}

// --- Cluster ---

struct Cluster::State {
  explicit State(const ServerOptions& options) : directory(options.directory) {}
  Directory directory;
  std::vector<Node> nodes;

  // Finds free ports. They are held until all are known; otherwise a port could be returned twice.
  Result<void> lay_out(int servers, const ServerOptions& options) {
    std::vector<Socket> held;
    for (int i = 0; i < 3 * servers; ++i) {
      held.push_back(listen_on(0));
      if (!held.back()) return cannot("no port is free");
    }
    std::vector<std::string> config = common_config(options);
    config.emplace_back("initLimit=100");
    config.emplace_back("syncLimit=50");
    config.emplace_back("leader.silenceLimitMs=0");
    for (int i = 0; i < servers; ++i) {
      const auto port = [&](int which) {
        return std::to_string(held[static_cast<std::size_t>(3 * i + which)].port());
      };
      config.push_back("server." + std::to_string(i + 1) + "=127.0.0.1:" + port(1) + ":" + port(2));
    }
    for (int i = 0; i < servers; ++i) {
      Node node{.directory = directory.path() / ("server-" + std::to_string(i + 1)), .config = config};
      node.port = held[static_cast<std::size_t>(3 * i)].port();
      fs::create_directories(node.directory / "data");
      std::ofstream(node.directory / "data" / "myid") << i + 1 << "\n";
      nodes.push_back(std::move(node));
    }
    return {};
  }

  // A server that was never synced does not count for a quorum: if the leader is stopped before that, the
  // others must wait for it.
  Result<void> wait_for_all(milliseconds within) const {
    const auto until = Clock::now() + within;
    while (!std::ranges::all_of(nodes, is_serving)) {
      if (Clock::now() >= until) return fail(Errc::kDeadline, {}, "not all servers serve");
      std::this_thread::sleep_for(kPollPause);
    }
    return {};
  }
};

Cluster::Cluster(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;
Cluster::~Cluster() = default;

Result<Cluster> Cluster::start(int servers, ServerOptions options) {
  if (servers < 1 || servers > 9) return fail(Errc::kBadArguments, {}, "1 to 9 servers");
  auto state = std::make_unique<State>(options);
  if (auto done = state->lay_out(servers, options); !done) return std::unexpected(done.error());
  for (Node& node : state->nodes) {
    if (auto started = node.start(); !started) return std::unexpected(started.error());
  }
  Cluster cluster(std::move(state));
  if (auto serving = cluster.state_->wait_for_all(kStartLimit); !serving)
    return std::unexpected(serving.error());
  return cluster;
}

std::size_t Cluster::size() const { return state_->nodes.size(); }

std::string Cluster::connect_string() const {
  std::string all;
  for (std::size_t i = 0; i < size(); ++i) all += (i == 0 ? "" : ",") + connect_string(i);
  return all;
}

std::string Cluster::connect_string(std::size_t i) const { return address(state_->nodes.at(i).port); }
void Cluster::stop(std::size_t i) { state_->nodes.at(i).running.reset(); }

Result<void> Cluster::restart(std::size_t i) {
  stop(i);
  return state_->nodes.at(i).start();
}

std::optional<std::size_t> Cluster::leader() const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!state_->nodes[i].running) continue;
    const std::string mode = mode_of(state_->nodes[i]);
    if (mode == "leader" || mode == "standalone") return i;
  }
  return std::nullopt;
}

Result<std::size_t> Cluster::wait_for_leader(milliseconds within) const {
  const auto until = Clock::now() + within;
  for (;;) {
    if (const auto found = leader()) return *found;
    if (Clock::now() >= until) return fail(Errc::kDeadline, {}, "no server leads");
    std::this_thread::sleep_for(kPollPause);
  }
}

// --- sessions ---

Result<void> kill_session(const Client& client, const std::string& servers) {
  const auto place = parse_place(servers);
  if (!place)
    return fail(Errc::kBadArguments, {}, "'" + servers + "' is not one numeric address with a port");
  if (client.scheduler().is_current()) return fail(Errc::kWouldBlock, {}, "kill_session() waits");
  std::promise<SessionKey> told;
  client.scheduler().core()->command([&told](client::Engine& engine, Instant) {
    told.set_value({raw(engine.session().id()), std::string(engine.session().password())});
  });
  const SessionKey key = told.get_future().get();
  if (key.id == 0) return fail(Errc::kBadArguments, {}, "the client has no session");
  std::string error = end_session(*place, key);
  return error.empty() ? Result<void>{} : cannot(std::move(error));
}

// --- the proxy ---

struct Proxy::State {
  State(Socket listener, Place server) : proxy(std::move(listener), std::move(server)) {}
  FaultProxy proxy;
};

Proxy::Proxy(std::unique_ptr<State> state) : state_(std::move(state)) {}
Proxy::Proxy(Proxy&&) noexcept = default;
Proxy& Proxy::operator=(Proxy&&) noexcept = default;
Proxy::~Proxy() = default;

Result<Proxy> Proxy::start(const std::string& server) {
  const auto place = parse_place(server);
  if (!place) return fail(Errc::kBadArguments, {}, "'" + server + "' is not one numeric address with a port");
  Socket listener = listen_on(0);
  if (!listener) return cannot("no port is free");
  return Proxy(std::make_unique<State>(std::move(listener), *place));
}

std::string Proxy::connect_string() const { return address(state_->proxy.port()); }
void Proxy::lose_reply(std::string_view op, int nth) { state_->proxy.set_trap({std::string(op), nth, true}); }
void Proxy::lose_request(std::string_view op, int nth) {
  state_->proxy.set_trap({std::string(op), nth, false});
}
void Proxy::disconnect() { state_->proxy.disconnect(); }
void Proxy::cut() { state_->proxy.set_mode(FaultProxy::Mode::kCut); }
void Proxy::freeze() { state_->proxy.set_mode(FaultProxy::Mode::kFrozen); }
void Proxy::heal() { state_->proxy.set_mode(FaultProxy::Mode::kOpen); }
std::size_t Proxy::connections() const { return state_->proxy.connections(); }
std::uint64_t Proxy::requests(std::string_view op) const { return state_->proxy.requests(op); }

}  // namespace drover::testing
