// SPDX-License-Identifier: Apache-2.0
//
// A certificate's name exactly as Java's X500Principal.getName() writes it (RFC 2253): it is the id of
// ZooKeeper's x509 scheme, stored in ACLs and compared as text.
#pragma once

#include <openssl/x509.h>

#include <string>

namespace drover::net {

std::string rfc2253_name(const X509_NAME* name);

}  // namespace drover::net
