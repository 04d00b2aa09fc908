// SPDX-License-Identifier: Apache-2.0
//
// The dashboard's answers in JSON.
//
// 64-bit ids are sent as hexadecimal text, because a JavaScript number holds 53 bits. Names that are not
// UTF-8 are made valid, because JSON allows nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/error_code.h"
#include "base/ids.h"
#include "http/message.h"

namespace drover::server {

namespace json = boost::json;

// Parses "0x1f". False: not such a text.
bool parse_hex(std::string_view text, std::int64_t& id);

json::string valid_text(std::string_view text);

// The number of entries that a request asks for with `limit`, at most `most`.
std::size_t page_size(const HttpRequest& request, std::size_t most);

HttpResponse json_answer(const json::object& object);
// {"error": code, "message": sentence}
HttpResponse problem(int status, std::string_view code, std::string_view sentence);
// ZooKeeper's error for it, with the matching HTTP status.
HttpResponse problem(ErrorCode code);

}  // namespace drover::server
