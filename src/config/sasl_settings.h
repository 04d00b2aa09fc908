// SPDX-License-Identifier: Apache-2.0
//
// How clients log in with SASL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "sasl/login.h"

namespace drover::server {

struct SaslSettings {
  std::string login_config;            // java.security.auth.login.config: the JAAS file
  std::optional<std::string> section;  // sasl.serverconfig; unset: Server, if the file has it
  std::string krb5_config;             // java.security.krb5.conf; empty: Kerberos's default

  bool allow_failed_clients = false;
  bool provider = false;  // authProvider.N names ZooKeeper's: ACLs may name SASL users
  std::vector<std::string> super_users;
  Secret super_password;  // of user "super", instead of the one in the JAAS file
  std::string any_user;   // letAnySaslUserDoX
  bool remove_host = false;
  bool remove_realm = false;
  std::string auth_to_local = "DEFAULT";

  std::string source;                // "jaas.conf:1" of the section, for messages
  std::optional<sasl::Login> login;  // from the JAAS file; none: no client can log in
};

}  // namespace drover::server
