// SPDX-License-Identifier: Apache-2.0
//
// The tree for the dashboard: one node, and one page of a node's children.
//
// Neither holds the tree's lock longer than a client's read does. Children are not sorted, so a page is
// selected in a walk over all of them: in small steps, with the lock released between steps, and with memory
// for the page only. A million children take a quarter of a second of an HTTP thread, and delay no other
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/access.h"

namespace drover::server {

// ?path=
HttpResponse node_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request);
// ?path=&limit=, and &after= (names after that name) or &from= (that name and names after it)
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
  std::vector<ListedChild> children;  // sorted by name
};

struct PageBounds {
  std::string begin;       // the smallest name
  bool exclusive = false;  // skip `begin` itself
  std::size_t limit = 100;
};
CodeResult<ChildPage> page_of_children(const ServerInside& inside, const Asker& asker, std::string_view path,
                                       const PageBounds& bounds);

}  // namespace drover::server
