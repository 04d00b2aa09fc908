// SPDX-License-Identifier: Apache-2.0
//
// Maps a proven Kerberos principal to the id in an ACL, as ZooKeeper does.
//
//   hbase/node1@EXAMPLE.COM ── auth_to_local ──► hbase ──► hbase/node1@EXAMPLE.COM
//                                                  └─ with removeHost… and removeRealm… ──► hbase
//
// Pure. The names of DIGEST-MD5's users take the same way.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sasl/mechanisms.h"

namespace drover::sasl {

struct KerberosName {
  std::string service;  // or the user; all of a name without '@'
  std::optional<std::string> host = {};
  std::optional<std::string> realm = {};
};

// "user", "user@REALM" or "service/host@REALM". The error has no name in it.
std::expected<KerberosName, std::string> parse_kerberos_name(std::string_view name);

// `zookeeper.security.auth_to_local`: RULE:[n:text](pattern)s/pattern/text/g and DEFAULT, with blanks
// between.
//
// Patterns have the syntax that java.util.regex and ECMAScript share; others are refused, and so are rules
// that could never give a name, and repetitions inside of repetitions, whose search may never end.
class AuthToLocal {
 public:
  static std::expected<AuthToLocal, std::string> parse(std::string_view rules, std::string default_realm);

  AuthToLocal(AuthToLocal&&) noexcept;
  AuthToLocal& operator=(AuthToLocal&&) noexcept;
  ~AuthToLocal();

  // Without a host and a realm it is the name itself. Nothing: no rule applies, or the one that does gives a
  // name with '/' or '@'.
  std::optional<std::string> short_name(const KerberosName& name) const;

 private:
  struct Rule;
  explicit AuthToLocal(std::string default_realm);

  std::string default_realm_;
  std::vector<Rule> rules_;
};

struct KerberosIdOptions {
  bool remove_host = false;   // kerberos.removeHostFromPrincipal
  bool remove_realm = false;  // kerberos.removeRealmFromPrincipal
};

// The client port's rule. What the peer asks for has no influence, as in Java, but for one case: if no rule
// of auth_to_local applies, Java takes the id that the client asks for. Here it must then be the client's
// own.
AuthorizationRule client_port_rule(AuthToLocal rules, const KerberosIdOptions& options);

// Kerberos between servers: the principal is "service/host@REALM" of this realm, and its host is a member's.
// Otherwise every user of the realm could be a server (CVE-2023-44981). The service may be any, as in Java;
// Java takes any realm, too.
struct QuorumNames {
  std::string realm;
  std::function<bool(std::string_view host)> is_member;  // called by conversations
};
AuthorizationRule quorum_rule(QuorumNames names);

}  // namespace drover::sasl
