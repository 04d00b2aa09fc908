// SPDX-License-Identifier: Apache-2.0
//
// The meaning of a section of a JAAS file: users and passwords, or the Kerberos key of this process.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/secret.h"
#include "sasl/jaas.h"

namespace drover::sasl {

// com.sun.security.auth.module.Krb5LoginModule.
struct KerberosLogin {
  std::string principal;  // "zookeeper/node1@EXAMPLE.COM"
  bool use_key_tab = false;
  std::string key_tab;  // path; empty: Kerberos's default
  bool store_key = false;
  bool use_ticket_cache = false;
  std::string ticket_cache;  // path; empty: Kerberos's default
};

struct Login {
  // org.apache.zookeeper.server.auth.DigestLoginModule. A server takes the users, a client the other two.
  std::map<std::string, Secret, std::less<>> users;  // user_NAME="password"
  std::string username;
  Secret password;
  // If a section has both modules, it is a Kerberos login, as in Java.
  std::optional<KerberosLogin> kerberos;
};

// Refuses login modules that we do not know: they are Java classes.
std::expected<Login, JaasError> login_of(const JaasSection& section);

// The same for a section that accepts logins. It must have users, or a key for a service principal.
std::expected<Login, JaasError> server_login_of(const JaasSection& section);

// The same for a section that logs in: a user with a password, or a Kerberos identity.
std::expected<Login, JaasError> client_login_of(const JaasSection& section);

}  // namespace drover::sasl
