// SPDX-License-Identifier: Apache-2.0
//
// The AdminServer's paths: which command a request names, whether it may run, and doing what it asks for.
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
  // The answer to a POST whose body need not be read: nobody who may not has it kept here.
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
