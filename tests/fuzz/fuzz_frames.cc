// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary data from two clients: handshakes, frames, and other bytes, split in any way, while connections
// break, time passes, and the disk is slow. The server must not crash or hang. It must answer in whole frames
// and keep bounded data for a client.
//
// Input: commands. Each is a byte for the peer and the action, a length byte, and that many bytes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "replica/front.h"
#include "replica/replica.h"
#include "state/machine.h"
#include "wire/jute.h"
#include "wire/requests.h"

namespace {

using namespace drover;
using namespace drover::replica;

FrontConfig small_limits() {
  FrontConfig config;
  config.frame_bytes_max = 4096;
  config.outstanding_max = 16;
  config.outstanding_total_max = 24;
  config.outstanding_bytes_max = 8192;
  config.output_high_water_bytes = 4096;
  config.output_max_bytes = 32'768;
  config.identities_max = 4;
  config.watches = {.per_connection = 16, .per_table = 24};
  return config;
}

state::Options all_features() {
  state::Options options;
  options.extended_types = true;
  options.enforce_quota = true;
  return options;
}

class Server {
 public:
  Server() {
    Effects effects;
    replica_.begin_leading(machine_.last_zxid, now_, WallTime{now_.ms}, effects);
    carry_out(effects);
  }
  void command(std::uint8_t what, std::string_view bytes) {
    Peer& peer = peers_[what & 1];
    switch ((what >> 1) & 7) {
      case 0: send(peer, bytes); break;
      case 1: send(peer, framed(bytes)); break;
      case 2: send(peer, framed(handshake(bytes))); break;
      case 3: read(peer); break;
      case 4: hang_up(peer); break;
      case 5: advance(bytes); break;
      case 6: replica_.set_disk_full(!bytes.empty() && (bytes[0] & 1)); break;
      default: exchange(); break;  // nothing becomes durable
    }
    if (((what >> 1) & 7) != 7) settle();
  }

  void finish() {
    for (int i = 0; i < 4; ++i) {
      settle();
      for (Peer& peer : peers_) read(peer);
    }
    ENSURE(replica_.in_flight() == 0, "everything is answered in the end");
  }

 private:
  struct Peer {
    ConnId conn;
    bool open = false;
    std::string unsent;
  };

  static std::string framed(std::string_view frame) {
    std::string out;
    wire::Writer(out).string(frame);
    return out;
  }

  // A handshake with the first byte as the session id; 0 for a new one.
  static std::string handshake(std::string_view bytes) {
    wire::ConnectRequest request;
    request.timeout_ms = 1000;
    request.session = SessionId{bytes.empty() ? 0 : bytes[0]};
    request.password = bytes.size() > 1 ? bytes.substr(1) : std::string_view("0123456789abcdef");
    request.has_read_only = true;
    std::string out;
    wire::Writer w(out);
    wire::encode(w, request);
    return out;
  }

  void open(Peer& peer) {
    if (peer.open) return;
    peer.conn = front_.open({"127.0.0.1", "127.0.0.1:1", {{"ip", "127.0.0.1"}}}, now_);
    peer.open = true;
    peer.unsent.clear();
  }
  void hang_up(Peer& peer) {
    if (!peer.open) return;
    front_.close(peer.conn);
    peer.open = false;
  }
  void send(Peer& peer, std::string_view bytes) {
    open(peer);
    if (peer.unsent.size() < 65'536) peer.unsent += bytes;
    flush(peer);
  }
  void flush(Peer& peer) {
    const std::size_t taken = front_.on_bytes(peer.conn, peer.unsent, now_);
    ENSURE(taken <= peer.unsent.size(), "the front takes no more than there is");
    peer.unsent.erase(0, taken);
  }

  // The client reads all output. It must be whole frames, and bounded.
  void read(Peer& peer) {
    if (!peer.open) return;
    std::string& out = front_.output(peer.conn);
    ENSURE(out.size() <= 256'000, "output is bounded");
    std::string_view rest = out;
    while (!rest.empty()) {
      wire::Reader r(rest);
      const auto frame = r.buffer();
      ENSURE(frame && r.ok(), "output is whole frames");
      rest.remove_prefix(4 + frame->size());
    }
    out.clear();
    front_.on_sent(peer.conn);
    if (front_.closing(peer.conn)) return hang_up(peer);
    flush(peer);
  }

  void advance(std::string_view bytes) {
    now_ = now_ + (bytes.empty() ? 100 : static_cast<unsigned char>(bytes[0]) * 20);
    front_.on_tick(now_);
    exchange();
    Effects effects;
    replica_.on_tick(now_, WallTime{now_.ms}, effects);
    carry_out(effects);
  }

  void carry_out(const Effects& effects) {
    for (const Ordered& next : effects.ordered) {
      if (next.is_sync()) {
        replica_.set_sync_ticket(++syncs_);
        replica_.set_released_syncs(syncs_);
      } else {
        replica_.add_unapplied(next.batch, now_);
      }
    }
    for (const SessionAnswer& answer : effects.answers) front_.on_session_answer(answer);
  }
  bool exchange() {
    const bool staged = front_.has_staged();
    front_.collect();
    ToReplica batch = std::exchange(front_.outbox(), ToReplica{});
    const bool given = !batch.empty();
    Effects effects;
    replica_.on_front(FrontId{0}, batch, now_, WallTime{now_.ms}, effects);
    carry_out(effects);
    ENSURE(front_.outstanding() <= 64, "what is under way is bounded");
    ENSURE(front_.watches().watch_count() <= 24, "watches are bounded");
    return staged || given || front_.has_staged();
  }
  void settle() {
    int rounds = 0;
    for (bool more = true; more;) {
      ENSURE(++rounds < 1000, "it comes to an end");
      more = exchange();
      if (replica_.last_proposed() > machine_.last_zxid || replica_.has_answers()) {
        replica_.on_committed(replica_.last_proposed(), now_);
        more = true;
      }
    }
  }

  state::Machine machine_{all_features()};
  Front front_{small_limits(), machine_};
  Instant now_{1'000'000};
  Replica replica_{ReplicaConfig{.tick_ms = 500, .first_session = SessionId{1}, .container_check_ms = 1000},
                   machine_,
                   {&front_},
                   now_};
  std::uint64_t syncs_ = 0;
  std::array<Peer, 2> peers_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  Server server;
  while (input.size() >= 2) {
    const auto what = static_cast<std::uint8_t>(input[0]);
    const std::size_t length = std::min<std::size_t>(static_cast<std::uint8_t>(input[1]), input.size() - 2);
    server.command(what, input.substr(2, length));
    input.remove_prefix(2 + length);
  }
  server.finish();
  return 0;
}
