// SPDX-License-Identifier: Apache-2.0
#include "host/membership_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "base/ensure.h"
#include "base/properties.h"
#include "base/text.h"
#include "zab/membership_text.h"

namespace drover::host {
namespace {

constexpr std::string_view kDynamicKey = "dynamicConfigFile";

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  ENSURE(slash != std::string::npos, "the static file has an absolute path");
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_membership_key(std::string_view key) {
  return key.starts_with("server.") || key.starts_with("group.") || key.starts_with("weight.");
}

// Keys that the dynamic file replaces. A role is in the server's line.
bool is_dropped(std::string_view key, bool drops_client_port) {
  if (is_membership_key(key) || key == kDynamicKey || key == "peerType") return true;
  return drops_client_port && (key == "clientPort" || key == "clientPortAddress");
}

// One line with its end, which is \n, \r or \r\n as in base/properties.
std::string_view take_line(std::string_view& rest) {
  std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
  if (end < rest.size()) end += rest.substr(end).starts_with("\r\n") ? 2 : 1;
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end);
  return line;
}

// The text without the lines of the dropped entries.
std::string kept_lines(std::string_view text, const std::vector<Property>& entries, bool drops_client_port) {
  std::vector<bool> dropped;
  for (const Property& entry : entries) {
    if (!is_dropped(trimmed(entry.key), drops_client_port)) continue;
    const auto end = static_cast<std::size_t>(entry.line_end);
    if (dropped.size() < end) dropped.resize(end);
    std::fill(dropped.begin() + entry.line, dropped.begin() + entry.line_end, true);
  }
  std::string kept;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (number >= dropped.size() || !dropped[number]) kept += line;
  }
  return kept;
}

// Ends the last line, so that another one can follow.
void end_last_line(std::string& text) {
  if (text.empty()) return;
  if (text.back() != '\n' && text.back() != '\r') text += '\n';
  // A backslash continues a line, but an empty line ends what it continues.
  if (trimmed(text).ends_with('\\')) text += '\n';
}

std::string escaped_value(std::string_view path) {
  std::string value;
  for (const char c : path) {
    if (c == '\\') value += '\\';
    value += c;
  }
  return value;
}

}  // namespace

struct MembershipFiles::Static {
  std::string text;
  std::vector<Property> entries;
  std::string dynamic_file;  // empty: the members are in this file
};

MembershipFiles::MembershipFiles(storage::Disk& disk, MembershipFilesOptions options)
    : disk_(disk),
      options_(std::move(options)),
      directory_(directory_of(options_.static_file)),
      name_(options_.static_file.substr(options_.static_file.rfind('/') + 1)) {}

IoResult<MembershipFiles::Static> MembershipFiles::read_static() {
  Static file;
  TRY_ASSIGN(file.text, storage::read_file(disk_, options_.static_file, kPropertiesBytesMax));
  auto entries = parse_properties(file.text);
  if (!entries) return std::unexpected(data_error(options_.static_file + ": " + entries.error().message));
  file.entries = *std::move(entries);
  for (const Property& entry : file.entries) {
    if (trimmed(entry.key) == kDynamicKey) file.dynamic_file = trimmed(entry.value);
  }
  return file;
}

// The same rules as in config/config.cc, which has better messages for the operator's own mistakes.
IoResult<zab::Membership> MembershipFiles::read_committed(const Static& static_file) {
  const zab::MembershipOptions options{.multi_address = options_.multi_address};
  const std::string& dynamic_file = static_file.dynamic_file;
  const auto bad = [](const std::string& path, const zab::MembershipError& error) {
    return std::unexpected(data_error(path + ": " + error.sentence));
  };
  if (!dynamic_file.empty()) {
    TRY_ASSIGN(const std::string text, storage::read_file(disk_, dynamic_file, kPropertiesBytesMax));
    auto membership = zab::parse_membership(text, options);
    if (!membership) return bad(dynamic_file, membership.error());
    membership->set_version(zab::version_of_file_name(dynamic_file));
    return *std::move(membership);
  }
  zab::Membership membership;
  for (const Property& entry : static_file.entries) {
    const std::string_view key = trimmed(entry.key);
    if (!is_membership_key(key)) continue;
    const auto added = zab::add_membership_key(membership, key, trimmed(entry.value), options);
    if (!added) return bad(options_.static_file, added.error());
  }
  const auto checked = zab::check_membership(membership);
  if (!checked) return bad(options_.static_file, checked.error());
  return membership;
}

IoResult<std::optional<zab::Membership>> MembershipFiles::read_proposed() {
  const std::string path = options_.static_file + ".dynamic.next";
  const auto text = storage::read_file(disk_, path, kPropertiesBytesMax);
  if (!text && text.error().code == ENOENT) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  auto membership = zab::parse_membership(*text, {.multi_address = options_.multi_address});
  if (!membership) return std::unexpected(data_error(path + ": " + membership.error().sentence));
  return *std::move(membership);
}

IoResult<StoredMembership> MembershipFiles::load() {
  StoredMembership stored;
  TRY_ASSIGN(const Static static_file, read_static());
  TRY_ASSIGN(stored.committed, read_committed(static_file));
  TRY_ASSIGN(stored.proposed, read_proposed());
  // A crash between the last two steps of commit() leaves a proposed membership that is committed.
  if (stored.proposed && stored.proposed->version() <= stored.committed.version()) stored.proposed.reset();
  return stored;
}

// Java uses the same temporary name.
IoResult<void> MembershipFiles::replace(const std::string& name, const std::string& text) {
  return storage::replace_file(disk_, {directory_, name, name + ".tmp"}, text);
}

IoResult<void> MembershipFiles::propose(const zab::Membership& membership) {
  return replace(name_ + ".dynamic.next", zab::file_text(membership, zab::VersionLine::kWritten));
}

IoResult<void> MembershipFiles::withdraw() {
  TRY(storage::unlink_if_exists(disk_, options_.static_file + ".dynamic.next"));
  return disk_.sync_directory(directory_);
}

IoResult<void> MembershipFiles::point_to(const Static& static_file, const std::string& dynamic_name,
                                         bool drops_client_port) {
  std::string text = kept_lines(static_file.text, static_file.entries, drops_client_port);
  end_last_line(text);
  text += std::string(kDynamicKey) + "=" + escaped_value(storage::join_path(directory_, dynamic_name)) + "\n";
  if (static_file.dynamic_file.empty()) TRY(replace(name_ + ".bak", static_file.text));
  return replace(name_, text);
}

IoResult<void> MembershipFiles::commit(const zab::Membership& membership) {
  TRY_ASSIGN(const Static static_file, read_static());
  const bool is_newer = static_file.dynamic_file.empty() ||
                        zab::version_of_file_name(static_file.dynamic_file) < membership.version();
  TRY_ASSIGN(const zab::Membership before, read_committed(static_file));
  const bool joins = before.version() == 0 && !membership.is_member(options_.me);
  if (is_newer && !joins) {
    const std::string dynamic_name =
        name_ + ".dynamic." + hex_text(static_cast<std::uint64_t>(membership.version())).substr(2);
    TRY(replace(dynamic_name, zab::file_text(membership, zab::VersionLine::kLeftOut)));
    const auto self = membership.servers().find(options_.me);
    const bool has_client_port = self != membership.servers().end() && self->second.client.has_value();
    TRY(point_to(static_file, dynamic_name, has_client_port));
  }
  TRY_ASSIGN(const auto proposed, read_proposed());
  return proposed && proposed->version() <= membership.version() ? withdraw() : IoResult<void>{};
}

}  // namespace drover::host
