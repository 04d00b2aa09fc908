// SPDX-License-Identifier: Apache-2.0
//
// A node as files keep it, for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "wire/jute.h"
#include "wire/records.h"

namespace drover::tools {

struct NodeView {
  std::string_view path;  // "" is the root
  wire::Nullable data;
  std::string_view acl;  // as text
  const wire::StatPersisted& stat;
};

struct NodeTextOptions {
  bool data = false;  // show what it holds, not only how much
};

// One line.
void append_text(std::string& out, const NodeView& node, const NodeTextOptions& options);
// One JSON object and a line feed. cversion is the stored one: the creates below the node, ever.
void append_json(std::string& out, const NodeView& node, const NodeTextOptions& options);

}  // namespace drover::tools
