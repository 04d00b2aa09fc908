// SPDX-License-Identifier: Apache-2.0
//
// Input from the server. Unexpected input closes the connection; the next one starts clean.
#include <algorithm>

#include "client/session.h"
#include "wire/requests.h"

namespace drover::client {
namespace {

using wire::OpCode;

constexpr std::size_t kLengthBytes = 4;

}  // namespace

// Frames are read in place; only an incomplete frame is copied.
void Session::on_bytes(std::string_view bytes, Instant now, SessionEffects& effects) {
  if (phase_ != Phase::kHandshake && phase_ != Phase::kLogin && phase_ != Phase::kOpen) return;
  last_heard_ = now;
  input_.erase(0, used_);
  used_ = 0;
  const bool joined = !input_.empty();
  if (joined) input_.append(bytes);
  const std::string_view all = joined ? std::string_view(input_) : bytes;
  std::size_t at = 0;
  while (all.size() - at >= kLengthBytes) {
    const auto length = wire::load_be<std::int32_t>(all.data() + at);
    if (length < 0 || length > options_.frame_bytes_max) return hang_up(now, effects);
    const std::size_t end = at + kLengthBytes + static_cast<std::size_t>(length);
    if (end > all.size()) break;
    const std::string_view frame = all.substr(at + kLengthBytes, end - at - kLengthBytes);
    if (!on_frame(frame, now, effects)) return hang_up(now, effects);
    if (is_final(state_)) return;
    at = end;
  }
  if (joined) {
    used_ = at;
  } else {
    input_.assign(bytes.substr(at));
  }
  leave_if_idle(now, effects);
}

// False: no server sends this.
bool Session::on_frame(std::string_view frame, Instant now, SessionEffects& effects) {
  if (phase_ == Phase::kHandshake) return on_handshake(frame, now, effects);
  wire::Reader r(frame);
  const wire::ReplyHeader header = wire::decode_reply_header(r);
  if (!r.ok()) return false;
  const std::string_view body = frame.substr(r.position());
  switch (header.xid) {
    case wire::kNotificationXid: return on_event(header, body, effects);
    case wire::kPingXid: return on_ping_reply();
    case wire::kAuthXid: return on_auth_reply(header.error, effects);
    case kSetWatchesXid: return on_set_watches_reply(header);
    default: return on_reply(header, body, now, effects);
  }
}

bool Session::on_handshake(std::string_view frame, Instant now, SessionEffects& effects) {
  const auto response = wire::decode_connect_response(frame);
  if (!response) return false;
  const SessionId asked = session_to_ask_for();
  if (response->timeout_ms <= 0) {
    if (raw(asked) == 0) return false;
    // A session that we were closing is closed: perhaps by us, and the reply was lost.
    finish(closing_ ? SessionState::kClosed : SessionState::kExpired, effects);
    return true;
  }
  if (response->read_only && !options_.read_only_ok) return false;
  // Some servers give a new session instead of saying that the old one expired.
  if (raw(asked) != 0 && response->session != asked) {
    finish(SessionState::kExpired, effects);
    return true;
  }
  session_ = response->session;
  password_ = response->password;
  timeout_ms_ = std::max(3, response->timeout_ms);
  seen_read_write_ = seen_read_write_ || !response->read_only;
  server_read_only_ = response->read_only;
  note_answered(last_sent_);
  // A new session is a transaction and proves a quorum. An old one is confirmed by a leader, which may have
  // been deposed without knowing it.
  if (raw(asked) == 0 && !response->read_only) {
    note_proved(last_sent_);
    proof_asked_ = last_sent_;
  }
  if (options_.sasl) {
    begin_login(now, effects);
  } else {
    open(now, effects);
  }
  return true;
}

void Session::open(Instant now, SessionEffects& effects) {
  servers_.on_success();
  phase_ = Phase::kOpen;
  opened_ = now;
  logged_in_ = options_.sasl;
  enter(server_read_only_ ? SessionState::kConnectedReadOnly : SessionState::kConnected, effects);
  resume(now, effects);
}

void Session::note_answered(Instant sent_at) {
  answered_ = std::max(answered_.value_or(sent_at), sent_at);
  answered_read_only_ = server_read_only_;
}

bool Session::on_ping_reply() {
  if (pings_.empty()) return false;
  note_answered(pings_.front());
  pings_.pop_front();
  return true;
}

bool Session::on_auth_reply(ErrorCode error, SessionEffects& effects) {
  if (auths_answered_ >= auths_.size()) return false;
  Auth& auth = auths_[auths_answered_++];
  if (auth.token) {
    effects.happened.push_back(
        Completed{*auth.token, Outcome::kAnswered, {wire::kAuthXid, Zxid{}, error}, {}});
    auth.token.reset();
  }
  // The server closes this connection, and would close every later one.
  if (error != ErrorCode::kOk)
    fail_auth("the server refuses authentication by scheme " + auth.scheme, effects);
  return true;
}

// Only the zxid of the last piece's reply counts. If the connection were lost between pieces, changes that
// later pieces have not asked about would be taken as known.
bool Session::on_set_watches_reply(const wire::ReplyHeader& header) {
  if (set_watches_sent_ == 0 || header.error != ErrorCode::kOk) return false;
  last_zxid_seen_ = std::max(last_zxid_seen_, header.zxid);
  if (--set_watches_sent_ == 0) watch_zxid_ = std::max(watch_zxid_, header.zxid);
  return true;
}

// We have seen the event's zxid, so a server behind it must not answer us. But not all events of its
// transaction may have arrived, so watch_zxid_ waits for a reply.
bool Session::on_event(const wire::ReplyHeader& header, std::string_view body, SessionEffects& effects) {
  wire::Reader r(body);
  const auto type = static_cast<wire::EventType>(r.i32());
  r.i32();  // the state, always "connected"
  const std::string_view path = r.string();
  if (!r.ok()) return false;
  last_zxid_seen_ = std::max(last_zxid_seen_, header.zxid);
  watches_.fire(type, path);
  effects.happened.push_back(WatchEvent{type, path, header.zxid});
  return true;
}

bool Session::on_reply(const wire::ReplyHeader& header, std::string_view body, Instant now,
                       SessionEffects& effects) {
  if (sent_.empty() || sent_.front().xid != header.xid) return false;
  const Sent request = std::move(sent_.front());
  sent_.pop_front();
  note_answered(request.at);
  if (request.op == OpCode::kSasl) return on_sasl_reply(header, body, now, effects);
  if (proves_quorum(request.op) && header.error == ErrorCode::kOk) note_proved(request.at);
  if (raw(header.zxid) > 0) {
    last_zxid_seen_ = std::max(last_zxid_seen_, header.zxid);
    watch_zxid_ = std::max(watch_zxid_, header.zxid);
  }
  if (request.op == OpCode::kCloseSession) {
    close_confirmed_ = header.error == ErrorCode::kOk;
    finish(SessionState::kClosed, effects);
    return true;
  }
  note_interest(request, header.error);
  effects.happened.push_back(Completed{request.token, Outcome::kAnswered, header, body});
  return true;
}

void Session::note_interest(const Sent& request, ErrorCode error) {
  using Kind = Interest::Kind;
  const Interest& interest = request.interest;
  if (interest.kind == Kind::kExists && error == ErrorCode::kNoNode)
    return watches_.add(WatchKind::kExist, interest.path);
  const bool gone = interest.kind == Kind::kRemoval && error == ErrorCode::kNoWatcher;
  if (error != ErrorCode::kOk && !gone) return;
  switch (interest.kind) {
    case Kind::kNone: return;
    case Kind::kData:
    case Kind::kExists: return watches_.add(WatchKind::kData, interest.path);
    case Kind::kChild: return watches_.add(WatchKind::kChild, interest.path);
    case Kind::kPersistent: return watches_.add(WatchKind::kPersistent, interest.path);
    case Kind::kRecursive: return watches_.add(WatchKind::kRecursive, interest.path);
    case Kind::kRemoval: return watches_.remove(interest.removal, interest.path);
  }
}

}  // namespace drover::client
