// SPDX-License-Identifier: Apache-2.0
//
// The whole server in one process, with all its threads and real sockets, for the thread sanitizer. Other
// tests check the answers; here it matters that many threads answer at the same time.
#include "server/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/config.h"
#include "wire/jute.h"
#include "wire/records.h"
#include "wire/replies.h"
#include "wire/requests.h"

namespace drover::server {
namespace {

using wire::OpCode;

// A blocking client that handles one frame at a time.
class Client {
 public:
  explicit Client(int port) {
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    wire::ConnectRequest hello;
    hello.timeout_ms = 30'000;
    hello.password = std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    hello.has_read_only = true;
    {
      wire::Frame frame(out_);
      wire::Writer w(out_);
      wire::encode(w, hello);
    }
    flush();
    EXPECT_TRUE(wire::decode_connect_response(frame()).has_value());
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  template <class Body>
  void request(OpCode op, Body body) {
    wire::Frame frame(out_);
    wire::Writer w(out_);
    w.i32(++xid_);
    w.i32(static_cast<std::int32_t>(op));
    body(w);
  }
  void create(const std::string& path, const std::string& data) {
    request(OpCode::kCreate, [&](wire::Writer& w) {
      w.string(path);
      w.string(data);
      w.raw(wire::open_acl_bytes());
      w.i32(0);
    });
  }
  void set(const std::string& path, const std::string& data) {
    request(OpCode::kSetData, [&](wire::Writer& w) {
      w.string(path);
      w.string(data);
      w.i32(-1);
    });
  }
  void get(const std::string& path, bool watch) {
    request(OpCode::kGetData, [&](wire::Writer& w) {
      w.string(path);
      w.boolean(watch);
    });
  }
  void flush() {
    std::size_t sent = 0;
    while (sent < out_.size()) {
      const ssize_t n = ::send(fd_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
      ASSERT_GT(n, 0);
      sent += static_cast<std::size_t>(n);
    }
    out_.clear();
  }

  struct Reply {
    wire::ReplyHeader header;
    std::string body;
  };
  // Returns the next reply; counts the events before it.
  Reply reply() {
    for (;;) {
      const std::string bytes = frame();
      wire::Reader r(bytes);
      Reply reply{wire::decode_reply_header(r), bytes.substr(wire::kReplyHeaderBytes)};
      if (reply.header.xid != wire::kNotificationXid) return reply;
      ++events;
    }
  }
  int events = 0;

  // Reads to the end. False: the server does not close within the timeout.
  bool reads_to_the_end() {
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    std::string bytes(1 << 16, '\0');
    ssize_t n = 0;
    while ((n = recv(fd_, bytes.data(), bytes.size(), 0)) > 0) continue;
    return n == 0 || errno == ECONNRESET;
  }

 private:
  std::string frame() {
    std::string length = take(4);
    return take(static_cast<std::size_t>(wire::load_be<std::int32_t>(length.data())));
  }
  std::string take(std::size_t n) {
    std::string bytes(n, '\0');
    std::size_t got = 0;
    while (got < n) {
      const ssize_t r = recv(fd_, bytes.data() + got, n - got, 0);
      if (r <= 0) throw std::runtime_error("the server closed the connection");
      got += static_cast<std::size_t>(r);
    }
    return bytes;
  }

  int fd_ = -1;
  std::int32_t xid_ = 0;
  std::string out_;
};

class RunningServer {
 public:
  explicit RunningServer(int io_threads, const std::function<void(ServerConfig&)>& change = {}) {
    char name[] = "/tmp/drover-server-test-XXXXXX";
    directory_ = mkdtemp(name);
    ServerConfig config;
    config.admin.enabled = false;
    config.data_dir = config.data_log_dir = directory_;
    config.client = Endpoint{"127.0.0.1", 0};
    config.io_threads = io_threads;
    config.limits.connections_per_ip = 0;
    config.storage.snap_count = 200;  // frequent snapshots
    config.storage.prealloc_kb = 64;
    config.words = Whitelist::parse("*");
    if (change) change(config);
    auto started = Server::start(config);
    if (!started) throw std::runtime_error(started.error().what);
    server_ = std::move(*started);
    thread_ = std::thread([this] { server_->run(); });
  }
  ~RunningServer() {
    server_->stop();
    thread_.join();
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  int port() const { return server_->client_port(); }

 private:
  std::string directory_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

// Pipelines set, get, set, get, …: every read shows the write before it and not the one after it.
void expect_reads_between_writes(int port, int me) {
  Client client(port);
  const std::string path = "/worker-" + std::to_string(me);
  client.create(path, "");
  client.flush();
  EXPECT_EQ(client.reply().header.error, ErrorCode::kOk);
  for (int round = 0; round < 20; ++round) {
    constexpr int kPairs = 10;
    for (int i = 0; i < kPairs; ++i) {
      client.set(path, std::to_string(round * kPairs + i));
      client.get(path, /*watch=*/true);
      client.get("/shared", /*watch=*/true);
      client.set("/shared", std::to_string(me));
    }
    client.flush();
    for (int i = 0; i < kPairs; ++i) {
      EXPECT_EQ(client.reply().header.error, ErrorCode::kOk);
      const Client::Reply read = client.reply();
      wire::Reader r(read.body);
      EXPECT_EQ(r.string(), std::to_string(round * kPairs + i));
      EXPECT_EQ(client.reply().header.error, ErrorCode::kOk);
      EXPECT_EQ(client.reply().header.error, ErrorCode::kOk);
    }
  }
  EXPECT_GT(client.events, 0);
}

std::string answer_to(int port, const char* word) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  EXPECT_EQ(send(fd, word, 4, MSG_NOSIGNAL), 4);
  char buffer[4096];
  std::string answer;
  for (ssize_t n = 0; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(n));
  ::close(fd);
  return answer;
}

void ask_words(int port, const std::atomic<bool>& stop) {
  for (int i = 0; !stop.load(); ++i) {
    const char* words[] = {"srvr", "mntr", "cons", "dump", "wchp", "stat"};
    EXPECT_FALSE(answer_to(port, words[i % 6]).empty()) << words[i % 6];
  }
}

void work_together(int io_threads) {
  RunningServer server(io_threads);
  {
    Client client(server.port());
    client.create("/shared", "");
    client.flush();
    ASSERT_EQ(client.reply().header.error, ErrorCode::kOk);
  }
  std::atomic<bool> stop{false};
  std::thread asking([&] { ask_words(server.port(), stop); });
  std::vector<std::thread> workers;
  for (int i = 0; i < 6; ++i) workers.emplace_back([&, i] { expect_reads_between_writes(server.port(), i); });
  for (std::thread& worker : workers) worker.join();
  stop = true;
  asking.join();
}

TEST(Server, ServesManyClientsOnSeveralIoThreads) { work_together(3); }
TEST(Server, ServesManyClientsOnASingleThread) { work_together(1); }

TEST(Server, ClosesAConnectionWhoseOutputWasDropped) {
  RunningServer server(1, [](ServerConfig& config) {
    config.limits.output_high_water_bytes = config.limits.output_max_bytes = 64 << 10;
    config.deadlines.first_frame_ms = 3'600'000;  // no other timeout closes it
  });
  Client writer(server.port());
  writer.create("/large", std::string(900'000, 'x'));
  writer.create("/watched", "");
  writer.flush();
  ASSERT_EQ(writer.reply().header.error, ErrorCode::kOk);
  ASSERT_EQ(writer.reply().header.error, ErrorCode::kOk);
  // Requests more than the kernel buffers, reads nothing, and also gets watch events.
  Client deaf(server.port());
  deaf.request(OpCode::kAddWatch, [](wire::Writer& w) {
    w.string("/watched");
    w.i32(0);  // persistent
  });
  for (int i = 0; i < 40; ++i) deaf.get("/large", /*watch=*/false);
  deaf.flush();
  while (answer_to(server.port(), "mntr").find("zk_connection_drop_count\t1") == std::string::npos) {
    writer.set("/watched", "");
    writer.flush();
    ASSERT_EQ(writer.reply().header.error, ErrorCode::kOk);
  }
  EXPECT_TRUE(deaf.reads_to_the_end());
}

TEST(Server, RefusesADirectoryInUse) {
  char name[] = "/tmp/drover-server-test-XXXXXX";
  ServerConfig config;
  config.admin.enabled = false;
  config.data_dir = config.data_log_dir = mkdtemp(name);
  config.client = Endpoint{"127.0.0.1", 0};
  {
    const auto first = Server::start(config);
    ASSERT_TRUE(first.has_value());
    const auto second = Server::start(config);
    ASSERT_FALSE(second.has_value());
    EXPECT_NE(second.error().what.find(config.data_dir), std::string::npos) << second.error().what;
  }
  std::filesystem::remove_all(config.data_dir);
}

}  // namespace
}  // namespace drover::server
