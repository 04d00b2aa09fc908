// SPDX-License-Identifier: Apache-2.0
#include "dashboard/member_probe.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/number.h"
#include "net/socket.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

constexpr int kAnswerWithinMs = 1000;
constexpr std::size_t kAnswerMax = 8192;

// Returns the rest of the line that begins with `key`.
std::string_view line_of(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    text.remove_prefix(at + key.size());
    return text.substr(0, text.find('\n'));
  }
  return {};
}

// Parses a number at the start of `text` and advances `text`. A value that is not finite becomes 0: JSON
// cannot express it, and the browser would reject the whole answer.
double take_latency(const char*& text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  text = end;
  return std::isfinite(value) ? value : 0;
}

void read_latencies(std::string_view text, ServerSaid& said) {
  const std::string copy(text);  // "0/1.25/30"
  const char* rest = copy.c_str();
  said.latency_min = take_latency(rest);
  if (*rest == '/') said.latency_avg = take_latency(++rest);
  if (*rest == '/') said.latency_max = take_latency(++rest);
}

// One pending request.
struct Probe {
  ServerId server{};
  net::Socket socket;
  bool asked = false;
  std::string answer{};
  ProbeResult result{};
  bool done = false;

  void fail(std::string why) {
    result.error = std::move(why);
    done = true;
  }
  void finish() {
    result.said = parse_srvr(answer);
    if (!result.said) result.error = "gave no answer to srvr";
    done = true;
  }
  void on_ready() {
    if (!asked) {
      if (const int error = socket.take_error()) return fail(std::strerror(error));
      asked = true;
      if (send(socket.fd(), "srvr", 4, MSG_NOSIGNAL) != 4) fail("closed the connection");
      return;
    }
    std::array<char, 4096> bytes{};
    const ssize_t n = recv(socket.fd(), bytes.data(), bytes.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) answer.append(bytes.data(), static_cast<std::size_t>(n));
    if (n <= 0 || answer.size() > kAnswerMax) finish();
  }
};

Probe ask(ServerId server, const Endpoint& endpoint) {
  Probe asking;
  asking.server = server;
  const auto addresses = net::resolve(endpoint.host, endpoint.port);
  if (!addresses || addresses->empty()) {
    asking.fail("its host name cannot be resolved");
  } else if (auto socket = net::start_connect(addresses->front())) {
    asking.socket = *std::move(socket);
  } else {
    asking.fail(socket.error().what);
  }
  return asking;
}

}  // namespace

std::optional<ServerSaid> parse_srvr(std::string_view text) {
  ServerSaid said;
  if (text.find("not currently serving") != text.npos) return said;
  const std::string_view mode = line_of(text, "Mode: ");
  const std::string_view zxid = line_of(text, "Zxid: 0x");
  if (mode.empty() || zxid.empty()) return std::nullopt;
  said.mode = mode;
  said.zxid = Zxid{static_cast<std::int64_t>(parse_number<std::uint64_t>(zxid, 16).value_or(0))};
  const std::string_view version = line_of(text, "Zookeeper version: ");
  said.version = version.substr(0, version.find(','));
  said.connections = parse_number<std::int64_t>(line_of(text, "Connections: ")).value_or(0);
  said.outstanding = parse_number<std::int64_t>(line_of(text, "Outstanding: ")).value_or(0);
  said.nodes = parse_number<std::int64_t>(line_of(text, "Node count: ")).value_or(0);
  read_latencies(line_of(text, "Latency min/avg/max: "), said);
  return said;
}

std::map<ServerId, Endpoint> client_endpoints(const ServerConfig& config, const Membership& members) {
  std::map<ServerId, Endpoint> out;
  const EnsembleConfig& ensemble = config.ensemble;
  if (!ensemble.my_id) return out;
  const auto& ours = members.is_member(*ensemble.my_id) ? members : ensemble.members;
  const std::string& our_host = ours.servers().at(*ensemble.my_id).addresses.front().host;
  for (const auto& [id, spec] : members.servers()) {
    if (id == *ensemble.my_id) continue;
    const std::string& host = spec.addresses.front().host;
    if (spec.client) {
      const bool anywhere = spec.client->host.empty() || spec.client->host == "0.0.0.0";
      out[id] = {anywhere ? host : spec.client->host, spec.client->port};
    } else if (config.client && host != our_host) {
      out[id] = {host, config.client->port};
    }
  }
  return out;
}

std::map<ServerId, ProbeResult> probe(const std::map<ServerId, Endpoint>& servers) {
  std::vector<Probe> all;
  for (const auto& [id, endpoint] : servers) all.push_back(ask(id, endpoint));
  const Instant give_up = monotonic_now() + kAnswerWithinMs;
  for (;;) {
    std::vector<pollfd> waiting;
    std::vector<Probe*> whose;
    for (Probe& each : all) {
      if (each.done) continue;
      waiting.push_back({each.socket.fd(), static_cast<short>(each.asked ? POLLIN : POLLOUT), 0});
      whose.push_back(&each);
    }
    const std::int64_t left = give_up - monotonic_now();
    if (waiting.empty() || left <= 0) break;
    poll(waiting.data(), waiting.size(), static_cast<int>(left));
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) whose[i]->on_ready();
    }
  }
  std::map<ServerId, ProbeResult> out;
  for (Probe& each : all) {
    if (!each.done) each.fail("does not answer");
    out[each.server] = std::move(each.result);
  }
  return out;
}

}  // namespace drover::server
