// SPDX-License-Identifier: Apache-2.0
//
// The AdminServer's paths: finds the command of a request, checks whether it is allowed, and executes it.
#pragma once

#include <optional>
#include <string>

#include "http/admin_commands.h"
#include "http/admin_restore.h"
#include "http/router.h"
#include "runtime/server_inside.h"

namespace drover::server {

// Outlives the router it is added to; `inside` outlives both.
class AdminRoutes {
 public:
  explicit AdminRoutes(const ServerInside& inside);
  void add_to(HttpRouter& router);
  // The answer to a POST whose body is not needed. So the body of an unauthorized request is never kept.
  std::optional<HttpResponse> answer_without_body(const HttpRequest& request);

 private:
  HttpResponse run(const HttpRequest& request, bool is_post);
  HttpResponse perform(const AdminCommand& command, const HttpRequest& request);
  HttpResponse set_trace_mask(const AdminCommand& command, const HttpRequest& request);
  HttpResponse take_snapshot(const AdminCommand& command, const HttpRequest& request);
  UploadStart begin_restore(const HttpRequest& request);
  HttpResponse shed_connections(const AdminCommand& command, const HttpRequest& request);
  std::string name_in(const HttpRequest& request) const;

  const ServerInside& inside_;
  const std::string url_;
  Restore restore_;
};

}  // namespace drover::server
