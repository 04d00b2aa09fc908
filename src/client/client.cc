// SPDX-License-Identifier: Apache-2.0
//
// The session part of Client: opening, closing, and its state.
#include "drover/client.h"

#include <chrono>
#include <random>
#include <utility>

#include "client/client_calls.h"
#include "client/connect_string.h"
#include "client/io_driver.h"
#include "client/threads.h"

namespace drover {

using client::Board;
using client::ClientCore;
using client::Engine;
using client::Strand;

namespace {

constexpr std::int64_t kFrameBytesLimit = 0x7fff'ffff;

client::EngineOptions engine_options(const Options& options, const client::ConnectString& where,
                                     std::uint64_t seed) {
  client::EngineOptions engine;
  engine.servers = where.servers;
  engine.follow_ensemble = options.follow_ensemble;
  engine.secure = options.tls.has_value();
  engine.session.timeout_ms = static_cast<std::int32_t>(options.session_timeout.count());
  engine.session.seed = seed;
  engine.session.read_only_ok = options.read_only_ok;
  engine.session.sasl = options.sasl != nullptr;
  engine.session.frame_bytes_max =
      static_cast<std::int32_t>(std::min<std::size_t>(kFrameBytesLimit, options.reply_bytes_max));
  engine.reopen = options.reopen;
  return engine;
}

std::string why_bad(const Options& options) {
  using std::chrono::milliseconds;
  if (options.session_timeout < milliseconds(3) || options.session_timeout > milliseconds(0x7fff'ffff)) {
    return "session_timeout is out of range";
  }
  if (options.callbacks == Callbacks::kExecutor && !options.executor) return "the executor is null";
  if (options.name_space.empty()) return {};
  if (!options.name_space.starts_with('/') || !is_valid_path(options.name_space)) return "bad name_space";
  return {};
}

bool is_connected(ConnectionState state) {
  return state == ConnectionState::kConnected || state == ConnectionState::kReadOnly;
}

// Feeds a stream of states.
bool is_last(ConnectionState state) {
  return state == ConnectionState::kClosed || state == ConnectionState::kAuthFailed;
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

std::shared_ptr<Strand> make_strand(const Options& options, client::IoDriver& driver) {
  if (options.callbacks == Callbacks::kIoThread) return std::make_shared<Strand>(driver, nullptr);
  auto executor =
      options.callbacks == Callbacks::kExecutor ? options.executor : client::make_thread_executor();
  Executor& place = *executor;
  return std::make_shared<Strand>(place, std::move(executor));
}

client::IoDriver::Made make_driver(const Options& options, const client::ConnectString& where) {
  client::TlsFiles tls;
  client::IoDriverOptions io{.servers = where.servers, .sasl = options.sasl};
  if (options.tls) {
    tls = {options.tls->trust_store, options.tls->trust_store_password, options.tls->key_store,
           options.tls->key_store_password, options.tls->verify_host_name};
    io.tls = &tls;
  }
  return client::IoDriver::create(io);
}

}  // namespace

Client client::make_client(std::shared_ptr<ClientCore> core, std::string prefix) {
  return Client::Calls::make(std::move(core), std::move(prefix));
}

Result<Client> Client::open(Options options) {
  const auto where = client::parse_connect_string(options.servers);
  if (!where) return fail(Errc::kBadConfig, {}, where.error());
  if (std::string why = why_bad(options); !why.empty()) return fail(Errc::kBadConfig, {}, std::move(why));
  auto driver = make_driver(options, *where);
  if (!driver) return fail(Errc::kBadConfig, {}, driver.error());

  const std::uint64_t seed = random_seed();
  const auto board = std::make_shared<Board>();
  const auto strand = make_strand(options, **driver);
  strand->set_driver(*driver);
  (*driver)->start(std::make_unique<Engine>(engine_options(options, *where, seed), board), strand);
  auto core = std::make_shared<ClientCore>(
      ClientCore::Parts{strand, *driver, board, options.retry, seed, random_seed(), where->chroot});
  Client client = Calls::make(std::move(core), where->chroot + options.name_space);
  for (AuthInfo& auth : options.auth) start(client.add_auth(std::move(auth)));
  return client;
}

Task<Result<Client>> Client::connect(Options options, Wait wait) {
  Result<Client> client = open(std::move(options));
  if (!client) co_return client;
  auto connecting = wait_until_connected(*client, std::move(wait));
  co_return co_await std::move(connecting);
}

Task<Result<Client>> Client::wait_until_connected(Client client, Wait wait) {
  if (is_connected(client.state())) co_return client;
  Stream<StateEvent> states = client.states();
  for (;;) {
    auto next = states.next(wait);
    const Result<StateEvent> event = co_await std::move(next);
    if (!event) co_return std::unexpected(event.error());
    switch (event->state) {
      case ConnectionState::kConnected:
      case ConnectionState::kReadOnly: co_return client;
      case ConnectionState::kAuthFailed: co_return fail(Errc::kAuthFailed, {}, event->reason);
      case ConnectionState::kClosed: co_return fail(Errc::kClosed);
      case ConnectionState::kExpired:
        // Another session is being opened, or none will be.
        if (client.state() == ConnectionState::kExpired) co_return fail(Errc::kSessionExpired);
        break;
      default: break;
    }
  }
}

SessionId Client::session() const { return handle_->core->board().session.load(std::memory_order_relaxed); }
ConnectionState Client::state() const { return handle_->core->board().state.load(std::memory_order_acquire); }
std::chrono::milliseconds Client::session_timeout() const {
  return std::chrono::milliseconds(handle_->core->board().timeout_ms.load(std::memory_order_relaxed));
}

Clock::time_point Client::valid_until() const {
  const std::int64_t ms = handle_->core->board().valid_until_ms.load(std::memory_order_acquire);
  if (ms == Board::kNotValid) return Clock::time_point::min();
  return Clock::time_point(std::chrono::milliseconds(ms));
}

Client::Subscription Client::hold_session() const {
  const auto core = handle_->core;
  core->board().holders.fetch_add(1, std::memory_order_relaxed);
  return Subscription([core] { core->board().holders.fetch_sub(1, std::memory_order_relaxed); });
}

Client::Subscription Client::on_state(std::function<void(const StateEvent&)> callback) const {
  const auto core = handle_->core;
  const auto id = std::make_shared<std::uint64_t>(0);  // used on the executor; 0: not registered
  const auto ended = std::make_shared<bool>(false);
  core->strand().post([core, id, ended, callback = std::move(callback)]() mutable {
    if (*ended) return;
    Board& board = core->board();
    const StateEvent now = board.told;
    // After the last state nothing else would remove the listener.
    if (now.state != ConnectionState::kClosed) {
      *id = ++board.last_listener;
      board.listeners.emplace(*id, callback);
    }
    callback(now);
  });
  // Do not keep the source alive.
  return Subscription([weak = std::weak_ptr<ClientCore>(core), id, ended] {
    const auto owner = weak.lock();
    if (!owner) return;
    auto end = [owner, id, ended] {
      *ended = true;
      owner->board().listeners.erase(*id);
    };
    if (owner->strand().is_current()) return end();
    owner->strand().post(std::move(end));
  });
}

Stream<StateEvent> Client::states() const {
  const auto core = handle_->core;
  const auto source = std::make_shared<StreamSource<StateEvent>>(Scheduler(core));
  Stream<StateEvent> stream = source->stream();
  core->strand().post([core, source] {
    Board& board = core->board();
    board.drop_abandoned();
    source->push(board.told);
    if (is_last(board.told.state)) return source->close();
    const std::uint64_t id = ++board.last_listener;
    board.streams.emplace(id, source);
    board.listeners.emplace(id, [source](const StateEvent& event) {
      source->push(event);
      if (is_last(event.state)) source->close();
    });
  });
  return stream;
}

void Client::move_on() const {
  handle_->core->command([](Engine& engine, Instant now) { engine.move_on(now); });
}

Result<void> Client::set_servers(std::string_view servers) const {
  auto where = client::parse_connect_string(servers);
  if (!where) return fail(Errc::kBadConfig, {}, where.error());
  if (!where->chroot.empty() && where->chroot != handle_->core->chroot()) {
    return fail(Errc::kBadConfig, {}, "the chroot of a client cannot change");
  }
  handle_->core->command([list = std::move(where->servers)](Engine& engine, Instant now) mutable {
    engine.set_servers(std::move(list), now);
  });
  return {};
}

Task<Result<void>> Client::close(Wait wait) const {
  client::Plan<void> plan;
  plan.decode = client::decode_nothing;
  plan.kind = client::Call::Kind::kClose;
  return client::perform<void>(handle_->core, std::move(plan), std::move(wait));
}

Client Client::with_namespace(std::string prefix) const {
  if (prefix == "/") prefix.clear();
  return Client(handle_, prefix_ + prefix, bound_);
}

Client Client::bound() const {
  constexpr SessionId kNobodys{-1};  // 0 would mean any session
  const SessionId present = session();
  return Client(handle_, prefix_, present == SessionId{} ? kNobodys : present);
}

std::string Client::full_path(std::string_view path) const { return client::join_path(prefix_, path); }

Scheduler Client::scheduler() const { return Scheduler(handle_->core); }

std::string Client::new_uuid() const { return handle_->core->new_uuid(); }

}  // namespace drover
