// SPDX-License-Identifier: Apache-2.0
//
// Exports a subtree to a file, and imports it.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "cli/commands/commands.h"
#include "cli/common/progress.h"
#include "cli/common/text.h"
#include "cli/subtree/nodes.h"
#include "cli/subtree/transfer.h"
#include "cli/subtree/walk.h"

namespace drover::cli {
namespace {

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// Written to a temporary file and renamed when complete: a failed export leaves nothing behind.
Outcome write_file(Context& context, const std::string& name, const std::string& content) {
  if (name == "-") {
    context.output.out(content);
    return {};
  }
  const std::string partial = name + ".partial";
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file || std::rename(partial.c_str(), name.c_str()) != 0) {
    std::remove(partial.c_str());
    return fail_with("cannot write " + name);
  }
  return {};
}

std::expected<std::vector<NodeCopy>, Failure> read_export(const std::string& name) {
  std::ifstream file;
  if (name != "-") {
    file.open(name, std::ios::binary);
    if (!file) return fail_with("cannot read " + name);
  }
  std::istream& input = name == "-" ? std::cin : file;
  const auto bad = [&](std::size_t line, const std::string& why) {
    return fail_with(name + ", line " + std::to_string(line) + ": " + why);
  };
  std::string line;
  if (!std::getline(input, line)) return bad(1, "it is empty");
  if (const auto header = check_export_header(line); !header) return bad(1, header.error());
  std::vector<NodeCopy> nodes;
  while (std::getline(input, line)) {
    auto node = parse_export_line(line);
    if (!node) return bad(nodes.size() + 2, node.error());
    nodes.push_back(*std::move(node));
  }
  return nodes;
}

std::string count(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

// The operation for one node: create it, or set the data of an existing one.
std::vector<Op> ops_of(const std::vector<NodeCopy>& nodes, const std::vector<std::string>& paths,
                       const std::vector<std::optional<Stat>>& there) {
  std::vector<Op> ops;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (paths[i] == "/") continue;
    ops.push_back(there[i] ? Op::set(paths[i], nodes[i].node.data) : copy_op(nodes[i], paths[i]));
  }
  return ops;
}

}  // namespace

Outcome export_tree(Context& context, const Flags& flags) {
  const std::string& root = flags.arguments()[0];
  Progress listing(context.output, "listing");
  CLI_GET(tree, read_tree(context, root, {.seen = [&](std::size_t n) { listing.show(n); }}));
  listing.end();
  if (!tree.unreadable.empty()) return fail_with(tree.unreadable.begin()->second);
  // Skip the servers' own nodes.
  if (root == "/")
    std::erase_if(tree.paths, [](const std::string& path) { return path.starts_with("/zookeeper"); });
  Progress reading(context.output, "exporting", tree.paths.size());
  CLI_GET(nodes, read_nodes(context, tree.paths, [&](std::size_t n) { reading.show(n); }));
  reading.end();
  const std::size_t ephemerals =
      std::erase_if(nodes, [](const NodeCopy& each) { return each.node.stat.is_ephemeral(); });
  std::string content = export_header(root, now_ms(), nodes.size());
  for (const NodeCopy& node : nodes) content += export_line(node, root);
  CLI_TRY(write_file(context, flags.arguments()[1], content));
  context.output.err_line("Exported " + count(nodes.size(), "node") +
                          (ephemerals > 0 ? "; " + count(ephemerals, "ephemeral node") + " left out" : ""));
  return {};
}

Outcome import_tree(Context& context, const Flags& flags) {
  const std::string& root = flags.arguments()[1];
  CLI_TRY(check_path(root));
  CLI_GET(nodes, read_export(flags.arguments()[0]));
  std::vector<std::string> paths;
  for (const NodeCopy& node : nodes) {
    paths.push_back(root == "/" ? (node.path.empty() ? "/" : node.path) : root + node.path);
  }
  CLI_GET(there, find_nodes(context, paths));
  for (std::size_t i = 0; i < paths.size() && !flags.has("f"); ++i) {
    if (!there[i] || paths[i] == "/") continue;
    return std::unexpected(Failure{shell_message({.code = Errc::kNodeExists, .path = paths[i]}) +
                                       " (nothing was imported; -f overwrites existing nodes)",
                                   1, Error{.code = Errc::kNodeExists, .path = paths[i]}});
  }
  std::vector<Op> ops = ops_of(nodes, paths, there);
  const std::size_t total = ops.size();
  Progress progress(context.output, "importing", total);
  Written written = write_ops(context, std::move(ops), [&](std::size_t n) { progress.show(n); });
  progress.end();
  if (written.failure) {
    written.failure->message += " (" + std::to_string(written.done) + " of " + count(total, "node") +
                                " were imported before the error; -f continues)";
    return fail_with(*std::move(written.failure));
  }
  context.output.err_line("Imported " + count(written.done, "node"));
  return {};
}

}  // namespace drover::cli
