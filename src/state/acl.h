// SPDX-License-Identifier: Apache-2.0
//
// Access control: the schemes, the permission check, and the resolution of requested ACLs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/acl_table.h"
#include "state/options.h"
#include "wire/records.h"

namespace drover::state {

// The identities of a connection. Shared, because requests in flight keep the identities they were sent with
// while the connection may add more.
using Identities = std::vector<wire::Identity>;
using IdentitiesPtr = std::shared_ptr<const Identities>;

// True if `who` has any of the permissions in `perms`.
bool is_allowed(const AclList& acl, std::int32_t perms, const Identities& who, const Options& options);

// The permissions that entries grant to `who` by name. World entries, empty lists and skipACL grant nothing
// here, because they do not say who is asking.
std::int32_t permissions_by_name(const AclList& acl, const Identities& who, const Options& options);

// True if every client may change this ACL, and so add itself to it.
bool anybody_may_change(const AclList& acl, const Options& options);

bool is_super(const Identities& who);

// The ACL to store for the requested ACL, as jute bytes. Duplicates are removed, `auth` is replaced by the
// caller's identities, and every id is checked for its scheme; otherwise INVALIDACL. (Upstream: fixupACL.)
CodeResult<std::string> resolve_acl(std::string_view requested, const Identities& who,
                                    const Options& options);

// The identities that an auth packet proves, or nullopt if authentication fails.
std::optional<Identities> authenticate(std::string_view scheme, std::string_view auth,
                                       std::string_view peer_ip, const Options& options);

// The identities of a connection whose SASL exchange has proven this name.
Identities sasl_identities(const std::string& name, const Options& options);

// "user:password" -> "user:BASE64(SHA1(user:password))"; `algorithm` is a Java name.
std::string digest_identity(std::string_view user_password, const std::string& algorithm = "SHA1");

// The user's name as whoAmI shows it; empty for schemes without a provider.
std::string user_name(const wire::Identity& id, const Options& options);

// True if an `ip` ACL id ("10.0.0.0/8") contains the address. Addresses of different families never match.
bool ip_matches(std::string_view address, std::string_view acl_id);

}  // namespace drover::state
