// SPDX-License-Identifier: Apache-2.0
#include "dashboard/access.h"

#include "dashboard/json.h"
#include "http/admin_auth.h"
#include "http/text.h"

namespace drover::server {
namespace {

bool is_same_origin(const HttpRequest& request) {
  const std::string_view site = request.header("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return false;
  const std::string_view origin = request.header("Origin");
  if (origin.empty()) return true;  // not a browser, or a very old one: the custom header must suffice
  return origin == std::string(request.tls ? "https://" : "http://").append(request.header("Host"));
}

}  // namespace

std::expected<Asker, HttpResponse> asker_of(const HttpRequest& request, const ServerInside& inside) {
  auto who = identities_of(request, inside);
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
    return problem(403, "WrongOrigin", "Changes are accepted only from this server's own page.");
  if (const HttpAuth auth = may_edit(request, inside); !auth.allowed()) {
    return auth.status == 401
               ? problem(401, "AuthRequired", "Changes need a user: enter one at the top right.")
               : problem(403, "NoAuth", "Changes need all permissions on /, as the commands do.");
  }
  return std::nullopt;
}

}  // namespace drover::server
