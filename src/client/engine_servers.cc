// SPDX-License-Identifier: Apache-2.0
//
// The list of servers: how it changes, and how it follows the ensemble's configuration.
//
// The engine reads /zookeeper/config with a watch of its own on each session. What it cannot read or
// understand changes nothing.
#include <algorithm>
#include <utility>

#include "base/path.h"
#include "client/engine.h"
#include "client/requests.h"
#include "drover/ensemble.h"
#include "net/address.h"

namespace drover::client {
namespace {

// The configuration has the addresses by which servers know each other; clients may not reach them, for
// example behind NAT. So after this many rounds in vain, the servers that the user gave are tried, too.
constexpr std::size_t kRoundsBeforeFallback = 2;

bool same_host(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  const auto same = [&](char x, char y) { return lower(x) == lower(y); };
  if (std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) return true;
  // "::1" is also "0:0:0:0:0:0:0:1".
  const auto first = net::Address::parse(a, 0);
  const auto second = net::Address::parse(b, 0);
  return first && second && *first == *second;
}

bool same_server(const ServerAddress& a, const ServerAddress& b) {
  return a.port == b.port && same_host(a.host, b.host);
}

bool contains(const std::vector<ServerAddress>& servers, const ServerAddress& server) {
  return std::any_of(servers.begin(), servers.end(),
                     [&](const ServerAddress& each) { return same_server(each, server); });
}

// A client with TLS cannot use plain ports, and the other way round.
std::vector<ServerAddress> usable_servers(const EnsembleConfig& config, bool secure) {
  std::vector<ServerAddress> servers;
  for (const EnsembleMember& member : config.members) {
    const std::optional<Endpoint>& where = secure ? member.secure_client : member.client;
    if (!where) continue;
    ServerAddress server{where->host, where->port};
    if (!contains(servers, server)) servers.push_back(std::move(server));
  }
  return servers;
}

}  // namespace

class Engine::ConfigCall final : public Call {
 public:
  void on_answer(const wire::ReplyHeader& header, std::string_view reply) override {
    if (header.error != ErrorCode::kOk) return;  // For example, we may not read it.
    wire::Reader reader(reply);
    const auto node = decode_node(reader, *this);
    if (node && reader.ok()) text = node->data;
  }
  void on_error(Error) override {}

  std::optional<std::string> text;
};

void Engine::set_servers(std::vector<ServerAddress> servers, Instant now) {
  if (servers.empty() || is_over()) return;
  given_ = servers;
  replace_servers({std::move(servers), 0}, now);
  digest(now);
}

Origins Engine::origins_of(const std::vector<ServerAddress>& servers) const {
  const auto current = session_->current_server();
  Origins origins;
  for (const ServerAddress& server : servers) {
    const auto same = [&](const ServerAddress& each) { return same_server(each, server); };
    const auto found = std::find_if(servers_.begin(), servers_.end(), same);
    if (found != servers_.end()) {
      origins.emplace_back(found - servers_.begin());
    } else if (current && session_->is_connected() && same_server(server, peer_)) {
      origins.push_back(current);  // The same server by its number instead of its name.
    } else {
      origins.emplace_back();
    }
  }
  return origins;
}

// The user may have given another name of the server than the configuration has, such as "localhost" or that
// of a load balancer. Then we cannot know whether it is still a member. It serves us, so it counts as one.
Current Engine::current_in(const Origins& origins) const {
  const auto current = session_->current_server();
  if (!current) return Current::kKept;
  if (*current < configured_) return Current::kByList;
  const auto is_known = [](const std::optional<std::size_t>& origin) { return origin.has_value(); };
  const bool comparable = std::any_of(origins.begin(), origins.end(), is_known);
  return comparable ? Current::kByList : Current::kStays;
}

void Engine::replace_servers(NewServers list, Instant now) {
  const Origins origins = origins_of(list.servers);
  const Current current = list.configured > 0 ? current_in(origins) : Current::kByList;
  servers_ = std::move(list.servers);
  configured_ = list.configured;
  options_.session.servers = servers_.size();
  wanted.servers = servers_;
  session_->replace_servers(origins, current, now, wanted);
}

void Engine::note_for_following(ConnectionState state) {
  const bool connected = state == ConnectionState::kConnected || state == ConnectionState::kReadOnly;
  if (connected && !config_watched_) config_wanted_ = true;
  if (state == ConnectionState::kExpired) config_watched_ = false;
}

void Engine::follow_ensemble(Instant now) {
  if (closing_ || is_over()) return;
  if (config_call_ && config_call_->stage == Call::Stage::kEnded) {
    const auto call = std::exchange(config_call_, nullptr);
    config_watched_ = call->text.has_value() && !config_wanted_;
    if (call->text) adopt_config(*call->text, now);
  }
  if (config_wanted_ && !config_call_ && session_->is_connected()) ask_for_config(now);
  fall_back(now);
}

void Engine::ask_for_config(Instant now) {
  config_wanted_ = false;
  config_call_ = std::make_shared<ConfigCall>();
  config_call_->op = wire::OpCode::kGetData;
  config_call_->body = path_watch_body(kConfigPath, true);
  submit(config_call_, now);
}

// A server that lags behind may show an older configuration than the one we follow.
void Engine::adopt_config(std::string_view text, Instant now) {
  const EnsembleConfig config = parse_ensemble_config(text);
  std::vector<ServerAddress> servers = usable_servers(config, options_.secure);
  if (config.version < config_version_ || servers.empty()) return;
  config_version_ = config.version;
  if (servers == servers_ && configured_ == servers_.size()) return;
  const std::size_t configured = servers.size();
  replace_servers({std::move(servers), configured}, now);
  digest(now);
}

void Engine::fall_back(Instant now) {
  const bool follows = configured_ > 0 && configured_ == servers_.size();
  if (!follows || session_->failed_rounds() < kRoundsBeforeFallback) return;
  std::vector<ServerAddress> servers = servers_;
  for (const ServerAddress& server : given_) {
    if (!contains(servers, server)) servers.push_back(server);
  }
  if (servers.size() > servers_.size()) replace_servers({std::move(servers), configured_}, now);
}

}  // namespace drover::client
