// SPDX-License-Identifier: Apache-2.0
#include "cli/common/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/number.h"
#include "cli/common/login.h"
#include "cli/common/properties.h"

namespace drover::cli::observe {
namespace {

constexpr std::string_view kDefaultServers = "127.0.0.1:2181";
constexpr std::uint16_t kDefaultPort = 2181;
constexpr std::chrono::seconds kConnectPatience{10};

// True if the word could be an option: it starts with a dash, but is not "-" or "-5".
bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

Address address_of(std::string_view text) {
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos &&
                        (bracket == std::string_view::npos ? text.find(':') == colon : colon > bracket);
  Address address{std::string(text.substr(0, has_port ? colon : text.size())), kDefaultPort};
  if (has_port) address.port = parse_number<std::uint16_t>(text.substr(colon + 1)).value_or(kDefaultPort);
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  return address;
}

// Asks for a password only if the rest is right.
void add_login(Options& options, Arguments& arguments, const Properties& properties) {
  if (!arguments.problem().empty()) return;
  Properties flags;
  for (const LoginFlag& flag : login_flags()) {
    if (arguments.has(flag.name)) flags[std::string(flag.name)] = arguments.value(flag.name, "");
  }
  auto made = make_login(flags, properties);
  if (!made) return arguments.complain(made.error());
  for (const std::string& warning : made->warnings) fmt::print(stderr, "drover: {}\n", warning);
  options.sasl = std::move(made->login);
}

}  // namespace

std::vector<Option> with_server_options(std::vector<Option> own) {
  own.insert(
      own.end(),
      {{"-server", true}, {"-timeout", true}, {"--auth", true}, {"-client-configuration", true}, {"-r"}});
  for (const LoginFlag& flag : login_flags()) own.push_back({flag.name, flag.takes_value});
  return own;
}

Arguments::Arguments(std::span<const Option> known, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!looks_like_option(word)) {
      words_.push_back(word);
      continue;
    }
    if (word.starts_with("-D")) {
      for (auto& [key, value] : parse_properties(word.substr(2))) properties_[key] = value;
      continue;
    }
    const std::size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    if (name == "--server" || name == "--timeout") name.erase(0, 1);
    const auto option =
        std::find_if(known.begin(), known.end(), [&](const Option& o) { return o.name == name; });
    if (option == known.end()) {
      complain(fmt::format("unknown option {}", name));
    } else if (!option->takes_value) {
      values_[name] = "";
    } else if (equals != std::string::npos) {
      values_[name] = word.substr(equals + 1);
    } else if (i + 1 < words.size()) {
      values_[name] = words[++i];
    } else {
      complain(fmt::format("{} needs a value", name));
    }
  }
}

std::string Arguments::value(std::string_view name, std::string_view otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string(otherwise) : found->second;
}

double Arguments::number(std::string_view name, double otherwise, Range range) {
  if (!has(name)) return otherwise;
  const auto number = parse_number<double>(value(name, ""));
  if (number && *number >= range.min && *number <= range.max) return *number;
  complain(
      fmt::format("{} takes a number from {} to {}, not '{}'", name, range.min, range.max, value(name, "")));
  return otherwise;
}

std::int64_t Arguments::integer(std::string_view name, std::int64_t otherwise, Range range) {
  const double value = number(name, static_cast<double>(otherwise), range);
  if (value != std::floor(value)) complain(fmt::format("{} takes a whole number", name));
  return static_cast<std::int64_t>(value);
}

void Arguments::complain(std::string text) {
  if (problem_.empty()) problem_ = std::move(text);
}

std::string Address::to_text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

std::vector<Address> addresses_of(std::string_view servers) {
  servers = servers.substr(0, servers.find('/'));
  std::vector<Address> addresses;
  while (!servers.empty()) {
    const std::size_t comma = std::min(servers.find(','), servers.size());
    std::string_view one = servers.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (!one.empty()) addresses.push_back(address_of(one));
    servers.remove_prefix(std::min(comma + 1, servers.size()));
  }
  return addresses;
}

std::string servers_of(const Arguments& arguments) { return arguments.value("-server", kDefaultServers); }

Options client_options(Arguments& arguments) {
  Options options;
  options.servers = servers_of(arguments);
  options.session_timeout = std::chrono::milliseconds(arguments.integer("-timeout", 30'000, {100, 1e9}));
  options.read_only_ok = arguments.has("-r");
  if (arguments.has("--auth")) {
    const std::string auth = arguments.value("--auth", "");
    const std::size_t colon = auth.find(':');
    if (colon == std::string::npos)
      arguments.complain("--auth takes SCHEME:TEXT, such as digest:user:password");
    if (colon != std::string::npos) options.auth.push_back({auth.substr(0, colon), auth.substr(colon + 1)});
  }
  Properties properties = arguments.properties();
  if (arguments.has("-client-configuration")) {
    auto read = read_properties(arguments.value("-client-configuration", ""));
    if (!read) arguments.complain(read.error());
    if (read) properties.merge(*read);
  }
  options.tls = tls_options(properties);
  add_login(options, arguments, properties);
  return options;
}

Result<Client> connect(const Options& options) {
  auto client = sync_wait(Client::connect(options, Wait::within(kConnectPatience)));
  if (client || client.error() != Errc::kDeadline) return client;
  return fail(
      Errc::kConnectionLoss, {},
      fmt::format("no session at {} within {} s. Is a server running there? `drover server` starts one, "
                  "-server HOST:PORT names another",
                  options.servers, kConnectPatience.count()));
}

void print_error(const Error& error) {
  std::string next;
  switch (error.code) {
    case Errc::kNoNode: next = "; `drover cli ls` lists nodes"; break;
    case Errc::kNoAuth: next = "; authenticate with --auth SCHEME:TEXT, such as digest:user:password"; break;
    case Errc::kSessionClosedRequireSaslAuth:
      next = "; the servers require a login: --sasl-user NAME, or --kerberos";
      break;
    case Errc::kNotReadOnly:
      next = "; the server has no quorum at the moment, `drover top` shows the servers";
      break;
    default: break;
  }
  fmt::print(stderr, "drover: {}{}\n", error.to_text(), next);
}

}  // namespace drover::cli::observe
