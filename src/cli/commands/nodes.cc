// SPDX-License-Identifier: Apache-2.0
//
// Creates, reads, changes and deletes nodes.
#include <algorithm>

#include "base/base64.h"
#include "cli/commands/commands.h"
#include "cli/common/progress.h"
#include "cli/common/text.h"
#include "cli/subtree/walk.h"

namespace drover::cli {
namespace {

constexpr std::int64_t kTtlMax = 0xff'ffff'ffff;
constexpr std::size_t kBatchesUnderWay = 10;

std::expected<CreateMode, Failure> mode_of(const Flags& flags) {
  const bool ephemeral = flags.has("e");
  const bool sequential = flags.has("s");
  const bool ttl = flags.has("t");
  if (flags.has("c") && (ephemeral || sequential)) {
    return fail_with("-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.");
  }
  if (ttl && !parse_long(flags.value("t"))) return fail_with("-t argument must be a long value");
  if (ttl && ephemeral) return fail_with("TTLs cannot be used with Ephemeral znodes");
  if (ttl && flags.has("c")) return fail_with("TTLs cannot be used with Container znodes");
  if (flags.has("c")) return CreateMode::kContainer;
  if (ephemeral) return sequential ? CreateMode::kEphemeralSequential : CreateMode::kEphemeral;
  if (ttl) return sequential ? CreateMode::kPersistentSequentialTtl : CreateMode::kPersistentTtl;
  return sequential ? CreateMode::kPersistentSequential : CreateMode::kPersistent;
}

std::expected<CreateOptions, Failure> create_options(Context& context, const Flags& flags) {
  CreateOptions options;
  CLI_GET(mode, mode_of(flags));
  options.mode = mode;
  if (flags.has("t")) {
    options.ttl = std::chrono::milliseconds(*parse_long(flags.value("t")));
    if (options.ttl.count() <= 0 || options.ttl.count() > kTtlMax) {
      return fail_with("ttl must be positive and cannot be larger than: " + std::to_string(kTtlMax));
    }
  }
  options.without_data = flags.arguments().size() < 2;
  if (flags.arguments().size() > 2) {
    std::vector<std::string> complaints;
    options.acl = parse_acl(flags.arguments()[2], complaints);
    for (const std::string& line : complaints) context.output.err_line(line);
    if (options.acl.empty()) {
      // In the library, an empty list means the open ACL.
      context.output.err_line(keeper_message({Errc::kInvalidAcl}));
      return fail_with(Error{Errc::kInvalidAcl});
    }
  }
  return options;
}

// Formats data for get. If both -b and -x are given, -x wins, as in ZooKeeper 3.9.
std::string shown(const Context& context, const Flags& flags, const std::string& data) {
  if (flags.has("x")) return hex_dump(data);
  if (flags.has("b")) return to_base64(data);
  return context.output.is_terminal() ? printable(data) : data;
}

}  // namespace

Outcome create_node(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_GET(options, create_options(context, flags));
  CLI_TRY(check_path(flags.has("s") ? path + "1" : path));
  const std::string data = flags.arguments().size() > 1 ? flags.arguments()[1] : "";
  const auto created = Context::ask(context.client().create(path, data, options, context.wait()));
  if (!created && created.error() == Errc::kEphemeralOnLocalSession) {
    context.output.err_line("Unable to create ephemeral node on a local session");
  }
  if (!created && created.error() == Errc::kInvalidAcl)
    context.output.err_line(keeper_message(created.error()));
  if (!created) return fail_with(created.error());
  if (context.json) {
    context.print(JsonObject().text("path", created->path));
  } else {
    context.output.err_line("Created " + created->path);
  }
  return {};
}

Outcome delete_node(Context& context, const Flags& flags) {
  if (flags.arguments().size() > 1) {
    context.output.err_line(
        "'delete path [version]' has been deprecated. Please use 'delete [-v version] path' instead.");
  }
  CLI_GET(version, version_flag(flags));
  CLI_TRY(check_path(flags.arguments()[0]));
  CLI_TRY(Context::ask(context.client().remove(flags.arguments()[0], version, context.wait())));
  return {};
}

Outcome delete_all(Context& context, const Flags& flags) {
  const auto batch = flags.has("b") ? parse_int(flags.value("b")) : 1000;
  if (!batch) return fail_with("-b argument must be an int value");
  Progress listing(context.output, "listing");
  CLI_GET(tree, read_tree(context, flags.arguments()[0], {.seen = [&](std::size_t n) { listing.show(n); }}));
  if (!tree.unreadable.empty()) return fail_with(tree.unreadable.begin()->second);
  listing.end();

  // Leaves first, the root last. Several transactions in flight; servers execute them in this order.
  std::vector<std::string> paths(tree.paths.rbegin(), tree.paths.rend());
  const std::size_t size = *batch > 0 ? static_cast<std::size_t>(*batch) : paths.size();
  Progress progress(context.output, "deleting", paths.size());
  bool ok = true;
  for (std::size_t at = 0; at < paths.size() && ok;) {
    std::vector<Task<Result<std::vector<OpResult>>>> batches;
    while (batches.size() < kBatchesUnderWay && at < paths.size()) {
      std::vector<Op> ops;
      for (; ops.size() < size && at < paths.size(); ++at) ops.push_back(Op::remove(paths[at]));
      batches.push_back(context.client().multi(std::move(ops), context.wait()));
    }
    for (const auto& done : context.ask_all(std::move(batches))) ok = ok && done;
    progress.show(at);
  }
  progress.end();
  const std::string failed = "Failed to delete some node(s) in the subtree!";
  if (!ok && context.json) return fail_with(failed);
  if (!ok) context.output.err_line(failed);
  return {};
}

Outcome set_data(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  std::string data = flags.arguments()[1];
  CLI_GET(version, version_flag(flags));
  if (flags.has("b")) {
    auto bytes = from_base64(data);
    if (!bytes) return fail_with("-b: the data is not base64");
    data = *std::move(bytes);
  }
  CLI_TRY(check_path(path));
  CLI_GET(stat, Context::ask(context.client().set(path, data, version, context.wait())));
  if (context.json) {
    context.print(JsonObject().text("path", path).json("stat", json_of(stat)));
  } else if (flags.has("s")) {
    context.output.out(stat_text(stat));
  }
  return {};
}

Outcome get_data(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(path));
  const bool watch = flags.has("w");
  if (watch) context.watches.note(path, WatchScope::kData);
  const auto node = Context::ask(watch ? context.client().get(path, context.watches.watch(), context.wait())
                                       : context.client().get(path, context.wait()));
  if (!node) {
    if (watch) context.watches.forget(path, WatchScope::kData);
    return fail_with(node.error());
  }
  if (context.json) {
    context.print(JsonObject().text("path", path).data(*node).json("stat", json_of(node->stat)));
    return {};
  }
  context.print(shown(context, flags, node->is_without_data ? "null" : node->data));
  if (flags.has("s")) context.output.out(stat_text(node->stat));
  return {};
}

Outcome stat_node(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(path));
  const bool watch = flags.has("w");
  if (watch) context.watches.note(path, WatchScope::kData);
  const auto stat =
      Context::ask(watch ? context.client().exists(path, context.watches.watch(), context.wait())
                         : context.client().exists(path, context.wait()));
  if (!stat) {
    if (watch) context.watches.forget(path, WatchScope::kData);
    return fail_with(stat.error());
  }
  if (!*stat) return fail_with(Error{.code = Errc::kNoNode, .path = path});
  if (context.json) {
    context.print(JsonObject().text("path", path).json("stat", json_of(**stat)));
  } else {
    context.output.out(stat_text(**stat));
  }
  return {};
}

Outcome sync_path(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(path));
  const auto synced = Context::ask(context.client().sync(path, context.wait()));
  if (!synced && synced.error() == Errc::kDeadline) return fail_with(synced.error());
  if (context.json) {
    context.print(JsonObject().text("path", path).boolean("ok", synced.has_value()));
  } else {
    context.print(synced ? "Sync is OK"
                         : "Sync has failed. rc=" + std::to_string(std::to_underlying(synced.error().code)));
  }
  return {};
}

}  // namespace drover::cli
