// SPDX-License-Identifier: Apache-2.0
//
// For tests of the HTTP side: a server, and a blocking client that sends exactly the given bytes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "config/config.h"
#include "server/server.h"

namespace drover::server {

// A standalone server in a new directory, on free ports. It starts in a thread at the first use.
class HttpTestServer {
 public:
  HttpTestServer() {
    std::string name = std::filesystem::temp_directory_path() / "drover-http-test-XXXXXX";
    directory_ = mkdtemp(name.data());
    config.data_dir = config.data_log_dir = directory_;
    config.client = Endpoint{"127.0.0.1", 0};
    config.admin.port = 0;
    config.storage.prealloc_kb = 64;
  }
  ~HttpTestServer() {
    stop();
    std::filesystem::remove_all(directory_);
  }
  HttpTestServer(const HttpTestServer&) = delete;
  HttpTestServer& operator=(const HttpTestServer&) = delete;

  Server& get() {
    if (server_) return *server_;
    auto started = Server::start(config);
    if (!started) throw std::runtime_error(started.error().what);
    server_ = *std::move(started);
    thread_ = std::thread([this] { server_->run(); });
    return *server_;
  }
  void stop() {
    if (!server_) return;
    server_->stop();
    thread_.join();
    server_.reset();
  }
  const std::string& directory() const { return directory_; }

  ServerConfig config;  // change it before the first use

 private:
  std::string directory_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

struct HttpAnswer {
  int status = 0;  // 0: the connection ended before an answer
  std::string head;
  std::string body;
};

class HttpTestClient {
 public:
  explicit HttpTestClient(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~HttpTestClient() { ::close(fd_); }
  HttpTestClient(const HttpTestClient&) = delete;
  HttpTestClient& operator=(const HttpTestClient&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  HttpAnswer get(const std::string& target, const std::string& headers = {}) {
    send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    return read_answer();
  }
  HttpAnswer post(const std::string& target, const std::string& body, const std::string& headers = {}) {
    send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + headers + "\r\n" + body);
    return read_answer();
  }

  HttpAnswer read_answer() {
    HttpAnswer answer;
    if (!read_until([&] { return bytes_.find("\r\n\r\n") != std::string::npos; })) return answer;
    const std::size_t end = bytes_.find("\r\n\r\n");
    answer.head = bytes_.substr(0, end + 2);
    bytes_.erase(0, end + 4);
    answer.status = std::atoi(answer.head.c_str() + answer.head.find(' '));
    if (answer.head.find("Transfer-Encoding: chunked") != std::string::npos) {
      read_chunks(answer);
    } else if (const auto at = answer.head.find("Content-Length: "); at != std::string::npos) {
      const auto length = std::strtoull(answer.head.c_str() + at + 16, nullptr, 10);
      read_until([&] { return bytes_.size() >= length; });
      answer.body = bytes_.substr(0, length);
      bytes_.erase(0, length);
    }
    return answer;
  }
  // For an endless body: returns everything up to the blank line after `text`.
  std::string read_part(std::string_view text) {
    const auto end = [&] {
      const std::size_t at = bytes_.find(text);
      return at == std::string::npos ? at : bytes_.find("\n\n", at);
    };
    read_until([&] { return end() != std::string::npos; });
    std::string part = bytes_.substr(0, end());
    bytes_.erase(0, part.size());
    return part;
  }
  // True: data has arrived, or the other side has closed.
  bool hears_within(int timeout_ms) const {
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    return ::poll(&waiting, 1, timeout_ms) > 0;
  }
  // Reads until the other side closes.
  std::string read_rest() {
    read_until([] { return false; });
    return bytes_;
  }

 private:
  template <class Done>
  bool read_until(Done done) {
    std::array<char, 16384> block{};
    while (!done()) {
      const ssize_t n = recv(fd_, block.data(), block.size(), 0);
      if (n <= 0) return false;
      bytes_.append(block.data(), static_cast<std::size_t>(n));
    }
    return true;
  }
  void read_chunks(HttpAnswer& answer) {
    for (;;) {
      if (!read_until([&] { return bytes_.find("\r\n") != std::string::npos; })) {
        answer.status = 0;  // cut off
        return;
      }
      const std::size_t length = std::strtoull(bytes_.c_str(), nullptr, 16);
      const std::size_t begin = bytes_.find("\r\n") + 2;
      if (!read_until([&] { return bytes_.size() >= begin + length + 2; })) {
        answer.status = 0;
        return;
      }
      answer.body += bytes_.substr(begin, length);
      bytes_.erase(0, begin + length + 2);
      if (length == 0) return;
    }
  }

  int fd_;
  std::string bytes_;
};

}  // namespace drover::server
