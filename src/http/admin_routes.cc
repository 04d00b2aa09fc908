// SPDX-License-Identifier: Apache-2.0
#include "http/admin_routes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "config/values.h"
#include "http/admin_auth.h"
#include "http/text.h"
#include "log/log.h"
#include "net/descriptor.h"
#include "runtime/clock.h"
#include "storage/data_dir.h"

namespace drover::server {
namespace {

constexpr std::string_view kNotServing = "This ZooKeeper instance is not currently serving requests";

HttpResponse failure(int status, std::string_view command, std::string_view error) {
  return json_response(status, bare_answer(command, error));
}

// Sends a file. The file can be removed meanwhile; the open descriptor keeps it readable.
class FileSource : public BodySource {
 public:
  explicit FileSource(net::Descriptor file) : file_(std::move(file)) {}
  State next(std::string& piece) override {
    piece.resize(kBodyPieceBytes);
    const ssize_t got = ::read(file_.fd(), piece.data(), piece.size());
    piece.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (got < 0) return State::kFailed;
    return got == 0 ? State::kEnd : State::kMore;
  }

 private:
  net::Descriptor file_;
};

}  // namespace

AdminRoutes::AdminRoutes(const ServerInside& inside)
    : inside_(inside), url_(inside.config.admin.command_url), restore_(inside) {}

void AdminRoutes::add_to(HttpRouter& router) {
  router.get(url_ + "/*", [this](const HttpRequest& request) { return run(request, false); });
  router.post(url_ + "/*", [this](const HttpRequest& request) { return run(request, true); });
  for (const char* name : {"/restore", "/rest"}) {
    router.upload(url_ + name, [this](const HttpRequest& request) { return begin_restore(request); });
    router.get(url_ + name, [this](const HttpRequest& request) { return run(request, false); });
  }
}

std::string AdminRoutes::name_in(const HttpRequest& request) const {
  return request.path.size() <= url_.size() + 1 ? "" : request.path.substr(url_.size() + 1);
}

std::optional<HttpResponse> AdminRoutes::answer_without_body(const HttpRequest& request) {
  if (request.method != HttpMethod::kPost || !request.path.starts_with(url_ + "/")) return std::nullopt;
  const std::string name = name_in(request);
  const AdminCommand* command = find_admin_command(name);
  if (command == nullptr || !command->is_post) return run(request, true);
  if (const HttpAuth auth = may_command(request, inside_); !auth.allowed())
    return failure(auth.status, command->name, auth.error);
  return std::nullopt;
}

HttpResponse AdminRoutes::run(const HttpRequest& request, bool is_post) {
  const std::string name = name_in(request);
  if (name.empty()) {
    HttpResponse links = text_response(200, command_links(url_));
    links.content_type = "text/html; charset=utf-8";
    return links;
  }
  const AdminCommand* command = find_admin_command(name);
  // Status 200, as in Java: scripts check the error, not the status.
  if (command == nullptr) return failure(200, name, "Unknown command: " + name);
  if (command->is_post != is_post) return failure(405, name, command->is_post ? "use POST" : "use GET");
  if (command->needs_server && !inside_.facts({}).serving) return failure(200, name, kNotServing);
  if (command->changes_state) {
    if (const HttpAuth auth = may_command(request, inside_); !auth.allowed())
      return failure(auth.status, name, auth.error);
    log_info("http", "{} from {}", command->name, request.remote);
  }
  return perform(*command, request);
}

HttpResponse AdminRoutes::perform(const AdminCommand& command, const HttpRequest& request) {
  if (command.name == "snapshot") return take_snapshot(command, request);
  if (command.name == "shed_connections") return shed_connections(command, request);
  if (command.name == "set_trace_mask") return set_trace_mask(command, request);
  if (command.name == "stat_reset") inside_.reset_server_stats();
  if (command.name == "connection_stat_reset") inside_.reset_connection_stats();
  if (command.name == "observer_connection_stat_reset") inside_.reset_observer_stats();
  if (command.print == nullptr) return json_response(200, bare_answer(command.name));
  const Facts facts = inside_.facts(command.needs);
  return json_response(
      200, answer_of(command, {.facts = facts, .config = inside_.config, .members = inside_.members()}));
}

HttpResponse AdminRoutes::set_trace_mask(const AdminCommand& command, const HttpRequest& request) {
  constexpr std::string_view kWanted = "setTraceMask requires long traceMask argument";
  const auto wrong = [&](std::string_view sentence) {
    PrettyJson json;
    json.begin_object().field("error", sentence).field("command", command.name);
    return json_response(200, json.end_object().take());
  };
  if (!request.query.contains("traceMask")) return wrong(kWanted);
  const std::string_view text = request.parameter("traceMask");
  const auto mask = parse_whole_number(text, Notation::kDecimal);
  if (!mask) return wrong(fmt::format("{}, got {}", kWanted, text));
  inside_.trace_mask = *mask;
  const Facts facts = inside_.facts({});
  return json_response(
      200, answer_of(command, {.facts = facts, .config = inside_.config, .members = inside_.members()}));
}

HttpResponse AdminRoutes::take_snapshot(const AdminCommand& command, const HttpRequest& request) {
  if (!inside_.config.admin.snapshot_enabled)
    return failure(503, command.name, "admin.snapshot.enabled is false");
  RateLimit& limit = inside_.limits.snapshots;
  AdminCounts& counts = inside_.limits.counts;
  if (!limit.allow(monotonic_now(), inside_.config.admin.rate_limit_interval_ms)) {
    counts.count([](auto& values) { ++values.snapshots_limited; });
    return failure(429, command.name, "only one snapshot is allowed per admin.rateLimiterIntervalInMS");
  }
  const auto taken = inside_.snapshots.take();
  if (!taken) {
    limit.give_back();
    counts.count([](auto& values) { ++values.snapshots_failed; });
    return failure(500, command.name, taken.error().what);
  }
  // The snapshot must be on the disk for a restore, not only in the response; and the file is the response.
  const ServerConfig& config = inside_.config;
  const std::string path =
      storage::data_dirs(config.data_dir, config.data_log_dir).snapshots + "/" + taken->file;
  net::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t size = file ? ::lseek(file.fd(), 0, SEEK_END) : -1;
  if (size < 0 || ::lseek(file.fd(), 0, SEEK_SET) != 0)
    return failure(500, command.name, io_error(errno, "open " + path).what);
  HttpResponse response = json_response(200, bare_answer(command.name));
  if (equal_ignoring_case(request.parameter("streaming", "true"), "true")) {
    response.content_type = "application/octet-stream";
    response.source = std::make_unique<FileSource>(std::move(file));
  }
  response.headers.push_back(
      {"last_zxid", fmt::format("0x{:x}", static_cast<std::uint64_t>(raw(taken->zxid)))});
  response.headers.push_back({"snapshot_size", std::to_string(size)});
  return response;
}

UploadStart AdminRoutes::begin_restore(const HttpRequest& request) {
  const AdminCommand& command = *find_admin_command("restore");
  if (const HttpAuth auth = may_command(request, inside_); !auth.allowed())
    return failure(auth.status, command.name, auth.error);
  if (const std::string_view why_not = restore_.hindrance(); !why_not.empty())
    return failure(503, command.name, why_not);
  log_info("http", "restore from {}", request.remote);
  return restore_.begin(command);
}

HttpResponse AdminRoutes::shed_connections(const AdminCommand& command, const HttpRequest& request) {
  const auto percentage = number_in_json(request.body, "percentage");
  if (!percentage) return failure(400, command.name, "the body must be {\"percentage\": N}");
  if (*percentage < 0 || *percentage > 100)
    return failure(400, command.name, "Percentage must be between 0 and 100");
  PrettyJson json;
  json.begin_object().field("connections_shed", inside_.shed_connections(static_cast<int>(*percentage)));
  json.field("percentage_requested", *percentage);
  return json_response(200, finish_answer(std::move(json), command.name));
}

}  // namespace drover::server
