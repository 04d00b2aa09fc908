// SPDX-License-Identifier: Apache-2.0
#include "server/dashboard_access.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "net/address.h"
#include "server/admin_auth.h"
#include "server/dashboard_json.h"
#include "server/http_text.h"

namespace drover::server {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "zk1:8080" is zk1, "[::1]:8080" is ::1.
std::string host_without_port(std::string_view host) {
  if (host.starts_with('[')) return lower(host.substr(1, host.find(']') - 1));
  return lower(host.substr(0, host.rfind(':')));
}

std::string machine_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return lower(name);
}

bool is_same_origin(const HttpRequest& request) {
  const std::string_view site = request.header("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return false;
  const std::string_view origin = request.header("Origin");
  if (origin.empty()) return true;  // not a browser, or a very old one: the custom header has to do
  return origin == std::string(request.tls ? "https://" : "http://").append(request.header("Host"));
}

}  // namespace

bool is_our_host(std::string_view host_header, const AdminSettings& settings) {
  const std::string host = host_without_port(host_header);
  if (host.empty()) return false;
  if (host == "localhost" || host == lower(settings.address) || host == machine_name()) return true;
  if (std::ranges::find(settings.dashboard_hosts, host) != settings.dashboard_hosts.end()) return true;
  // No name, no rebinding.
  return net::Address::parse(host, 0).has_value();
}

std::expected<Asker, HttpResponse> asker_of(const HttpRequest& request, const ServerInside& inside) {
  if (!is_our_host(request.header("Host"), inside.config.admin)) {
    return std::unexpected(problem(
        421, "WrongHost", "This server is not known by that name; admin.dashboard.hosts takes names."));
  }
  auto who = identities_of(request, inside.machine.options);
  if (!who) return std::unexpected(problem(401, "AuthFailed", "These credentials are not accepted."));
  Asker asker{.who = *std::move(who)};
  if (const auto credentials = parse_authorization(request.header("Authorization"))) {
    asker.scheme = credentials->scheme;
    asker.auth = credentials->auth;
  }
  return asker;
}

std::optional<HttpResponse> refuse_change(const HttpRequest& request, const ServerInside& inside) {
  if (!inside.config.admin.dashboard_edit)
    return problem(403, "EditOff", "Changes over HTTP are off; admin.dashboard.edit=true allows them.");
  if (request.header("X-Drover-Request").empty() || !is_same_origin(request))
    return problem(403, "WrongOrigin", "Changes are taken from this server's own page only.");
  if (const HttpAuth auth = may_change(request, inside); !auth.allowed()) {
    return auth.status == 401
               ? problem(401, "AuthRequired", "Changes need a user: enter one at the top right.")
               : problem(403, "NoAuth", "Changes need all permissions on /, as the commands do.");
  }
  return std::nullopt;
}

}  // namespace drover::server
