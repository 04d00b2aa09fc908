// SPDX-License-Identifier: Apache-2.0
#include "wire/quorum.h"

#include <algorithm>
#include <array>

#include "base/ensure.h"

namespace drover::wire {
namespace {

constexpr std::array<std::string_view, 20> kPacketNames = {
    "?",         "REQUEST",      "PROPOSAL",   "ACK",      "COMMIT",
    "PING",      "REVALIDATE",   "SYNC",       "INFORM",   "COMMITANDACTIVATE",
    "NEWLEADER", "FOLLOWERINFO", "UPTODATE",   "DIFF",     "TRUNC",
    "SNAP",      "OBSERVERINFO", "LEADERINFO", "ACKEPOCH", "INFORMANDACTIVATE"};

// Reads fields that may be incomplete. Reader does not fit here: it does not distinguish a field that is cut
// off from one that is invalid.
class Scanner {
 public:
  explicit Scanner(std::string_view bytes) : bytes_(bytes) {}

  Decoded status() const { return status_; }
  bool ok() const { return status_ == Decoded::kComplete; }
  std::size_t position() const { return at_; }
  void bad() { status_ = Decoded::kBad; }

  std::int32_t i32() {
    const char* p = take(4);
    return p ? load_be<std::int32_t>(p) : 0;
  }
  std::int64_t i64() {
    const char* p = take(8);
    return p ? load_be<std::int64_t>(p) : 0;
  }
  // -1 is null. A length beyond `bytes_max` is bad at once, without waiting for its bytes.
  Nullable buffer(std::size_t bytes_max) {
    const std::int32_t length = i32();
    if (!ok() || length == -1) return std::nullopt;
    if (length < 0 || static_cast<std::size_t>(length) > bytes_max) {
      bad();
      return std::nullopt;
    }
    const char* p = take(static_cast<std::size_t>(length));
    if (!p) return std::nullopt;
    return std::string_view(p, static_cast<std::size_t>(length));
  }

 private:
  const char* take(std::size_t n) {
    if (!ok()) return nullptr;
    if (bytes_.size() - at_ < n) {
      status_ = Decoded::kNeedMore;
      return nullptr;
    }
    const char* p = bytes_.data() + at_;
    at_ += n;
    return p;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  Decoded status_ = Decoded::kComplete;
};

// Reads `count` identities from `s` and passes each to `found`.
template <class Found>
void scan_identities(Scanner& s, std::int32_t count, std::size_t bytes_max, Found found) {
  for (std::int32_t i = 0; i < count && s.ok(); ++i) {
    const std::string_view scheme = s.buffer(bytes_max).value_or(std::string_view{});
    bytes_max -= scheme.size();
    const std::string_view id = s.buffer(bytes_max).value_or(std::string_view{});
    bytes_max -= id.size();
    if (s.ok()) found(scheme, id);
  }
}

// `host:port` or `[v6]:port`, with a valid port.
bool is_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (!bracketed && host.find_first_of(":[]") != std::string_view::npos) return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (port.empty() || port.size() > 5 || !std::ranges::all_of(port, is_digit)) return false;
  int number = 0;
  for (const char c : port) number = number * 10 + (c - '0');
  return number <= 65535;
}

// Nullopt if any part is not an address. Trailing separators are ignored, as in Java.
std::optional<std::vector<std::string>> split_addresses(std::string_view text) {
  while (text.ends_with('|')) text.remove_suffix(1);
  std::vector<std::string> addresses;
  while (!text.empty()) {
    const std::string_view address = text.substr(0, text.find('|'));
    if (!is_address(address)) return std::nullopt;
    addresses.emplace_back(address);
    text.remove_prefix(std::min(address.size() + 1, text.size()));
  }
  return addresses;
}

constexpr std::int64_t kHelloOneAddress = -65536;
constexpr std::int64_t kHelloManyAddresses = -65535;

constexpr std::size_t kNotificationBytesOldest = 28;       // from servers that do not send the leader's epoch
constexpr std::size_t kNotificationBytesUnversioned = 40;  // from servers before versions were used

}  // namespace

std::string_view name_of(PacketType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < kPacketNames.size() ? kPacketNames[number] : kPacketNames[0];
}

DecodedPacket decode_packet(std::string_view bytes, const PacketLimits& limits, QuorumPacket& packet) {
  Scanner s(bytes);
  const auto type = static_cast<PacketType>(s.i32());
  const Zxid zxid{s.i64()};
  const Nullable data = s.buffer(limits.data_bytes_max);
  const std::int32_t count = s.i32();
  if (s.ok() && (count < -1 || count > static_cast<std::int64_t>(limits.identities_max))) s.bad();
  // Two passes over the identities: they are copied only when all of them have arrived, so that a slow sender
  // cannot cause the same copies again and again.
  const Scanner identities = s;
  scan_identities(s, count, limits.identities_bytes_max, [](auto, auto) {});
  if (!s.ok()) return {s.status(), 0};

  packet.type = type;
  packet.zxid = zxid;
  packet.data = data;
  packet.identities.clear();
  Scanner again = identities;
  scan_identities(again, count, limits.identities_bytes_max,
                  [&](std::string_view scheme, std::string_view id) {
                    packet.identities.push_back({std::string(scheme), std::string(id)});
                  });
  return {Decoded::kComplete, s.position()};
}

void append_packet(std::string& out, PacketType type, Zxid zxid, const Nullable& data) {
  Writer w(out);
  w.i32(std::to_underlying(type));
  w.i64(raw(zxid));
  w.buffer(data);
  w.null();
}

void append_request_packet(std::string& out, std::string_view data, const std::vector<Identity>& identities) {
  Writer w(out);
  w.i32(std::to_underlying(PacketType::kRequest));
  w.i64(-1);
  w.string(data);
  w.i32(static_cast<std::int32_t>(identities.size()));
  for (const Identity& who : identities) {
    w.string(who.scheme);
    w.string(who.id);
  }
}

std::string encode(const LearnerInfo& info) {
  std::string out;
  Writer w(out);
  w.i64(raw(info.server));
  w.i32(info.protocol_version);
  w.i64(info.config_version);
  // Without a history, the bytes are the same as Java's.
  if (info.history != 0) w.i64(static_cast<std::int64_t>(info.history));
  return out;
}

std::optional<LearnerInfo> decode_learner_info(const Nullable& data) {
  if (!data || data->size() < 8) return std::nullopt;
  Reader r(*data);
  LearnerInfo info{.server = ServerId{r.i64()}, .protocol_version = 1, .config_version = 0};
  if (data->size() >= 12) info.protocol_version = r.i32();
  if (data->size() >= 20) info.config_version = r.i64();
  if (data->size() >= 28) info.history = static_cast<std::uint64_t>(r.i64());
  return info;
}

namespace {

constexpr char kHistoryEmpty = 1;
constexpr char kHistoryAgreed = 2;
constexpr std::size_t kLeaderHistoryBytes = 9;

}  // namespace

std::string encode(const LeaderInfo& info) {
  std::string out = encode_int(info.protocol_version);
  if (!info.history) return out;
  Writer(out).i64(static_cast<std::int64_t>(info.history->id));
  out += static_cast<char>((info.history->empty ? kHistoryEmpty : 0) |
                           (info.history->agreed ? kHistoryAgreed : 0));
  return out;
}

std::optional<LeaderInfo> decode_leader_info(const Nullable& data) {
  if (!data || data->size() < 4) return std::nullopt;
  Reader r(*data);
  LeaderInfo info{.protocol_version = r.i32(), .history = std::nullopt};
  if (data->size() < 4 + kLeaderHistoryBytes) return info;
  const auto id = static_cast<std::uint64_t>(r.i64());
  const char flags = (*data)[12];
  info.history = {.id = id, .empty = (flags & kHistoryEmpty) != 0, .agreed = (flags & kHistoryAgreed) != 0};
  return info;
}

std::string encode_int(std::int32_t value) {
  std::string out;
  Writer(out).i32(value);
  return out;
}

std::optional<std::int32_t> decode_int(const Nullable& data) {
  if (!data || data->size() < 4) return std::nullopt;
  return Reader(*data).i32();
}

void append_forwarded(std::string& out, const ForwardedRequest& request) {
  Writer w(out);
  w.i64(raw(request.session));
  w.i32(request.cxid);
  w.i32(std::to_underlying(request.op));
  w.raw(request.body);
}

std::optional<ForwardedRequest> decode_forwarded(const Nullable& data) {
  if (!data) return std::nullopt;
  Reader r(*data);
  ForwardedRequest request;
  request.session = SessionId{r.i64()};
  request.cxid = r.i32();
  request.op = static_cast<OpCode>(r.i32());
  if (!r.ok()) return std::nullopt;
  request.body = data->substr(r.position());
  return request;
}

void append_touched(std::string& out, const TouchedSession& touched) {
  Writer w(out);
  w.i64(raw(touched.session));
  w.i32(touched.timeout_ms);
}

std::optional<std::vector<TouchedSession>> decode_touched(const Nullable& data) {
  if (!data || data->size() % kTouchedSessionBytes != 0) return std::nullopt;
  std::vector<TouchedSession> sessions;
  sessions.reserve(data->size() / kTouchedSessionBytes);
  for (Reader r(*data); !r.at_end();) {
    const SessionId session{r.i64()};
    sessions.push_back({session, r.i32()});
  }
  return sessions;
}

std::string encode(const Revalidated& answer) {
  std::string out;
  Writer w(out);
  w.i64(raw(answer.session));
  w.boolean(answer.valid);
  return out;
}

std::optional<Revalidated> decode_revalidated(const Nullable& data) {
  if (!data) return std::nullopt;
  Reader r(*data);
  Revalidated answer;
  answer.session = SessionId{r.i64()};
  answer.valid = r.boolean();
  if (!r.ok()) return std::nullopt;
  return answer;
}

void append_notification(std::string& out, const Notification& notification) {
  Writer w(out);
  w.i32(std::to_underlying(notification.state));
  w.i64(raw(notification.leader));
  w.i64(raw(notification.zxid));
  w.i64(notification.round);
  w.i64(notification.peer_epoch);
  w.i32(notification.version);
  if (notification.version <= 1) return;
  w.string(notification.config);
  if (!notification.proposed.empty()) w.string(notification.proposed);
}

std::optional<Notification> decode_notification(std::string_view frame) {
  if (frame.size() > kNotificationBytesMax) return std::nullopt;
  Reader r(frame);
  Notification n;
  const std::int32_t state = r.i32();
  n.leader = ServerId{r.i64()};
  n.zxid = Zxid{r.i64()};
  n.round = r.i64();
  n.version = 0;
  if (frame.size() == kNotificationBytesOldest) {
    n.peer_epoch = raw(n.zxid) >> 32;  // sign-extended, as in Java
  } else {
    n.peer_epoch = r.i64();
    if (frame.size() != kNotificationBytesUnversioned) n.version = r.i32();
  }
  if (n.version > 1) {
    const Nullable config = r.buffer();
    if (!config) return std::nullopt;
    n.config = *config;
    // Other bytes may follow one day, as they may for Java.
    Reader rest = r;
    if (const Nullable proposed = rest.buffer(); rest.ok() && proposed) n.proposed = *proposed;
  }
  if (!r.ok() || state < 0 || state > std::to_underlying(PeerState::kObserving)) return std::nullopt;
  n.state = static_cast<PeerState>(state);
  return n;
}

void append_hello(std::string& out, const ElectionHello& hello) {
  std::string joined;
  std::size_t taken = 0;
  for (const std::string& address : hello.addresses) {
    const std::size_t separator = taken > 0 ? 1 : 0;
    if (joined.size() + separator + address.size() > kHelloBytesMax) break;
    joined.append(separator, '|').append(address);
    ++taken;
  }
  Writer w(out);
  if (joined.empty()) {
    ENSURE(raw(hello.server) >= 0, "a greeting without addresses is a server id, which is not negative");
    w.i64(raw(hello.server));
    return;
  }
  w.i64(taken > 1 ? kHelloManyAddresses : kHelloOneAddress);
  w.i64(raw(hello.server));
  w.string(joined);
}

DecodedHello decode_hello(std::string_view bytes, ElectionHello& hello) {
  Scanner s(bytes);
  const std::int64_t first = s.i64();
  if (!s.ok()) return {s.status(), 0};
  if (first >= 0) {
    hello = {ServerId{first}, {}};
    return {Decoded::kComplete, s.position()};
  }
  if (first != kHelloOneAddress && first != kHelloManyAddresses) return {Decoded::kBad, 0};
  const ServerId server{s.i64()};
  const Nullable text = s.buffer(kHelloBytesMax);
  if (!s.ok()) return {s.status(), 0};
  if (!text || text->empty()) return {Decoded::kBad, 0};
  auto addresses = split_addresses(*text);
  if (!addresses) return {Decoded::kBad, 0};
  hello = {server, std::move(*addresses)};
  return {Decoded::kComplete, s.position()};
}

}  // namespace drover::wire
