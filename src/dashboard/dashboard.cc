// SPDX-License-Identifier: Apache-2.0
#include "dashboard/dashboard.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "dashboard/edit.h"
#include "dashboard/events.h"
#include "dashboard/recipes.h"
#include "dashboard/sessions.h"
#include "dashboard/tree.h"
#include "dashboard/web_assets.h"
#include "log/keep_going.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

// Only our own files, no inline script or style, and no embedding in a frame.
constexpr std::string_view kContentPolicy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::int64_t kAfterFailureMs = 1000;

void harden(HttpResponse& response) {
  response.headers.push_back({"X-Content-Type-Options", "nosniff"});
  response.headers.push_back({"Referrer-Policy", "no-referrer"});
}

HttpResponse asset_answer(const WebAsset& asset, const HttpRequest& request) {
  HttpResponse response;
  response.content_type = asset.content_type;
  const bool known = request.header("If-None-Match") == asset.etag;
  response.status = known ? 304 : 200;
  if (!known) response.body = asset.content;
  response.headers = {{"ETag", std::string(asset.etag)},
                      {"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", std::string(kContentPolicy)}};
  harden(response);
  return response;
}

HttpResponse who_answer(const Asker& asker) {
  json::array identities;
  for (const wire::Identity& id : asker.who) {
    // Without the hash of the password, which is not needed.
    const std::string name = id.scheme == "digest" ? id.id.substr(0, id.id.find(':')) : id.id;
    identities.push_back(json::object{{"scheme", valid_text(id.scheme)}, {"id", valid_text(name)}});
  }
  return json_answer({{"identities", std::move(identities)}});
}

}  // namespace

Dashboard::Dashboard(const ServerInside& inside) : inside_(inside), ensemble_(inside), metrics_(inside) {
  ensemble_.set_waker([this] {
    std::lock_guard lock(mutex_);
    woken_ = true;
    work_.notify_one();
  });
  metrics_.sample();  // the base of the first difference
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "drover-dash");
    run();
  });
}

Dashboard::~Dashboard() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    work_.notify_one();
  }
  thread_.join();
}

void Dashboard::run() {
  next_sample_ = monotonic_now() + MetricsHistory::kIntervalMs;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    Instant next = monotonic_now() + kAfterFailureMs;
    keep_going("dashboard", [&] { next = work(monotonic_now()); });
    lock.lock();
    const auto wait = std::chrono::milliseconds(std::max<std::int64_t>(0, next - monotonic_now()));
    work_.wait_for(lock, wait, [&] { return stopping_ || woken_; });
    woken_ = false;
  }
}

Instant Dashboard::work(Instant now) {
  if (now >= next_sample_) {
    next_sample_ = now + MetricsHistory::kIntervalMs;
    metrics_.sample();
  }
  const auto refresh = ensemble_.next_refresh();
  if (refresh && *refresh <= now) ensemble_.refresh();
  return std::min(next_sample_, ensemble_.next_refresh().value_or(next_sample_));
}

void Dashboard::add_page(HttpRouter& router) {
  for (const WebAsset& asset : web_assets()) {
    router.get(
        asset.path, [&asset](const HttpRequest& request) { return asset_answer(asset, request); },
        HttpPace::kInstant);
  }
}

void Dashboard::add_api(HttpRouter& router, HttpMethod method, std::string_view name,
                        std::function<HttpResponse(const Asker&, const HttpRequest&)> answer) {
  router.add(method, std::string("/api/").append(name), [this, answer](const HttpRequest& request) {
    auto asker = asker_of(request, inside_);
    HttpResponse response = asker ? answer(*asker, request) : std::move(asker.error());
    harden(response);
    return response;
  });
}

void Dashboard::add_routes(HttpRouter& router) {
  add_page(router);
  const auto get = [&](std::string_view name, auto answer) {
    add_api(router, HttpMethod::kGet, name, answer);
  };
  get("whoami", [](const Asker& asker, const HttpRequest&) { return who_answer(asker); });
  get("ensemble", [this](const Asker&, const HttpRequest&) { return ensemble_.answer(); });
  get("metrics", [this](const Asker&, const HttpRequest& request) { return metrics_.answer(request); });
  get("node", [this](const Asker& a, const HttpRequest& r) { return node_answer(inside_, a, r); });
  get("children", [this](const Asker& a, const HttpRequest& r) { return children_answer(inside_, a, r); });
  get("sessions", [this](const Asker&, const HttpRequest& r) { return sessions_answer(inside_, r); });
  get("session", [this](const Asker& a, const HttpRequest& r) { return session_answer(inside_, a, r); });
  get("recipes", [this](const Asker& a, const HttpRequest& r) { return recipes_answer(inside_, a, r); });
  get("events",
      [this](const Asker& a, const HttpRequest& r) { return events_answer(inside_, a, r, streams_); });
  add_api(router, HttpMethod::kPut, "node",
          [this](const Asker& a, const HttpRequest& r) { return set_node_answer(inside_, a, r); });
  add_api(router, HttpMethod::kDelete, "node",
          [this](const Asker& a, const HttpRequest& r) { return delete_node_answer(inside_, a, r); });
}

}  // namespace drover::server
