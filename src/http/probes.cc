// SPDX-License-Identifier: Apache-2.0
#include "http/probes.h"

#include <fmt/format.h>

namespace drover::server {
namespace {

HttpResponse verdict(std::string_view question, bool yes, const Facts& facts) {
  const std::string_view state = facts.serving ? name_of(facts.mode) : "not serving";
  return json_response(yes ? 200 : 503,
                       fmt::format("{{\"{}\":{},\"server_state\":\"{}\",\"zxid\":\"0x{:x}\"}}\n", question,
                                   yes, state, static_cast<std::uint64_t>(raw(facts.last_zxid))));
}

bool leads(const Facts& facts) {
  return facts.serving && (facts.mode == ServerMode::kLeader || facts.mode == ServerMode::kStandalone);
}

}  // namespace

void add_probes(HttpRouter& router, const ServerInside& inside) {
  // Deliberately only "the process answers": a restart does not bring back a quorum.
  router.get(
      "/live", [](const HttpRequest&) { return json_response(200, "{\"live\":true}\n"); },
      HttpPace::kInstant);
  router.get(
      "/ready",
      [&inside](const HttpRequest&) {
        const Facts facts = inside.facts({});
        return verdict("ready", facts.serving, facts);
      },
      HttpPace::kGlance);
  // The server that handles writes: a standalone server is its own leader.
  router.get(
      "/leader",
      [&inside](const HttpRequest&) {
        const Facts facts = inside.facts({});
        return verdict("leader", leads(facts), facts);
      },
      HttpPace::kGlance);
}

}  // namespace drover::server
