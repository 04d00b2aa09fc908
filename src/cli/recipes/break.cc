// SPDX-License-Identifier: Apache-2.0
#include "cli/recipes/break.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/child_path.h"
#include "base/text.h"
#include "cli/common/human_text.h"
#include "cli/recipes/read.h"
#include "layouts/directories.h"
#include "layouts/revocation.h"

namespace drover::cli::observe {
namespace {

std::string who(const Stand& stand) {
  const std::string session = stand.stat.is_ephemeral()
                                  ? "session " + hex_text(stand.stat.ephemeral_owner)
                                  : std::string("no session (the node is not ephemeral)");
  const std::string address = stand.address.empty() ? "" : " at " + stand.address;
  const std::string data = stand.data.empty() ? "" : ", " + data_text(stand.data);
  return session + address + data;
}

const Stand* find(const std::vector<Stand>& stands, const std::string& node) {
  const auto found =
      std::find_if(stands.begin(), stands.end(), [&](const Stand& s) { return s.node == node; });
  return found == stands.end() ? nullptr : &*found;
}

std::string next_after(const View& view) {
  if (view.holders.size() != 1 || view.waiters.empty()) return {};
  return who(view.waiters[0]);
}

std::optional<Target> target_in(const View& view, const std::string& node) {
  if (const Stand* stand = find(view.holders, node)) return Target{*stand, view, "holds", next_after(view)};
  if (const Stand* stand = find(view.waiters, node)) {
    return Target{*stand, view, fmt::format("is {}. in line for", stand - view.waiters.data() + 1), {}};
  }
  if (const Stand* stand = find(view.members, node)) return Target{*stand, view, "is a member of", {}};
  for (const Item& item : view.items) {
    if (item.claim && item.claim->node == node)
      return Target{*item.claim, view, "has claimed an item of", {}};
  }
  return std::nullopt;
}

// The claims of a queue are beside it, the mutex of a semaphore is below it.
std::vector<std::string> places_of(const std::string& node) {
  const std::string directory(parent_or_root(node));
  std::vector<std::string> places{directory, std::string(parent_or_root(directory))};
  if (directory.ends_with(layouts::kClaims))
    places.insert(places.begin(), directory.substr(0, directory.size() - layouts::kClaims.size()));
  return places;
}

}  // namespace

Result<Target> find_target(const Client& client, const std::string& node, const ReadLimits& limits) {
  if (!node.starts_with('/') || node == "/") return fail(Errc::kBadArguments, node, "not the path of a node");
  for (const std::string& place : places_of(node)) {
    const auto view = read_view(client, place, limits);
    if (!view) continue;
    if (auto target = target_in(*view, node)) return *std::move(target);
  }
  // The node may also be the lock itself.
  auto self = read_view(client, node, limits);
  if (!self) return std::unexpected(self.error());
  if (!self->holders.empty()) {
    if (self->holders.size() == 1) return *target_in(*self, self->holders[0].node);
    return fail(Errc::kBadArguments, node,
                fmt::format("{} clients hold it; give the node of one of them", self->holders.size()));
  }
  return fail(
      Errc::kBadArguments, node,
      "it does not belong to a lock, an election, a queue or a group; `drover cli delete` deletes any "
      "node");
}

std::string consequence_of(const Target& target, Breaking breaking) {
  const std::string it = fmt::format("the {} {}", name_of(target.view.kind), safe_text(target.view.path));
  std::string text =
      fmt::format("{} ({}) {} {}.\n", safe_text(target.stand.node), who(target.stand), target.place, it);
  if (breaking == Breaking::kRevoke) {
    return text +
           fmt::format("Its data will be {}, which asks for the lock. Only a revocable holder releases it.\n",
                       layouts::kRevokeWord);
  }
  text += "The node will be deleted. Its owner loses it and may not notice at once.\n";
  if (!target.next.empty()) text += fmt::format("Next is {}.\n", target.next);
  return text;
}

Result<void> carry_out(const Client& client, const Target& target, Breaking breaking) {
  const Stand& stand = target.stand;
  const bool kazoo = target.view.family == Family::kKazoo;
  if (breaking == Breaking::kRevoke && (kazoo || target.place != "holds")) {
    return fail(Errc::kBadArguments, stand.node,
                kazoo ? "kazoo's recipes do not support revocation; `release` deletes the node"
                      : "only a holder can be asked; `release` deletes the node");
  }
  const auto now = sync_wait(client.exists(stand.node, Wait::within(kPatience)));
  if (!now) return std::unexpected(now.error());
  if (!now->has_value()) return fail(Errc::kNoNode, stand.node, "the node is gone");
  if ((*now)->czxid != stand.stat.czxid)
    return fail(Errc::kBadVersion, stand.node, "the node was created again by another client");
  if (breaking == Breaking::kRelease)
    return sync_wait(client.remove(stand.node, stand.stat.version, Wait::within(kPatience)));
  auto set = sync_wait(
      client.set(stand.node, std::string(layouts::kRevokeWord), stand.stat.version, Wait::within(kPatience)));
  if (!set) return std::unexpected(set.error());
  return {};
}

}  // namespace drover::cli::observe
