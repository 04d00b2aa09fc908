// SPDX-License-Identifier: Apache-2.0
//
// How clients log in with SASL.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "sasl/login.h"

namespace drover::server {

// Between servers: quorum.auth.*
struct QuorumSaslSettings {
  bool enabled = false;           // enableSasl
  bool learner_requires = false;  // learnerRequireSasl: log in to other servers
  bool server_requires = false;   // serverRequireSasl: refuse servers that do not log in
  std::string learner_section = "QuorumLearner";
  std::string server_section = "QuorumServer";
  std::string service_principal = "zkquorum/localhost";  // SERVICE/HOST, or SERVICE/_HOST

  std::string learner_source;  // "jaas.conf:1" of the section, for messages
  std::string server_source;
  std::optional<sasl::Login> learner_login;  // with `enabled` on a member of an ensemble
  std::optional<sasl::Login> server_login;
};

// In a service principal: the host of the server that is logged in to.
inline constexpr std::string_view kHostPattern = "_HOST";

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

  QuorumSaslSettings quorum;
};

}  // namespace drover::server
