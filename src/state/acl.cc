// SPDX-License-Identifier: Apache-2.0
#include "state/acl.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include <set>
#include <tuple>
#include "base/ensure.h"

namespace drover::state {
namespace {

bool is_world(const wire::Identity& id) { return id.scheme == "world" && id.id == "anyone"; }

bool has_provider(std::string_view scheme, const Options& options) {
  if (scheme == "ip") return true;
  if (scheme == "digest") return options.digest_scheme;
  if (scheme == "sasl") return options.sasl_scheme;
  return scheme == "x509" && options.x509_scheme;
}

// Java's Integer.parseInt: an optional sign and decimal digits.
std::optional<int> parse_int(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Address {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t length = 0;  // 4 or 16
};

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

std::optional<Address> parse_ipv4(std::string_view text) {
  const auto parts = split(text, ".");
  if (parts.size() != 4) return std::nullopt;
  Address address{.bytes = {}, .length = 4};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto value = parse_int(parts[i]);
    if (!value || *value < 0 || *value > 255) return std::nullopt;
    address.bytes[i] = static_cast<std::uint8_t>(*value);
  }
  return address;
}

// Writes 16-bit groups from byte `at` on; false if a group is not 1 to 4 hex digits.
bool parse_groups(const std::vector<std::string_view>& groups, std::size_t at, Address& address) {
  for (const std::string_view group : groups) {
    unsigned value = 0;
    if (group.empty() || group.size() > 4) return false;
    const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), value, 16);
    if (error != std::errc{} || end != group.data() + group.size()) return false;
    address.bytes[at++] = static_cast<std::uint8_t>(value >> 8);
    address.bytes[at++] = static_cast<std::uint8_t>(value);
  }
  return true;
}

std::optional<Address> parse_ipv6(std::string_view text) {
  const auto halves = split(text, "::");
  if (halves.size() > 2) return std::nullopt;
  const auto groups_of = [](std::string_view half) {
    return half.empty() ? std::vector<std::string_view>{} : split(half, ":");
  };
  const auto head = groups_of(halves[0]);
  const auto tail = halves.size() == 2 ? groups_of(halves[1]) : std::vector<std::string_view>{};
  const std::size_t groups = head.size() + tail.size();
  if (halves.size() == 1 ? groups != 8 : groups >= 8) return std::nullopt;
  Address address{.bytes = {}, .length = 16};
  if (!parse_groups(head, 0, address) || !parse_groups(tail, 16 - 2 * tail.size(), address))
    return std::nullopt;
  return address;
}

std::optional<Address> parse_address(std::string_view text) {
  return text.find(':') != std::string_view::npos ? parse_ipv6(text) : parse_ipv4(text);
}

struct Network {
  Address address;
  int bits = 0;
};

std::optional<Network> parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  const int bits_max = static_cast<int>(address->length) * 8;
  if (slash == std::string_view::npos) return Network{*address, bits_max};
  const auto bits = parse_int(text.substr(slash + 1));
  if (!bits || *bits < 0 || *bits > bits_max) return std::nullopt;
  return Network{*address, *bits};
}

// Java's split(":") drops trailing empty parts; two parts must remain.
bool is_valid_digest_id(std::string_view id) {
  while (id.ends_with(':')) id.remove_suffix(1);
  return std::count(id.begin(), id.end(), ':') == 1;
}

// A Kerberos name: without a realm any text, with one "service@REALM" or "service/host@REALM". As in Java
// each part may be empty.
bool is_valid_sasl_id(std::string_view id) {
  const std::size_t at = id.find('@');
  if (at == id.npos) return true;
  const std::string_view name = id.substr(0, at);
  const std::string_view realm = id.substr(at + 1);
  return std::ranges::count(name, '/') <= 1 && realm.find_first_of("/@") == realm.npos;
}

bool is_valid_id(const wire::Identity& id) {
  if (id.scheme == "ip") return parse_network(id.id).has_value();
  if (id.scheme == "digest") return is_valid_digest_id(id.id);
  if (id.scheme == "sasl") return is_valid_sasl_id(id.id);
  return id.id.find('=') != std::string::npos;  // x509: a distinguished name
}

bool is_any_sasl_user(const wire::Identity& acl, const Options& options) {
  return acl.scheme == "sasl" && !options.any_sasl_user.empty() && acl.id == options.any_sasl_user;
}

bool matches(const wire::Identity& who, const wire::Identity& acl, const Options& options) {
  if (who.scheme != acl.scheme) return false;
  if (who.scheme == "ip") return ip_matches(who.id, acl.id);
  if (who.scheme == "x509" && !who.id.empty() && who.id == options.x509_super_user) return true;
  // As in Java, the SASL user "super" has the rights of all SASL users. It is not the super user.
  if (who.scheme == "sasl" && (who.id == "super" || is_any_sasl_user(acl, options))) return true;
  return who.id == acl.id;
}

// Builds the bytes of a list. Its size is limited; otherwise a few `auth` entries and identities with long
// names could turn one small request into any amount of memory.
class AclBuilder {
 public:
  explicit AclBuilder(const Options& options) : options_(options) { w_.i32(0); }

  bool add(std::int32_t perms, const wire::Identity& id) {
    constexpr std::size_t kFieldBytes = 12;
    const std::size_t bytes = bytes_.size() + kFieldBytes + id.scheme.size() + id.id.size();
    if (count_ >= options_.acl_entries_max || bytes > options_.acl_bytes_max) return false;
    w_.i32(perms);
    w_.string(id.scheme);
    w_.string(id.id);
    ++count_;
    return true;
  }
  std::string take() {
    wire::store_be(bytes_.data(), static_cast<std::int32_t>(count_));
    return std::move(bytes_);
  }

 private:
  const Options& options_;
  std::string bytes_;
  wire::Writer w_{bytes_};
  std::size_t count_ = 0;
};

// Adds the caller's authenticated identities with the perms of an `auth` entry; false if there are none.
bool expand_auth(std::int32_t perms, const Identities& who, const Options& options, AclBuilder& out) {
  bool any = false;
  for (const wire::Identity& id : who) {
    if (id.scheme == "ip" || !has_provider(id.scheme, options)) continue;
    if (!out.add(perms, id)) return false;
    any = true;
  }
  return any;
}

// Adds the resolved form of a requested entry; false if it is invalid.
bool resolve_entry(const wire::Acl& entry, const Identities& who, const Options& options, AclBuilder& out) {
  if (entry.who.scheme == "auth") return expand_auth(entry.perms, who, options, out);
  const bool valid =
      is_world(entry.who) || (has_provider(entry.who.scheme, options) && is_valid_id(entry.who));
  return valid && out.add(entry.perms, entry.who);
}

}  // namespace

bool ip_matches(std::string_view address, std::string_view acl_id) {
  const auto network = parse_network(acl_id);
  const auto host = parse_address(address);
  if (!network || !host || host->length != network->address.length) return false;
  for (int bit = 0; bit < network->bits; bit += 8) {
    const std::size_t byte = static_cast<std::size_t>(bit) / 8;
    const int used = std::min(8, network->bits - bit);
    const auto mask = static_cast<std::uint8_t>(0xFF << (8 - used));
    if ((host->bytes[byte] ^ network->address.bytes[byte]) & mask) return false;
  }
  return true;
}

namespace {

// The identities of a connection, for lists with many entries. Comparing a thousand entries with a hundred
// identities would take milliseconds per access to the node, and any client can have both.
class SortedIdentities {
 public:
  SortedIdentities(const Identities& who, const Options& options) : options_(options) {
    for (const wire::Identity& id : who) {
      (is_by_name(id) ? by_name_ : others_).push_back(&id);
      has_sasl_user_ |= id.scheme == "sasl";
    }
    std::sort(by_name_.begin(), by_name_.end(), less);
  }

  bool match(const wire::Identity& entry) const {
    for (const wire::Identity* id : others_) {
      if (matches(*id, entry, options_)) return true;
    }
    if (has_sasl_user_ && is_any_sasl_user(entry, options_)) return true;
    return std::binary_search(by_name_.begin(), by_name_.end(), &entry, less);
  }

 private:
  // The others match more than their own name. A connection has at most three of them.
  bool is_by_name(const wire::Identity& id) const {
    if (id.scheme == "sasl") return id.id != "super";
    return id.scheme != "ip" && !(id.scheme == "x509" && id.id == options_.x509_super_user);
  }
  static bool less(const wire::Identity* a, const wire::Identity* b) {
    return std::tie(a->scheme, a->id) < std::tie(b->scheme, b->id);
  }

  const Options& options_;
  std::vector<const wire::Identity*> by_name_;
  std::vector<const wire::Identity*> others_;
  bool has_sasl_user_ = false;
};

template <class Match>
bool any_entry_allows(const AclList& acl, std::int32_t perms, const Options& options, Match match) {
  return std::any_of(acl.entries.begin(), acl.entries.end(), [&](const wire::Acl& entry) {
    if ((entry.perms & perms) == 0) return false;
    return is_world(entry.who) || (has_provider(entry.who.scheme, options) && match(entry.who));
  });
}

constexpr std::size_t kFewIdentities = 4;

}  // namespace

bool is_allowed(const AclList& acl, std::int32_t perms, const Identities& who, const Options& options) {
  if (options.skip_acl || acl.entries.empty() || is_super(who)) return true;
  if (who.size() <= kFewIdentities || acl.entries.size() <= kFewIdentities) {
    return any_entry_allows(acl, perms, options, [&](const wire::Identity& entry) {
      return std::any_of(who.begin(), who.end(), [&](const auto& id) { return matches(id, entry, options); });
    });
  }
  const SortedIdentities sorted(who, options);
  return any_entry_allows(acl, perms, options,
                          [&](const wire::Identity& entry) { return sorted.match(entry); });
}

bool is_super(const Identities& who) {
  return std::ranges::any_of(who, [](const wire::Identity& id) { return id.scheme == "super"; });
}

std::int32_t permissions_by_name(const AclList& acl, const Identities& who, const Options& options) {
  std::int32_t permissions = 0;
  for (const wire::Acl& entry : acl.entries) {
    if (is_world(entry.who) || !has_provider(entry.who.scheme, options)) continue;
    const auto is_named = [&](const wire::Identity& id) { return matches(id, entry.who, options); };
    if (std::ranges::any_of(who, is_named)) permissions |= entry.perms;
  }
  return permissions;
}

bool anybody_may_change(const AclList& acl, const Options& options) {
  return is_allowed(acl, wire::kAdmin, {}, options);
}

CodeResult<std::string> resolve_acl(std::string_view requested, const Identities& who,
                                    const Options& options) {
  // Nearly every node has the open list, which needs no check.
  if (requested == wire::open_acl_bytes()) return std::string(requested);

  wire::Reader r(requested);
  const wire::AclNulls nulls = wire::first_null_in_acl_list(r);
  if (nulls == wire::AclNulls::kId) return std::unexpected(ErrorCode::kMarshallingError);
  const std::vector<wire::Acl> asked = wire::decode_acl_list(r);
  if (asked.empty() || nulls == wire::AclNulls::kScheme || asked.size() > options.acl_entries_max) {
    return std::unexpected(ErrorCode::kInvalidAcl);
  }
  AclBuilder resolved(options);
  std::set<std::tuple<std::int32_t, std::string_view, std::string_view>> seen;
  for (const wire::Acl& entry : asked) {
    if (!seen.emplace(entry.perms, entry.who.scheme, entry.who.id).second) continue;
    if (!resolve_entry(entry, who, options, resolved)) return std::unexpected(ErrorCode::kInvalidAcl);
  }
  return resolved.take();
}

std::string digest_identity(std::string_view user_password, const std::string& algorithm) {
  const EVP_MD* method = EVP_get_digestbyname(algorithm == "SHA-1" ? "SHA1" : algorithm.c_str());
  ENSURE(method != nullptr, "the configuration accepts only digests that OpenSSL supports");
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned hash_bytes = 0;
  EVP_Digest(user_password.data(), user_password.size(), hash, &hash_bytes, method, nullptr);
  unsigned char base64[4 * ((EVP_MAX_MD_SIZE + 2) / 3) + 1];
  const int n = EVP_EncodeBlock(base64, hash, static_cast<int>(hash_bytes));
  std::string id(user_password.substr(0, user_password.find(':')));
  id += ':';
  id.append(reinterpret_cast<const char*>(base64), static_cast<std::size_t>(n));
  return id;
}

namespace {

std::optional<Identities> authenticate_digest(std::string_view auth, const Options& options) {
  const std::string id = digest_identity(auth, options.digest_algorithm);
  Identities proven;
  if (!options.super_digest.empty() && id == options.super_digest) proven.push_back({"super", ""});
  proven.push_back({"digest", id});
  return proven;
}

}  // namespace

std::optional<Identities> authenticate(std::string_view scheme, std::string_view auth,
                                       std::string_view peer_ip, const Options& options) {
  if (scheme == "ip") return Identities{{"ip", std::string(peer_ip)}};
  if (scheme == "digest" && options.digest_scheme) return authenticate_digest(auth, options);
  return std::nullopt;
}

Identities sasl_identities(const std::string& name, const Options& options) {
  Identities proven{{"sasl", name}};
  const auto& supers = options.sasl_super_users;
  if (!name.empty() && std::ranges::find(supers, name) != supers.end()) proven.push_back({"super", ""});
  return proven;
}

std::string user_name(const wire::Identity& id, const Options& options) {
  if (!has_provider(id.scheme, options)) return {};
  if (id.scheme == "digest") return id.id.substr(0, id.id.find(':'));
  return id.id;
}

}  // namespace drover::state
