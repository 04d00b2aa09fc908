// SPDX-License-Identifier: Apache-2.0
//
// Finds the authority that signed a certificate where its names alone mislead OpenSSL, as Java does.
//
// OpenSSL looks for an issuer by name. It takes a certificate whose subject is its issuer's name for
// self-signed (ZooKeeper's C client makes such ones: root, server and client have one name and no key
// identifiers), and it tries only one of several authorities of the same name (an authority that was renewed
// with a new key). Java tries the key of every trusted certificate that has the issuer's name.
#pragma once

#include <openssl/ssl.h>

namespace drover::net {

void find_issuers_by_signature(SSL_CTX* context);

}  // namespace drover::net
