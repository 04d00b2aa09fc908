// SPDX-License-Identifier: Apache-2.0
//
// Prints a stored node as text or JSON.
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

// 0 for null, too.
inline std::size_t data_bytes(const wire::Nullable& data) { return data ? data->size() : 0; }

struct NodeTextOptions {
  bool data = false;  // print the data, not only its size
};

// One line.
void append_text(std::string& out, const NodeView& node, const NodeTextOptions& options);
// One JSON object and a newline. cversion is the stored one: how many children were ever created.
void append_json(std::string& out, const NodeView& node, const NodeTextOptions& options);

}  // namespace drover::tools
