// SPDX-License-Identifier: Apache-2.0
#include "testing/embedded_server.h"

#include <csignal>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "config/config.h"
#include "log/log.h"
#include "server/server.h"

namespace drover::testing {
namespace {

// Once per process: the server does not write to the test's output, and a write to a closed socket does not
// end the process.
void prepare_process() {
  static std::once_flag once;
  std::call_once(once, [] {
    (void)server::open_log({.file = {}, .level = server::LogLevel::kError});
    std::signal(SIGPIPE, SIG_IGN);
  });
}

class Running final : public EmbeddedServer {
 public:
  explicit Running(std::unique_ptr<server::Server> server)
      : server_(std::move(server)), thread_([this] { server_->run(); }) {}
  ~Running() override {
    server_->stop();
    thread_.join();
  }
  int port() const override { return server_->client_port(); }

 private:
  std::unique_ptr<server::Server> server_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<EmbeddedServer> EmbeddedServer::start(const std::string& config_file, std::string& error) {
  prepare_process();
  const std::vector<std::string> arguments{config_file};
  const auto loaded = server::load_config(arguments);
  if (!loaded) {
    error = loaded.error().message;
    return nullptr;
  }
  auto started = server::Server::start(loaded->config);
  if (!started) {
    error = started.error().what;
    return nullptr;
  }
  return std::make_unique<Running>(*std::move(started));
}

}  // namespace drover::testing
