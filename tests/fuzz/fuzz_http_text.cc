// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the HTTP side's own parsers (targets, Authorization, a JSON body), the lookup of routes and
// commands, and the JSON output.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/admin_commands.h"
#include "http/pretty_json.h"
#include "http/router.h"
#include "http/text.h"

namespace {

using namespace drover::server;

void require(bool condition) {
  if (!condition) std::abort();
}

void look_at_target(std::string_view input) {
  const auto target = parse_target(input);
  if (!target) return;
  require(target->path.starts_with('/'));
  require(target->path.size() <= input.size());
  require(target->path.find('\0') == std::string::npos);
  HttpRouter router;
  router.get("/commands/*", {});
  router.get("/a", {});
  const auto match = router.find(HttpMethod::kGet, target->path);
  require(!match.route || target->path.starts_with(match.route->path));
  (void)find_admin_command(target->path.substr(1));
}

// Quoted text can be parsed again, and does not break out of its quotes.
void look_at_json(std::string_view input) {
  const std::string quoted = json_quoted(input);
  require(quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"');
  require(number_in_json("{" + quoted + ":7,\"n\":12}", "n") == 12 || json_quoted(input) == "\"n\"");
  PrettyJson json;
  json.begin_object().field(input, input).key("list").begin_array().value(input).end_array();
  require(number_in_json(json.field("n", 3).end_object().take(), "n").has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  look_at_target(input);
  if (const auto who = parse_authorization(input)) require(who->scheme.size() + who->auth.size() + 1 == size);
  require(forwarded_client(input).size() <= size);
  (void)number_in_json(input, "percentage");
  look_at_json(input);
  return 0;
}
