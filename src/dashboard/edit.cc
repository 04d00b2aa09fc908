// SPDX-License-Identifier: Apache-2.0
#include "dashboard/edit.h"

#include <limits>
#include <mutex>

#include "base/base64.h"
#include "base/number.h"
#include "base/path.h"
#include "dashboard/inside_client.h"
#include "dashboard/json.h"
#include "log/log.h"
#include "net/address.h"

namespace drover::server {
namespace {

struct Change {
  std::string path;
  std::string data;  // only for a PUT
  std::int32_t version = -1;
};

std::optional<Change> change_in(std::string_view body) {
  json::error_code failed;
  const json::value parsed = json::parse({body.data(), body.size()}, failed);
  const json::object* object = failed ? nullptr : parsed.if_object();
  if (!object) return std::nullopt;
  const json::value* path = object->if_contains("path");
  const json::value* data = object->if_contains("data");
  const json::value* version = object->if_contains("version");
  if (!path || !path->is_string() || !data || !data->is_string() || !version || !version->is_int64())
    return std::nullopt;
  if (version->as_int64() < 0 || version->as_int64() > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  auto bytes = from_base64({data->as_string().data(), data->as_string().size()});
  if (!bytes || !is_valid_path({path->as_string().data(), path->as_string().size()})) return std::nullopt;
  return Change{.path = std::string(path->as_string()),
                .data = *std::move(bytes),
                .version = static_cast<std::int32_t>(version->as_int64())};
}

HttpResponse bad_request() {
  return problem(400, "BadArguments", "A change needs a path, the version that was seen, and base64 data.");
}

// One at a time: each blocks an HTTP thread until it is done or times out.
template <class Do>
HttpResponse carry_out(const ServerInside& inside, const Asker& asker, const HttpRequest& request,
                       std::string_view path, Do change) {
  static std::mutex one_at_a_time;
  std::unique_lock turn(one_at_a_time, std::try_to_lock);
  if (!turn) return problem(429, "Busy", "Another change is in progress; try again.");
  const auto from = net::Address::parse(request.ip, 0);
  if (!from) return problem(500, "Address", "Your address could not be read.");
  auto socket = inside.connect_inside(*from);
  if (!socket) return problem(503, "Connections", socket.error().what);
  auto client = InsideClient::connect(*std::move(socket));
  if (!client) return problem(503, "NotServing", "The server accepts no changes at the moment.");
  const auto proven =
      asker.scheme == "sasl" ? client->log_in(asker.auth) : client->authenticate(asker.scheme, asker.auth);
  if (!proven) return problem(proven.error());
  const CodeResult<void> done = change(*client);
  if (!done && done.error() == ErrorCode::kConnectionLoss)
    return problem(504, "ConnectionLoss",
                   "There was no answer in time; the change may or may not have been made.");
  if (!done) return problem(done.error());
  log_info("http", "{} of {} by {} over HTTP", request.method == HttpMethod::kPut ? "change" : "deletion",
           escaped(path, 256), request.remote);
  return json_answer({{"path", valid_text(path)}});
}

}  // namespace

HttpResponse set_node_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request) {
  if (auto refused = refuse_change(request, inside)) return std::move(*refused);
  const auto wanted = change_in(request.body);
  if (!wanted) return bad_request();
  return carry_out(inside, asker, request, wanted->path, [&](InsideClient& client) {
    return client.set_data(wanted->path, wanted->data, wanted->version);
  });
}

HttpResponse delete_node_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request) {
  if (auto refused = refuse_change(request, inside)) return std::move(*refused);
  const std::string_view path = request.parameter("path");
  const auto version = parse_number<std::int32_t>(request.parameter("version"));
  if (!is_valid_path(path) || !version || *version < 0) return bad_request();
  return carry_out(inside, asker, request, path,
                   [&](InsideClient& client) { return client.remove(path, *version); });
}

}  // namespace drover::server
