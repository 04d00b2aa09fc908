// SPDX-License-Identifier: Apache-2.0
//
// One connection between two servers, as a stream of bytes: dialled or accepted, plain or TLS.
//
// What the bytes mean is the owner's: packets on the quorum port, frames on the election port. The link
// sees to it that nothing blocks, that input is bounded, and that output can be paced: a snapshot of
// gigabytes is sent chunk by chunk, each when the one before has left.
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
  std::size_t read_bytes = 256 * 1024;  // received in one go
  // Bytes that may wait for the rest of their packet. The owner knows better what it takes, and refuses a
  // length that is too large before its bytes come; this is for an owner that does not.
  std::size_t input_bytes_max = wire::kPacketBytesMax;
  std::size_t low_water_bytes = 256 * 1024;  // see ask_writable()
  int unacked_timeout_ms = 0;  // the link breaks when sent bytes are not acknowledged for so long; 0: never
};

// Used by the loop's thread. The owner of every link, accepted ones too, calls on_time() when next_time()
// has come: TLS may hold bytes that epoll knows nothing of.
//
// Nothing is called back from the functions below, except from on_time(). A callback may use the link as
// it likes, and destroy it.
class PeerLink final : private EventLoop::Handler {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // A dialled link is up. What was put into output() before goes out now.
    virtual void on_connected(PeerLink&) {}
    // Returns how many of the bytes were understood: all whole packets, because the rest comes again only
    // with more behind it.
    virtual std::size_t on_bytes(PeerLink& link, std::string_view bytes) = 0;
    virtual void on_writable(PeerLink&) {}
    // The socket has taken some of what had to wait for it.
    virtual void on_taken(PeerLink&) {}
    // The last call: the peer ended it, it failed, or dialling has been given up. Not after close().
    virtual void on_closed(PeerLink& link, const std::string& reason) = 0;
  };

  static IoResult<std::unique_ptr<PeerLink>> accept(EventLoop& loop, Owner& owner, Stream stream,
                                                    const Address& peer, const PeerLinkOptions& options = {});
  static std::unique_ptr<PeerLink> dial(EventLoop& loop, Resolver& resolver, Owner& owner,
                                        DialOptions attempt, const PeerLinkOptions& options = {});
  ~PeerLink() override;
  PeerLink(const PeerLink&) = delete;
  PeerLink& operator=(const PeerLink&) = delete;

  // Append what is to be sent, then flush(). What the socket does not take now follows by itself.
  std::string& output() { return out_; }
  void flush();
  // Appended and not yet taken by the kernel. An owner that lets this grow closes the link at its limit.
  std::size_t queued_bytes() const { return out_.size() - sent_; }
  // on_writable() once, as soon as queued_bytes() is not above low_water_bytes: a later turn of the loop,
  // even when it is so already, that a long transfer does not keep others waiting.
  void ask_writable();

  // Says goodbye when all output is sent, ignores input, and is closed when the peer has closed too.
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
  std::unique_ptr<Dialer> dialer_;  // until it is up
  Stream stream_;
  Address peer_;
  std::uint32_t registered_ = 0;  // epoll events
  InputBuffer in_;
  std::string out_;
  std::size_t sent_ = 0;  // of out_
  bool wants_writable_ = false;
  bool has_backlog_ = false;  // TLS has bytes that epoll will not announce
  bool is_finishing_ = false;
  bool said_goodbye_ = false;
  bool is_broken_ = false;  // sending failed; told as soon as the loop runs
  std::string broken_reason_;
  bool* destroyed_ = nullptr;  // while a callback runs
};

}  // namespace drover::net
