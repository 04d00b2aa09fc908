// SPDX-License-Identifier: Apache-2.0
//
// Turns the present membership and a client's reconfig request into the next membership, or the error that
// Java answers. Nothing here proposes anything.
//
// A request is either incremental (servers that join, ids that leave) or names all members.
#pragma once

#include "wire/requests.h"
#include "zab/membership.h"
#include "zab/membership_text.h"

namespace drover::zab {

struct ReconfigRules {
  bool standalone_enabled = true;  // standaloneEnabled: then at least two servers must vote
  bool multi_address = false;      // multiAddress.enabled
};

// The membership that `request` makes of `last_seen`. Its version is that of `last_seen`; the caller sets it
// to the zxid of the transaction.
//
// Differences from Java, all for requests that are mistakes: negative server ids and weights, empty host
// names and two servers with the same host *name* and port are BADARGUMENTS. (Java compares resolved
// addresses, and so do we if the addresses are written as numbers.) A blank after the `;` of a server is
// ignored.
MembershipResult<Membership> next_membership(const Membership& last_seen,
                                             const wire::ReconfigRequest& request,
                                             const ReconfigRules& rules);

// The leader's state when it checks a request.
struct ReconfigSituation {
  const Membership& committed;
  const Membership& last_seen;  // newer than `committed` while a reconfiguration is in progress
  // The leader and every follower that has been synced and is still connected. Java counts no observers here,
  // not even one that the request makes a voter.
  const ServerSet& synced;
  bool may_write_config = false;  // the ACL of /zookeeper/config
};

// All checks of a leader in Java's order: RECONFIGINPROGRESS, BADVERSION, BADARGUMENTS (or MARSHALLINGERROR),
// NEWCONFIGNOQUORUM, NOAUTH. That the ACL comes last was seen on Java 3.8.0.
//
// The earlier checks need no membership and are in state/prepare: RECONFIGDISABLED, then the session, then
// UNIMPLEMENTED on a standalone server.
MembershipResult<Membership> decide_reconfig(const wire::ReconfigRequest& request,
                                             const ReconfigSituation& situation, const ReconfigRules& rules);

}  // namespace drover::zab
