// SPDX-License-Identifier: Apache-2.0
//
// SASL as ZooKeeper uses it: DIGEST-MD5 with users from the configuration. Cyrus SASL does the work; no
// header of it is needed to call this.
//
// Each function returns a factory that is safe to use from any thread, and that makes one conversation per
// connection (base/sasl.h). An error names the Debian package if a mechanism is not installed.
//
// Tokens above 64 KiB and steps after the end fail. Reasons of failures are one line and never contain a
// password or a token; names that a peer sent are quoted, shortened and without control characters.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sasl.h"
#include "base/secret.h"

namespace drover::sasl {

// The two names that both sides must know. DIGEST-MD5 shows `host` as the realm, too. For GSSAPI they are the
// server's principal, `protocol/host@REALM`, and `host` is a real one.
struct ServiceName {
  std::string protocol;
  std::string host;
};

inline const ServiceName kClientPortDigest = {"zookeeper", "zk-sasl-md5"};
inline const ServiceName kQuorumDigest = {"zookeeper-quorum", "zk-quorum-sasl-md5"};

// The identity that a peer has proven, and the one that it asks for.
struct ProvenPeer {
  std::string_view authentication_id;  // the user, or the Kerberos principal "bob/node1@EXAMPLE.COM"
  std::string_view requested_id;       // equals authentication_id if the peer asks for nothing else
};

// Returns the identity of an authenticated peer (SaslConversation::authorization_id()), or the reason for
// refusing it.
using AuthorizationRule = std::function<std::expected<std::string, std::string>(const ProvenPeer&)>;

// No peer may act as another user. kerberos_name.h has the rules of the client port and of the quorum.
AuthorizationRule as_authenticated();

using Users = std::map<std::string, Secret, std::less<>>;

// Never blocks. A user with an empty password cannot log in.
IoResult<std::unique_ptr<SaslFactory>> digest_md5_server(Users users, const ServiceName& service,
                                                         AuthorizationRule rule = as_authenticated());

// The first step returns an empty token, which the server expects. Never asks the network, but making the
// conversation's first step may look up this machine's own name.
IoResult<std::unique_ptr<SaslFactory>> digest_md5_client(std::string user, Secret password,
                                                         const ServiceName& service);

// A server's identity, as in a JAAS file with keyTab and principal.
struct KerberosAcceptor {
  std::string keytab;     // a path; tickets are checked with its present contents
  std::string principal;  // "zookeeper/node1@EXAMPLE.COM"; "*": any that is in the keytab
};

// A client's identity: `keytab`, or else `ticket_cache`, or else the user's own cache (KRB5CCNAME).
struct KerberosInitiator {
  std::string principal;  // empty with a cache: the cache's own
  std::string keytab;
  std::string ticket_cache;  // a path
};

// Reads the keytab, but asks neither KDC nor name service, here and in conversations; each writes to the
// replay cache in /var/tmp. An error if the keytab cannot be read or has no key of the principal. The
// authentication id is the whole principal with its realm.
IoResult<std::unique_ptr<SaslFactory>> gssapi_server(const KerberosAcceptor& acceptor,
                                                     AuthorizationRule rule);

// The first step of a conversation blocks: it asks the KDC, and maybe the name service for the canonical name
// of `service.host` (krb5.conf, dns_canonicalize_hostname). With a keytab the ticket is renewed by the first
// conversation that finds it past half of its time. Factories are cheap: make one per server; those of one
// identity share their tickets. The client is done when it has a last token to send; the server answers that
// one without a token. An error if the keytab cannot be read; what goes wrong later comes from the
// conversation.
IoResult<std::unique_ptr<SaslFactory>> gssapi_client(const KerberosInitiator& initiator,
                                                     const ServiceName& service);

// From krb5.conf; empty if there is none.
std::string default_kerberos_realm();

}  // namespace drover::sasl
