// SPDX-License-Identifier: Apache-2.0
//
// Quotas are ordinary nodes below /zookeeper/quota. The shell enforces that no quota is above or below
// another one.
#include "base/child_path.h"
#include "base/path.h"
#include "cli/commands/commands.h"
#include "cli/commands/quota_text.h"
#include "cli/common/human_text.h"
#include "cli/common/text.h"
#include "cli/subtree/walk.h"

namespace drover::cli {
namespace {

const std::string kQuotaRoot = "/zookeeper/quota";
const std::string kLimits = "zookeeper_limits";
const std::string kStats = "zookeeper_stats";

struct QuotaFlag {
  std::string_view flag;
  std::string_view key;
  bool counts_nodes;
};
constexpr QuotaFlag kQuotaFlags[] = {{"n", Quota::kCount, true},
                                     {"b", Quota::kBytes, false},
                                     {"N", Quota::kCountHard, true},
                                     {"B", Quota::kBytesHard, false}};

std::string limits_path(const std::string& path) { return kQuotaRoot + path + "/" + kLimits; }
std::string stats_path(const std::string& path) { return kQuotaRoot + path + "/" + kStats; }

std::expected<Quota, Failure> read_quota(Context& context, const std::string& path) {
  CLI_TRY(check_path(path));
  CLI_GET(node, Context::ask(context.client().get(path, context.wait())));
  auto quota = Quota::parse(node.data);
  if (!quota) return fail_with("the quota in " + path + " cannot be read: " + observe::safe_text(node.data));
  return *std::move(quota);
}

// The requested limits; empty if they were refused with a message, which is not a failure.
std::optional<Quota> wanted_quota(Context& context, const Flags& flags) {
  Quota quota;
  for (const QuotaFlag& each : kQuotaFlags) {
    quota.set(each.key, -1);
    if (!flags.has(each.flag)) continue;
    const std::string& text = flags.value(each.flag);
    const auto value = each.counts_nodes ? std::optional<std::int64_t>(parse_int(text)) : parse_long(text);
    if (!value) {
      context.output.err_line("NumberFormatException happens when parsing the option value");
      return std::nullopt;
    }
    if (each.counts_nodes ? *value <= 0 : *value < 0) {
      context.output.err_line(each.counts_nodes ? "the num quota must be greater than zero"
                                                : "the bytes quota must be greater than or equal to zero");
      return std::nullopt;
    }
    quota.set(each.key, *value);
  }
  return quota;
}

Outcome refuse_quota_below(Context& context, const std::string& path) {
  auto tree = read_tree(context, kQuotaRoot + path);
  if (!tree) {
    if (tree.error().error && *tree.error().error == Errc::kNoNode) return {};
    return fail_with(tree.error());
  }
  std::optional<std::string> found;
  CLI_TRY(tree->visit(kQuotaRoot + path, [&](const std::string& each) {
    if (!found && base_name(each) == kLimits && parent_or_root(each) != kQuotaRoot + path)
      found = parent_or_root(each);
  }));
  if (found)
    return fail_with(path + " has a child " + found->substr(kQuotaRoot.size()) + " which has a quota");
  return {};
}

Outcome refuse_quota_above(Context& context, const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    const auto limits = Context::ask(context.client().exists(limits_path(above), context.wait()));
    if (!limits) return fail_with(limits.error());
    if (*limits) return fail_with(path + " has a parent " + above + " which has a quota");
  }
  return {};
}

// Creates the missing nodes of the path.
Outcome create_quota_parents(Context& context, const std::string& path) {
  const std::string whole = path == "/" ? kQuotaRoot : kQuotaRoot + path;
  CreateOptions options;
  options.without_data = true;
  for (std::size_t at = 0; at != std::string::npos;) {
    at = whole.find('/', at + 1);
    const auto made = Context::ask(context.client().create(whole.substr(0, at), "", options, context.wait()));
    if (!made && made.error() != Errc::kNodeExists) return fail_with(made.error());
  }
  return {};
}

bool is_exceeded(const Quota& limits, const Quota& used, std::string_view soft, std::string_view hard) {
  const auto exceeds = [&](std::string_view key) {
    return limits.get(key) > -1 && limits.get(key) < used.get(soft);
  };
  return exceeds(soft) || exceeds(hard);
}

void warn(Context& context, const Quota& limits, const Quota& used) {
  if (is_exceeded(limits, used, Quota::kCount, Quota::kCountHard)) {
    context.print("[Warning]: the count quota you create is less than the existing count:" +
                  std::to_string(used.get(Quota::kCount)));
  }
  if (is_exceeded(limits, used, Quota::kBytes, Quota::kBytesHard)) {
    context.print("[Warning]: the bytes quota you create is less than the existing bytes:" +
                  std::to_string(used.get(Quota::kBytes)));
  }
}

Outcome make_quota(Context& context, const std::string& path, const Quota& wanted) {
  const std::string limits = limits_path(path);
  CLI_TRY(Context::ask(context.client().create(limits, wanted.text(), {}, context.wait())));
  Quota none;
  none.set(Quota::kCount, 0);
  none.set(Quota::kBytes, 0);
  CLI_TRY(Context::ask(context.client().create(stats_path(path), none.text(), {}, context.wait())));
  CLI_GET(set, read_quota(context, limits));
  CLI_GET(used, read_quota(context, stats_path(path)));
  warn(context, set, used);
  return {};
}

Outcome change_quota(Context& context, const std::string& path, const Quota& wanted) {
  CLI_GET(limits, read_quota(context, limits_path(path)));
  for (const QuotaFlag& each : kQuotaFlags) {
    if (wanted.get(each.key) > -1) limits.set(each.key, wanted.get(each.key));
  }
  CLI_GET(used, read_quota(context, stats_path(path)));
  warn(context, limits, used);
  CLI_TRY(
      Context::ask(context.client().set(limits_path(path), limits.text(), Version::kAny, context.wait())));
  return {};
}

// Deletes upwards while nodes are empty.
Outcome remove_empty_parents(Context& context, std::string path) {
  while (path.size() > kQuotaRoot.size()) {
    CLI_GET(children, Context::ask(context.client().children(path, context.wait())));
    if (!children.names.empty()) return {};
    CLI_TRY(Context::ask(context.client().remove(path, Version::kAny, context.wait())));
    path = std::string(parent_or_root(path));
  }
  return {};
}

Outcome remove_quota(Context& context, const std::string& path) {
  const std::string place = kQuotaRoot + path;
  CLI_GET(children, Context::ask(context.client().children(place, context.wait())));
  for (const std::string& name : children.names) {
    CLI_TRY(Context::ask(context.client().remove(place + "/" + name, Version::kAny, context.wait())));
  }
  return remove_empty_parents(context, place);
}

std::string json_of(const Quota& quota) {
  JsonObject object;
  object.number("count", quota.get(Quota::kCount)).number("bytes", quota.get(Quota::kBytes));
  for (const auto& [key, value] : quota.values()) {
    if (key != Quota::kCount && key != Quota::kBytes) object.number(key, value);
  }
  return object.str();
}

Outcome show_quota(Context& context, const std::string& path) {
  CLI_GET(limits, read_quota(context, limits_path(path)));
  CLI_GET(used, read_quota(context, stats_path(path)));
  if (context.json) {
    context.print(
        JsonObject().text("path", path).json("limits", json_of(limits)).json("used", json_of(used)));
    return {};
  }
  context.print("Output quota for " + path + " " + limits.text());
  context.print("Output stat for " + path + " " + used.text());
  return {};
}

// No quota is a message and not a failure; with --json it is an error like any other.
Outcome none_is_told(Context& context, const std::string& path, Outcome outcome) {
  if (context.json || outcome || !outcome.error().error || *outcome.error().error != Errc::kNoNode)
    return outcome;
  context.output.err_line("quota for " + path + " does not exist.");
  return {};
}

}  // namespace

Outcome set_quota(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  if (path.starts_with(kQuotaRoot)) {
    context.output.err_line("cannot set a quota under the path: " + kQuotaRoot);
    return {};
  }
  const auto wanted = wanted_quota(context, flags);
  if (!wanted) return {};
  CLI_TRY(check_path(path));
  CLI_GET(there, Context::ask(context.client().exists(path, context.wait())));
  if (!there) return fail_with(path + " does not exist.");
  CLI_TRY(refuse_quota_below(context, path));
  CLI_TRY(refuse_quota_above(context, path));
  CLI_TRY(create_quota_parents(context, path));
  CLI_GET(limits, Context::ask(context.client().exists(limits_path(path), context.wait())));
  return limits ? change_quota(context, path, *wanted) : make_quota(context, path, *wanted);
}

Outcome list_quota(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  if (!context.json) context.output.err_line("absolute path is " + limits_path(path));
  return none_is_told(context, path, show_quota(context, path));
}

Outcome delete_quota(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(limits_path(path)));
  CLI_GET(there, Context::ask(context.client().exists(limits_path(path), context.wait())));
  if (!there && context.json) return fail_with(Error{.code = Errc::kNoNode, .path = limits_path(path)});
  if (!there) {
    context.print("Quota does not exist for " + path);
    return {};
  }
  bool all = true;
  auto limits = read_quota(context, limits_path(path));
  if (!limits) return none_is_told(context, path, fail_with(limits.error()));
  for (const QuotaFlag& each : kQuotaFlags) {
    if (!flags.has(each.flag)) continue;
    limits->set(each.key, -1);
    all = false;
  }
  if (all) return none_is_told(context, path, remove_quota(context, path));
  CLI_TRY(
      Context::ask(context.client().set(limits_path(path), limits->text(), Version::kAny, context.wait())));
  return {};
}

}  // namespace drover::cli
