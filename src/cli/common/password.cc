// SPDX-License-Identifier: Apache-2.0
#include "cli/common/password.h"

#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>

namespace drover::cli {
namespace {

// The longest password.
constexpr std::size_t kBytesMax = 4096;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Does not show what is typed as long as it exists.
class WithoutEcho {
 public:
  explicit WithoutEcho(int terminal) : terminal_(terminal) {
    if (::tcgetattr(terminal, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    silent.c_lflag |= ECHONL;
    changed_ = ::tcsetattr(terminal, TCSAFLUSH, &silent) == 0;
  }
  WithoutEcho(const WithoutEcho&) = delete;
  WithoutEcho& operator=(const WithoutEcho&) = delete;
  ~WithoutEcho() {
    if (changed_) ::tcsetattr(terminal_, TCSAFLUSH, &before_);
  }

 private:
  int terminal_;
  termios before_{};
  bool changed_ = false;
};

// Byte by byte: what follows the line is not ours.
std::expected<std::string, std::string> read_line(int fd, const std::string& name) {
  std::array<char, kBytesMax> line;
  std::size_t used = 0;
  ssize_t got = 0;
  while (used < line.size() && (got = ::read(fd, line.data() + used, 1)) == 1 && line[used] != '\n') ++used;
  const int error = errno;
  std::string_view text(line.data(), used);
  if (text.ends_with('\r')) text.remove_suffix(1);
  std::string password;
  password.reserve(text.size());  // never moved, so there is no other copy
  password = text;
  ::explicit_bzero(line.data(), line.size());
  if (got < 0) return std::unexpected(name + ": " + ::strerror(error));
  if (used == line.size()) return std::unexpected(name + ": its first line is too long for a password");
  if (password.empty()) return std::unexpected(name + ": there is no password in its first line");
  return password;
}

}  // namespace

std::expected<std::string, std::string> password_from_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) return std::unexpected(path + ": " + ::strerror(errno));
  return read_line(file.fd(), path);
}

std::expected<std::string, std::string> password_from_terminal(const std::string& prompt) {
  const Descriptor terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC));
  if (terminal.fd() < 0) {
    return std::unexpected("there is no terminal to ask for the password: name --sasl-password-file FILE");
  }
  const WithoutEcho silent(terminal.fd());
  if (::write(terminal.fd(), prompt.data(), prompt.size()) < 0) {
    return std::unexpected(std::string("terminal: ") + ::strerror(errno));
  }
  return read_line(terminal.fd(), "terminal");
}

}  // namespace drover::cli
