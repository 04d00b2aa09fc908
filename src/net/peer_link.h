// SPDX-License-Identifier: Apache-2.0
//
// One connection between two servers, as a stream of bytes: dialled or accepted, plain or TLS.
//
// The owner interprets the bytes: packets on the quorum port, frames on the election port. The link ensures
// that nothing blocks, that input is bounded, and that output can be paced: a snapshot of gigabytes is sent
// in chunks, each one after the previous one has left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/dialer.h"
#include "net/event_loop.h"
#include "net/input_buffer.h"
#include "net/stream.h"
#include "wire/txn_limits.h"

namespace drover::net {

struct PeerLinkOptions {
  std::size_t read_bytes = 256 * 1024;  // received per read
  // Limit for incomplete packets. An owner knows the limits of its packets and rejects a length that is too
  // large before the bytes arrive; this limit is for an owner that does not.
  std::size_t input_bytes_max = wire::kPacketBytesMax;
  std::size_t low_water_bytes = 256 * 1024;  // see ask_writable()
  int unacked_timeout_ms = 0;  // the link breaks if sent bytes are not acknowledged for this long; 0: never
};

// Used by the loop's thread. The owner of every link, including accepted ones, calls on_time() when
// next_time() is reached: TLS may hold bytes that epoll does not report.
//
// The functions below call no callbacks, except on_time(). A callback may use the link in any way, and may
// destroy it.
class PeerLink final : private EventLoop::Handler {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // A dialled link is up. Output that was queued before is sent now.
    virtual void on_connected(PeerLink&) {}
    // Returns the number of bytes consumed. It must consume all complete packets, because the rest is offered
    // again only when more bytes arrive.
    virtual std::size_t on_bytes(PeerLink& link, std::string_view bytes) = 0;
    virtual void on_writable(PeerLink&) {}
    // The socket has accepted some of the queued bytes.
    virtual void on_taken(PeerLink&) {}
    // The last callback: the peer closed the link, it failed, or dialling failed. Not called after close().
    virtual void on_closed(PeerLink& link, const std::string& reason) = 0;
  };

  static IoResult<std::unique_ptr<PeerLink>> accept(EventLoop& loop, Owner& owner, Stream stream,
                                                    const Address& peer, const PeerLinkOptions& options = {});
  static std::unique_ptr<PeerLink> dial(EventLoop& loop, Resolver& resolver, Owner& owner,
                                        DialOptions attempt, const PeerLinkOptions& options = {});
  ~PeerLink() override;
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;

  // Append the bytes to send, then call flush(). Bytes that the socket does not accept now are sent later
  // automatically.
  std::string& output() { return out_; }
  void flush();
  // Bytes that the kernel has not accepted yet. The owner sets a limit and closes a link that exceeds it.
  std::size_t queued_bytes() const { return out_.size() - sent_; }
  // Requests one on_writable() call as soon as queued_bytes() is at most low_water_bytes. The call always
  // comes in a later round of the loop, even if the condition holds now, so that a long transfer does not
  // block others.
  void ask_writable();

  // Shuts down after all output is sent, ignores input, and closes the link when the peer has closed too.
  void finish();
  void close();

  bool is_open() const { return stream_.is_open() && !is_broken_; }
  bool is_finishing() const { return is_finishing_; }
  const Address& peer() const { return peer_; }
  const Stream& stream() const { return stream_; }

  void on_time(Instant now);
  std::optional<Instant> next_time() const;

 private:
  PeerLink(EventLoop& loop, Owner& owner, const PeerLinkOptions& options);
  void on_dialled(IoResult<Dialled> result);
  IoResult<void> open(Stream stream, const Address& peer);

  void on_ready(std::uint32_t events) override;
  void send_some();
  void receive_some();
  void deliver();
  void forget_sent();
  void break_later(std::string reason);
  void update_events();
  void end(const std::string& reason);
  template <class Call>
  bool survives(Call call);

  EventLoop& loop_;
  Owner& owner_;
  const PeerLinkOptions options_;
  std::unique_ptr<Dialer> dialer_;  // until the link is up
  Stream stream_;
  Address peer_;
  std::uint32_t registered_ = 0;  // epoll events
  InputBuffer in_;
  std::string out_;
  std::size_t sent_ = 0;  // of out_
  bool wants_writable_ = false;
  bool has_backlog_ = false;  // TLS has bytes that epoll will not report
  bool is_finishing_ = false;
  bool said_goodbye_ = false;
  bool is_broken_ = false;  // sending failed; reported as soon as the loop runs
  std::string broken_reason_;
  bool* destroyed_ = nullptr;  // set while a callback runs
};

}  // namespace drover::net
