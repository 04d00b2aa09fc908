// SPDX-License-Identifier: Apache-2.0
#include "net/tls_bio.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

namespace drover::net {
namespace {

int fd_of(BIO* bio) { return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))); }

bool is_transient(int error) { return error == EAGAIN || error == EINTR; }

int read_socket(BIO* bio, char* into, int n) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(fd_of(bio), into, static_cast<std::size_t>(n), 0);
  if (got < 0 && is_transient(errno)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(got);
}

int write_socket(BIO* bio, const char* bytes, int n) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(fd_of(bio), bytes, static_cast<std::size_t>(n), MSG_NOSIGNAL);
  if (sent < 0 && is_transient(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

long control_socket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
  return 0;
}

// Never freed: connections of detached threads may outlive static destructors.
const BIO_METHOD* socket_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "drover socket");
    BIO_meth_set_read(made, read_socket);
    BIO_meth_set_write(made, write_socket);
    BIO_meth_set_ctrl(made, control_socket);
    return made;
  }();
  return method;
}

}  // namespace

BioPtr make_socket_bio(int fd) {
  BioPtr bio(BIO_new(socket_method()));
  if (!bio) return bio;
  BIO_set_data(bio.get(), reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio.get(), 1);
  return bio;
}

}  // namespace drover::net
