// SPDX-License-Identifier: Apache-2.0
//
// Settings of the state machine. All servers of an ensemble must have the same settings, or replicas differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/client_limits.h"
#include "base/hash.h"
#include "wire/txn_limits.h"

namespace drover::state {

struct Options {
  HashKey hash_key{};                         // for tables with keys from clients; differs per process
  bool extended_types = false;                // zookeeper.extendedTypesEnabled: TTL nodes
  bool emulate_353_ttl = false;               // zookeeper.emulate353TTLNodes
  bool enforce_quota = false;                 // zookeeper.enforceQuota
  bool digest_enabled = true;                 // zookeeper.digest.enabled
  bool close_session_paths = true;            // zookeeper.closeSessionTxn.enabled
  bool reconfig_enabled = false;              // reconfigEnabled
  bool skip_acl = false;                      // zookeeper.skipACL
  bool digest_scheme = true;                  // zookeeper.DigestAuthenticationProvider.enabled
  bool x509_scheme = false;                   // a TLS listener is configured
  std::string digest_algorithm = "SHA1";      // zookeeper.DigestAuthenticationProvider.digestAlg
  bool ensemble_scheme = false;               // authProvider.N names ZooKeeper's ensemble provider
  std::vector<std::string> ensemble_names;    // zookeeper.ensembleAuthName; empty: any
  std::string super_digest;                   // zookeeper.DigestAuthenticationProvider.superDigest
  std::string x509_super_user;                // zookeeper.X509AuthenticationProvider.superUser
  bool sasl_scheme = false;                   // authProvider.N names ZooKeeper's SASL provider
  std::string any_sasl_user;                  // zookeeper.letAnySaslUserDoX: an id that all of them match
  std::vector<std::string> sasl_super_users;  // zookeeper.superUser, zookeeper.superUser.*
  std::size_t path_bytes_max = client_limits::kPathBytes;
  std::size_t acl_entries_max = 10000;
  std::size_t acl_bytes_max = 0xfffff - 1024;  // `auth` may expand
  std::size_t multi_ops_max = client_limits::kMultiOperations;
  // Size of a whole entry that a Java follower can still read (wire/txn_limits.h).
  std::size_t txn_bytes_max = wire::txn_bytes_max(0xfffff, 0xfffff);
};

}  // namespace drover::state
