// SPDX-License-Identifier: Apache-2.0
#include "cli/connection/connection.h"

#include <algorithm>

namespace drover::cli {
namespace {

// A stopped server refuses at once; a server that elects a leader needs a moment.
constexpr std::chrono::milliseconds kConnectPatience{5'000};
constexpr std::chrono::milliseconds kClosePatience{2'000};

// The name of Java's KeeperState; empty if Java prints nothing.
std::string_view event_state(ConnectionState state) {
  switch (state) {
    case ConnectionState::kConnecting: return {};
    case ConnectionState::kConnected: return "SyncConnected";
    case ConnectionState::kReadOnly: return "ConnectedReadOnly";
    case ConnectionState::kSuspended: return "Disconnected";
    case ConnectionState::kExpired: return "Expired";
    case ConnectionState::kAuthFailed: return "AuthFailed";
    case ConnectionState::kClosed: return "Closed";
  }
  return {};
}

bool is_final(ConnectionState state) {
  return state == ConnectionState::kExpired || state == ConnectionState::kAuthFailed ||
         state == ConnectionState::kClosed;
}

}  // namespace

std::expected<std::unique_ptr<Connection>, Failure> Connection::open(ConnectionOptions options,
                                                                     Watches& watches) {
  const std::size_t slash = options.servers.find('/');
  std::string chroot = slash == std::string::npos ? "" : options.servers.substr(slash);
  if (chroot == "/") chroot.clear();
  Options client_options;
  client_options.servers = options.servers.substr(0, slash);
  client_options.session_timeout = options.timeout;
  client_options.read_only_ok = options.read_only;
  client_options.tls = options.tls;
  client_options.sasl = options.sasl;
  if (options.for_one_command) client_options.callbacks = Callbacks::kIoThread;
  client_options.reopen = false;  // Otherwise ephemeral nodes would disappear silently.
  client_options.reply_bytes_max = 256 << 20;
  auto root = Client::open(std::move(client_options));
  if (!root) {
    return std::unexpected(Failure{"Cannot connect to " + options.servers + ": " + root.error().detail, 1,
                                   root.error(), "servers are written HOST:PORT,HOST:PORT/CHROOT"});
  }
  Client view = root->with_namespace(chroot);
  std::unique_ptr<Connection> made(new Connection(std::move(options), *std::move(root), std::move(view)));
  const bool logs_in = made->options_.sasl != nullptr;
  made->states_ =
      made->root_.on_state([&watches, logs_in, telling = made->telling_](const StateEvent& event) {
        const std::string_view name = event_state(event.state);
        if (is_final(event.state)) watches.clear();
        if (name.empty() || !*telling) return;
        watches.tell_state(name);
        const bool connected =
            event.state == ConnectionState::kConnected || event.state == ConnectionState::kReadOnly;
        if (logs_in && connected) watches.tell_state("SaslAuthenticated");
      });
  return made;
}

bool Connection::is_alive() const { return !closed_ && !is_final(client_.state()); }

bool Connection::is_connected() const {
  return client_.state() == ConnectionState::kConnected || client_.state() == ConnectionState::kReadOnly;
}

std::string_view Connection::state_name() const {
  switch (client_.state()) {
    case ConnectionState::kConnecting:
    case ConnectionState::kSuspended: return "CONNECTING";
    case ConnectionState::kConnected: return "CONNECTED";
    case ConnectionState::kReadOnly: return "CONNECTEDREADONLY";
    case ConnectionState::kAuthFailed: return "AUTH_FAILED";
    default: return "CLOSED";
  }
}

Wait Connection::wait() const {
  return Wait::within(is_connected() ? options_.timeout : std::min(options_.timeout, kConnectPatience));
}

Result<void> Connection::wait_until_connected(std::chrono::milliseconds patience) const {
  const Wait wait = Wait::within(patience);
  Stream<StateEvent> states = client_.states();
  // Wait for the reported state, so that the event has been printed.
  for (;;) {
    const auto event = sync_wait(states.next(wait));
    if (event && event->state == ConnectionState::kAuthFailed)
      return fail(Errc::kAuthFailed, {}, event->reason);
    if (!event || is_final(event->state)) return fail(Errc::kConnectionLoss);
    if (event->state == ConnectionState::kConnected || event->state == ConnectionState::kReadOnly) return {};
  }
}

void Connection::close(CloseOptions options) {
  if (std::exchange(closed_, true)) return;
  if (!options.tell) *telling_ = false;
  // Without a connection there is no server to send it to.
  if (is_connected()) (void)sync_wait(client_.close(Wait::within(kClosePatience)));
}

}  // namespace drover::cli
