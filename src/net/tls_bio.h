// SPDX-License-Identifier: Apache-2.0
//
// How OpenSSL reaches our socket. Its own socket BIO writes with write(2), which raises SIGPIPE in a
// process whose peer has gone; a library must not depend on how its process treats signals.
#pragma once

#include "net/openssl.h"

namespace drover::net {

// Does not own the descriptor.
BioPtr make_socket_bio(int fd);

}  // namespace drover::net
