// SPDX-License-Identifier: Apache-2.0
#include "net/dialer.h"

#include <cerrno>
#include <utility>

#include "net/tls_context_holder.h"

namespace drover::net {
namespace {

// Limit for all names of a server together. A name service may return any number of addresses.
constexpr int kAttemptsMax = 16;

}  // namespace

Dialer::Dialer(EventLoop& loop, Resolver& resolver, const DialOptions& options, Done done)
    : loop_(loop),
      resolver_(resolver),
      tls_(options.tls == nullptr ? nullptr : options.tls->current()),
      deadline_(loop.now() + options.timeout_ms),
      done_(std::move(done)) {
  for (const Endpoint& endpoint : options.to) begin(endpoint);
}

Dialer::~Dialer() {
  for (const Resolver::Ticket ticket : tickets_) resolver_.cancel(ticket);
}

void Dialer::begin(const Endpoint& endpoint) {
  if (const auto literal = Address::parse(endpoint.host, endpoint.port)) return connect(endpoint, *literal);
  // The ticket is known only after ask() returns, and the answer never comes before that.
  auto ticket = std::make_shared<Resolver::Ticket>();
  *ticket = resolver_.ask(endpoint, [this, endpoint, ticket](Resolver::Addresses addresses) {
    tickets_.erase(*ticket);
    resolved(endpoint, std::move(addresses));
  });
  tickets_.insert(*ticket);
}

void Dialer::resolved(const Endpoint& endpoint, Resolver::Addresses addresses) {
  if (!addresses) return failed(endpoint, addresses.error());
  for (const Address& address : *addresses) connect(endpoint, address);
}

void Dialer::connect(const Endpoint& endpoint, const Address& address) {
  if (++attempts_ > kAttemptsMax) return;
  auto socket = start_connect(address, {.keepalive = true});
  if (!socket) return failed(endpoint, socket.error());
  const auto place = openers_.insert(openers_.end(), nullptr);
  const auto opened = [this, place, endpoint, address](IoResult<Stream> stream) {
    if (stream) return finish(Dialled{*std::move(stream), address});
    openers_.erase(place);
    failed(endpoint, stream.error());
  };
  StreamOpener::Security security{.tls = tls_, .peer = {.host = endpoint.host, .address = address}};
  if (auto opener = StreamOpener::connecting(loop_, std::move(*socket), std::move(security), opened)) {
    *place = *std::move(opener);
  } else {
    openers_.erase(place);
    failed(endpoint, opener.error());
  }
}

void Dialer::failed(const Endpoint& endpoint, const IoError& error) {
  error_.code = error.code;
  if (!error_.what.empty()) error_.what += "; ";
  error_.what += to_text(endpoint) + ": " + error.what;
}

void Dialer::on_time(Instant now) {
  if (!done_) return;
  if (is_hopeless()) {
    if (error_.what.empty()) error_ = data_error("no address to connect to");
    return finish(std::unexpected(error_));
  }
  if (now < deadline_) return;
  finish(std::unexpected(io_error(ETIMEDOUT, "cannot connect")));
}

Instant Dialer::next_time() const { return is_hopeless() ? loop_.now() : deadline_; }

// Destroys the openers, including the one that may be calling: it touches nothing after its `done`.
void Dialer::finish(IoResult<Dialled> result) {
  for (const Resolver::Ticket ticket : std::exchange(tickets_, {})) resolver_.cancel(ticket);
  openers_.clear();
  const Done done = std::exchange(done_, nullptr);
  done(std::move(result));
}

}  // namespace drover::net
