// SPDX-License-Identifier: Apache-2.0
//
// Connects OpenSSL to our socket. OpenSSL's own socket BIO uses write(2), which raises SIGPIPE if the peer
// has gone; a library must not depend on the signal handling of its process.
#pragma once

#include "net/openssl.h"

namespace drover::net {

// Does not own the descriptor.
BioPtr make_socket_bio(int fd);

}  // namespace drover::net
