// SPDX-License-Identifier: Apache-2.0
//
// Kerberos credentials by way of GSS-API, one object for each identity.
//
// A process has several identities: the client port's, the quorum's, and a client's. So none of them comes
// from an environment variable; each is a credential of its own, acquired from a named keytab or ticket
// cache.
#pragma once

#include <gssapi/gssapi.h>

#include <memory>
#include <string>
#include <type_traits>

#include "base/result.h"
#include "sasl/mechanisms.h"

namespace drover::sasl {

struct ReleaseCredential {
  void operator()(gss_cred_id_t credential) const {
    OM_uint32 minor = 0;
    gss_release_cred(&minor, &credential);
  }
};
using GssCredential = std::unique_ptr<std::remove_pointer_t<gss_cred_id_t>, ReleaseCredential>;

// For a server. Reads the keytab; makes no network request.
IoResult<GssCredential> acquire_acceptor(const KerberosAcceptor& acceptor);

// For a client. Asks the KDC for a ticket if there is none, or if the present one is past half of its time.
IoResult<GssCredential> acquire_initiator(const KerberosInitiator& initiator);

// Cyrus SASL cuts the default realm off a principal; this appends it again.
IoResult<std::string> with_realm(const std::string& principal);

}  // namespace drover::sasl
