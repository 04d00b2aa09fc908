// SPDX-License-Identifier: Apache-2.0
#include "http/text.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/text.h"

namespace drover::server {
namespace {

constexpr std::size_t kParametersMax = 100;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// If a name occurs twice, the first one wins, as with Java's getParameterMap()[0].
bool add_parameter(std::string_view item, QueryParameters& query) {
  const std::size_t equal = std::min(item.find('='), item.size());
  auto name = percent_decoded(item.substr(0, equal), PlusMeans::kBlank);
  auto value = percent_decoded(item.substr(std::min(equal + 1, item.size())), PlusMeans::kBlank);
  if (!name || !value) return false;
  query.try_emplace(*std::move(name), *std::move(value));
  return query.size() <= kParametersMax;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, PlusMeans plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus == PlusMeans::kBlank) c = ' ';
    if (c == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    out.push_back(c);
  }
  return out;
}

std::optional<Target> parse_target(std::string_view target) {
  target = target.substr(0, target.find('#'));
  const std::size_t question = std::min(target.find('?'), target.size());
  auto path = percent_decoded(target.substr(0, question), PlusMeans::kPlus);
  if (!path || !path->starts_with('/')) return std::nullopt;
  Target parsed{.path = *std::move(path), .query = {}};
  std::string_view query = target.substr(std::min(question + 1, target.size()));
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view item = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (!item.empty() && !add_parameter(item, parsed.query)) return std::nullopt;
  }
  return parsed;
}

std::optional<Credentials> parse_authorization(std::string_view header) {
  const std::size_t blank = header.find(' ');
  if (blank == 0 || blank == std::string_view::npos) return std::nullopt;
  const std::string_view auth = header.substr(blank + 1);
  if (auth.empty() || auth.find(' ') != std::string_view::npos) return std::nullopt;
  return Credentials{std::string(header.substr(0, blank)), std::string(auth)};
}

std::string forwarded_client(std::string_view header) {
  while (header.starts_with(',')) header.remove_prefix(1);
  return std::string(trimmed(header.substr(0, header.find(','))));
}

std::optional<std::int64_t> number_in_json(std::string_view json, std::string_view name) {
  boost::json::error_code failed;
  boost::json::parse_options options;
  options.max_depth = 4;
  const boost::json::value value = boost::json::parse({json.data(), json.size()}, failed, {}, options);
  if (failed || !value.is_object()) return std::nullopt;
  const boost::json::value* found = value.as_object().if_contains({name.data(), name.size()});
  if (found == nullptr || !found->is_int64()) return std::nullopt;
  return found->as_int64();
}

}  // namespace drover::server
