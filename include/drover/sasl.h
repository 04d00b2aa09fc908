// SPDX-License-Identifier: Apache-2.0
//
// Logins with SASL: a password (DIGEST-MD5) or Kerberos (GSSAPI), for Options::sasl.
//
//   drover::Options options{.servers = "zk1,zk2,zk3"};
//   options.sasl = unwrap(drover::sasl_password("bob", password));
//   drover::Client client = unwrap(sync_wait(drover::Client::connect(options)));
//
// Link drover::sasl (CMake: COMPONENTS sasl; pkg-config: drover-sasl). Programs that do not log in need
// neither that library nor Cyrus SASL and Kerberos.
//
// The mechanisms are plug-ins, which an error names if they are missing: Debian's libsasl2-modules for
// passwords, libsasl2-modules-gssapi-mit for Kerberos.
#pragma once

#include <memory>
#include <string>

#include "drover/error.h"

namespace drover {

// How to log in. Safe to share between clients.
class SaslLogin;
using SaslLoginPtr = std::shared_ptr<const SaslLogin>;

// Use TLS, too: the password is protected, but the requests behind the login are not. The memory of
// `password` is overwritten; other copies are the caller's responsibility.
Result<SaslLoginPtr> sasl_password(std::string user, std::string password);

// The Kerberos service of the servers.
struct SaslService {
  std::string name = "zookeeper";  // of "zookeeper/HOST", HOST being the server's name
  // "zookeeper/zk.example.com": one principal for all servers. A realm in it has no effect, because krb5.conf
  // ([domain_realm]) knows the realms of hosts.
  std::string principal = {};
  // Look up the name that belongs to the server's address, as Java's client does. If there is none, the name
  // in the list of servers is taken.
  bool canonicalize_host_name = true;
};

// The client's credentials: a keytab, from which tickets are renewed, or a ticket cache, which others renew
// (kinit, k5start).
struct KerberosIdentity {
  std::string principal = {};  // "hbase/node1@EXAMPLE.COM"; may be empty with a ticket cache
  std::string keytab = {};
  std::string ticket_cache = {};  // empty, without a keytab: the user's own (KRB5CCNAME)
};
Result<SaslLoginPtr> sasl_kerberos(KerberosIdentity identity, SaslService service = {});

// The login of a JAAS file, as Java's client reads it.
struct JaasLogin {
  std::string file = {};  // a path or a file: URL
  std::string section = "Client";
  // Otherwise a file without this section means no login: the result is null.
  bool section_required = true;
};
// Errors name the file and the line.
Result<SaslLoginPtr> sasl_jaas(const JaasLogin& login, SaslService service = {});

}  // namespace drover
