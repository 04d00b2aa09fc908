// SPDX-License-Identifier: Apache-2.0
#include "dashboard/events.h"

#include <optional>

#include "base/path.h"
#include "base/text.h"
#include "dashboard/ensemble.h"
#include "dashboard/json.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

constexpr std::size_t kPathsMax = 250;
constexpr int kStreamsMax = 64;
// Lets both sides notice when the other is gone.
constexpr std::int64_t kSignOfLifeMs = 5000;

// The visible state of a node. A different czxid is a different node.
struct Seen {
  bool exists = false;
  Zxid czxid{};
  Zxid mzxid{};
  Zxid pzxid{};
  std::int32_t aversion = 0;
  friend bool operator==(const Seen&, const Seen&) = default;
};

class EventStream final : public BodySource {
 public:
  // `since`: later changes are sent at once; none: only changes from now on.
  EventStream(const ServerInside& inside, Asker asker, std::vector<std::string> paths,
              std::optional<Zxid> since, std::atomic<int>& streams)
      : inside_(inside), asker_(std::move(asker)), paths_(std::move(paths)), streams_(streams) {
    seen_ = look();
    for (auto& seen : seen_) {
      if (since && seen && (!seen->exists || seen->mzxid > *since || seen->pzxid > *since)) seen.reset();
    }
  }
  ~EventStream() override { --streams_; }

  State next(std::string& piece) override {
    add_role(piece);
    add_nodes(piece);
    const Instant now = monotonic_now();
    if (piece.empty() && now - last_sent_ >= kSignOfLifeMs) piece = "id: " + hex_text(zxid_) + "\n\n";
    if (!piece.empty()) last_sent_ = now;
    return State::kLater;
  }

 private:
  // None: nothing was sent for this path yet.
  std::vector<std::optional<Seen>> look() {
    std::vector<std::optional<Seen>> out;
    TreeLock::Reading reading(inside_.lock, TreeSlot::kHttp);
    zxid_ = inside_.machine.last_zxid;
    for (const std::string& path : paths_) {
      const state::Node* node = inside_.machine.tree.get(path);
      if (!node || !may(inside_.machine, *node, wire::kRead, asker_)) {
        out.emplace_back(Seen{});
      } else {
        out.emplace_back(Seen{true, node->czxid, node->mzxid, node->pzxid, node->aversion});
      }
    }
    return out;
  }

  void add(std::string_view kind, const json::object& data, std::string& piece) {
    piece.append("event: ").append(kind).append("\nid: ").append(hex_text(zxid_));
    piece.append("\ndata: ").append(json::serialize(data)).append("\n\n");
  }

  void add_nodes(std::string& piece) {
    auto now = look();
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] == seen_[i]) continue;
      add("node",
          {{"path", valid_text(paths_[i])},
           {"exists", now[i]->exists},
           {"mzxid", hex_text(now[i]->mzxid)},
           {"pzxid", hex_text(now[i]->pzxid)}},
          piece);
    }
    seen_ = std::move(now);
  }

  // Sent the first time too, so that the page knows that the stream works.
  void add_role(std::string& piece) {
    const OwnPlace place = own_place(inside_);
    json::object role{{"mode", place.mode}, {"epoch", place.epoch}, {"leader", nullptr}};
    if (place.leader) role["leader"] = raw(*place.leader);
    if (role == role_) return;
    role_ = role;
    add("role", role_, piece);
  }

  const ServerInside& inside_;
  const Asker asker_;
  const std::vector<std::string> paths_;
  std::atomic<int>& streams_;
  std::vector<std::optional<Seen>> seen_;
  Zxid zxid_{};  // of the last comparison
  json::object role_;
  Instant last_sent_ = monotonic_now();
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < kPathsMax) {
    const std::size_t end = text.find('\n');
    if (const std::string_view line = text.substr(0, end); is_valid_path(line)) lines.emplace_back(line);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

HttpResponse events_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request,
                           std::atomic<int>& streams) {
  if (++streams > kStreamsMax) {
    --streams;
    return problem(503, "TooManyStreams",
                   "Too many pages are open on this server; this one gets no live updates.");
  }
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.push_back({"Cache-Control", "no-store"});
  std::int64_t since = 0;
  const bool is_known = parse_hex(request.parameter("since"), since);
  response.source =
      std::make_unique<EventStream>(inside, asker, lines_of(request.parameter("paths")),
                                    is_known ? std::optional(Zxid{since}) : std::nullopt, streams);
  return response;
}

}  // namespace drover::server
