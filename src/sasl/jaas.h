// SPDX-License-Identifier: Apache-2.0
//
// Login configurations of JAAS, as Java reads them (javax.security.auth.login.Configuration), so that an
// existing file works unchanged.
//
//   Server {
//     org.apache.zookeeper.server.auth.DigestLoginModule required
//     user_super="adminsecret"
//     user_bob="bobsecret";
//   };
//   Client {
//     com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true keyTab="/etc/zk.keytab"
//     principal="zk/node1@EXAMPLE.COM";
//   };
//
// Pure: the caller reads the file. A `#` is not a comment here; `//`, `/` and `/* */` are. A value that is
// not a word that starts with a letter needs double quotes: Java refuses `user_bob=123`, too.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"

namespace drover::sasl {

// One login module with its options.
struct JaasEntry {
  std::string module = {};  // name of the Java class
  int line = 0;
  std::map<std::string, Secret> options = {};  // if an option occurs twice, the last one wins
};

struct JaasSection {
  std::string name = {};  // "Server"
  int line = 0;
  std::vector<JaasEntry> entries = {};
};

using JaasFile = std::vector<JaasSection>;

struct JaasError {
  int line = 0;
  std::string message;  // one line, without secrets
};

// No real file is larger.
inline constexpr std::size_t kJaasBytesMax = std::size_t{1} << 20;

// The value of a Java system property, for `${user.home}` in a value; none: it is not known.
using PropertyLookup = std::function<std::optional<std::string>(std::string_view name)>;

std::expected<JaasFile, JaasError> parse_jaas(std::string_view text, const PropertyLookup& property);

// Null: the file has no such section. Names are case sensitive.
const JaasSection* find_section(const JaasFile& file, std::string_view name);

// A name from the file, for messages of one line.
std::string shown(std::string_view text);

}  // namespace drover::sasl
