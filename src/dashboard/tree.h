// SPDX-License-Identifier: Apache-2.0
//
// The tree, as the dashboard browses it: one node, and one page of a node's children.
//
// Neither holds the tree's lock for longer than a read does. Children are not kept sorted, so a page is
// chosen in a walk over all of them: in small steps, with the lock given back between them, and with no more
// memory than the page takes. A million children are a quarter of a second of an HTTP thread and nothing to
// anybody else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/access.h"

namespace drover::server {

// ?path=
HttpResponse node_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);
// ?path=&limit=, and &after= (behind that name) or &from= (that name and behind)
HttpResponse children_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);

struct ListedChild {
  std::string name;
  std::uint32_t children = 0;
  std::uint32_t bytes = 0;
  bool ephemeral = false;
};

struct ChildPage {
  std::uint32_t total = 0;
  bool more = false;
  Zxid zxid{};                        // of the tree when the walk began
  std::vector<ListedChild> children;  // in the order of names
};

struct PageBounds {
  std::string begin;       // no name before this
  bool exclusive = false;  // nor this one
  std::size_t limit = 100;
};
CodeResult<ChildPage> page_of_children(const ServerInside& inside, const Asker& asker, std::string_view path,
                                       const PageBounds& bounds);

}  // namespace drover::server
