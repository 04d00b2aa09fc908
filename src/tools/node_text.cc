// SPDX-License-Identifier: Apache-2.0
#include "tools/node_text.h"

#include <iterator>

#include <fmt/format.h>

#include "tools/json.h"
#include "tools/text.h"

namespace drover::tools {
namespace {}  // namespace

void append_text(std::string& out, const NodeView& node, const NodeTextOptions& options) {
  const wire::StatPersisted& s = node.stat;
  const auto to = std::back_inserter(out);
  fmt::format_to(
      to, "{} {} bytes, version {}, cversion {}, aversion {}, created {} {}, modified {} {}, children {}",
      path_text(node.path), data_bytes(node.data), s.version, s.cversion, s.aversion, zxid_text(s.czxid),
      time_text(s.ctime), zxid_text(s.mzxid), time_text(s.mtime), zxid_text(s.pzxid));
  if (s.ephemeral_owner != 0) {
    fmt::format_to(to, ", {} {}", kind_text(s.ephemeral_owner),
                   hex_text(static_cast<std::uint64_t>(s.ephemeral_owner)));
  }
  fmt::format_to(to, ", acl {}", node.acl);
  if (options.data) out += ", data " + data_text(node.data);
  out += '\n';
}

void append_json(std::string& out, const NodeView& node, const NodeTextOptions& options) {
  const wire::StatPersisted& s = node.stat;
  JsonObject json(out);
  json.text("kind", "node").text("path", node.path.empty() ? "/" : node.path);
  json.count("dataBytes", data_bytes(node.data)).number("version", s.version).number("cversion", s.cversion);
  json.number("aversion", s.aversion).zxid("czxid", s.czxid).zxid("mzxid", s.mzxid).zxid("pzxid", s.pzxid);
  json.text("ctime", time_text(s.ctime)).text("mtime", time_text(s.mtime));
  json.text("type", kind_text(s.ephemeral_owner));
  json.hex("ephemeralOwner", static_cast<std::uint64_t>(s.ephemeral_owner)).text("acl", node.acl);
  if (options.data) json.data("data", node.data);
  json.end_line();
}

}  // namespace drover::tools
