// SPDX-License-Identifier: Apache-2.0
//
// The files of web/, embedded in this binary. cmake/DroverWeb.cmake makes the table.
#pragma once

#include <span>
#include <string_view>

namespace drover::server {

struct WebAsset {
  std::string_view path;  // "/app.js"; "/" is index.html
  std::string_view content_type;
  std::string_view etag;  // strong, with its quotes: a hash of the content
  std::string_view content;
};

std::span<const WebAsset> web_assets();

}  // namespace drover::server
