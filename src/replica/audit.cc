// SPDX-License-Identifier: Apache-2.0
#include "replica/audit.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "base/utf8.h"
#include "state/acl.h"
#include "wire/requests.h"

namespace drover::replica {
namespace {

using wire::OpCode;

constexpr std::string_view kEphemeralDeletion = "ephemeralZNodeDeletionOnSessionCloseOrExpire";
constexpr std::string_view kMultiOperation = "multiOperation";

bool is_control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == 0x2028 ||
         code_point == 0x2029;
}

void append_hex(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
}

// Names of Java's CreateMode in lower case, by flag.
std::string_view create_mode(std::int32_t flags) {
  constexpr std::array<std::string_view, 7> kModes{
      "persistent", "ephemeral",           "persistent_sequential",         "ephemeral_sequential",
      "container",  "persistent_with_ttl", "persistent_sequential_with_ttl"};
  return kModes[static_cast<std::size_t>(flags)];
}

// Empty: Java does not audit it.
std::string_view operation_of(OpCode op) {
  switch (op) {
    case OpCode::kCreate:
    case OpCode::kCreate2:
    case OpCode::kCreateTtl:
    case OpCode::kCreateContainer: return "create";
    case OpCode::kDelete:
    case OpCode::kDeleteContainer: return "delete";
    case OpCode::kSetData: return "setData";
    case OpCode::kSetAcl: return "setAcl";
    case OpCode::kReconfig: return "reconfig";
    case OpCode::kMulti: return kMultiOperation;
    default: return {};
  }
}

std::string permissions(std::int32_t perms) {
  std::string text;
  if (perms & wire::kCreate) text += 'c';
  if (perms & wire::kDelete) text += 'd';
  if (perms & wire::kRead) text += 'r';
  if (perms & wire::kWrite) text += 'w';
  if (perms & wire::kAdmin) text += 'a';
  return text;
}

// Without separators between entries, as in Java.
std::string acl_text(std::string_view list) {
  wire::Reader r(list);
  std::string text;
  for (const wire::Acl& entry : wire::decode_acl_list(r)) {
    text +=
        audit_escaped(entry.who.scheme) + ":" + audit_escaped(entry.who.id) + ":" + permissions(entry.perms);
  }
  return text;
}

AuditNote::Field users_of(const state::Identities& who, const state::Options& options) {
  std::string users;
  for (const wire::Identity& id : who) {
    const std::string name = state::user_name(id, options);
    if (trimmed(name).empty()) continue;
    if (!users.empty()) users += ',';
    users += audit_escaped(name);
  }
  if (users.empty()) return std::nullopt;
  return users;
}

// The address is the identity that every connection has from the beginning.
AuditNote::Field ip_of(const state::Identities& who) {
  const auto found = std::ranges::find(who, "ip", &wire::Identity::scheme);
  if (found == who.end()) return std::nullopt;
  return audit_escaped(found->id);
}

AuditNote::Node node_of(const wire::CreateRequest& request) {
  AuditNote::Node node;
  if (request.path) node.path = *request.path;
  node.type = create_mode(request.flags);
  return node;
}

// A request that cannot be read fails, and was an attempt all the same: Java 3.9 logs what it could read.
// False: it logs nothing.
bool read_path_only(AuditNote& note, std::string_view body) {
  wire::Reader r(body);
  const auto path = r.buffer();
  if (r.ok() && path) note.node.path = *path;
  if (operation_of(note.op) == "create") note.node.type = create_mode(wire::kPersistent);
  return note.op != OpCode::kSetAcl;
}

bool read_create(AuditNote& note, std::string_view body) {
  wire::Reader r(body);
  const auto request = wire::decode_create(r, note.op);
  if (!request) return read_path_only(note, body);
  if (!wire::is_create_flag(request->flags)) return false;
  note.node = node_of(*request);
  return true;
}

bool read_multi(AuditNote& note, std::string_view body, const state::Options& options) {
  wire::Reader r(body);
  const auto ops = wire::decode_multi(r, options.multi_ops_max);
  if (!ops) return true;  // Its failure is logged.
  for (const wire::MultiOp& op : *ops) {
    AuditNote::Node& part = note.parts.emplace_back();
    const auto* create = std::get_if<wire::CreateRequest>(&op.request);
    // Java knows no type for nodes with a TTL here.
    const bool typed = create && op.op != OpCode::kCreateTtl && wire::is_create_flag(create->flags);
    if (typed) part = node_of(*create);
  }
  return true;
}

bool read_body(AuditNote& note, std::string_view body, const state::Options& options) {
  wire::Reader r(body);
  const auto take_path = [&](const auto& request) {
    if (!request) return read_path_only(note, body);
    note.node.path = request->path;
    return true;
  };
  switch (note.op) {
    case OpCode::kDelete: return take_path(wire::decode_delete(r));
    case OpCode::kSetData: return take_path(wire::decode_set_data(r));
    case OpCode::kSetAcl: {
      const auto request = wire::decode_set_acl(r);
      if (request) note.acl = acl_text(request->acl);
      return take_path(request);
    }
    case OpCode::kMulti: return read_multi(note, body, options);
    case OpCode::kReconfig: return true;
    default: return read_create(note, body);
  }
}

void append_field(std::string& line, std::string_view name, std::optional<std::string_view> value) {
  if (!value) return;
  if (!line.empty()) line += '\t';
  line += name;
  line += '=';
  line += *value;
}

std::string_view name_of(AuditResult result) {
  switch (result) {
    case AuditResult::kSuccess: return "success";
    case AuditResult::kFailure: return "failure";
    case AuditResult::kInvoked: break;
  }
  return "invoked";
}

}  // namespace

std::string audit_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const DecodedChar c = decode_utf8(text);
    const std::string_view bytes = text.substr(0, c.length);
    switch (c.code_point) {
      case '\\': out += "\\\\"; break;
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      default:
        if (is_control(c.code_point) || is_malformed(c)) {
          append_hex(out, bytes);
        } else {
          out += bytes;
        }
    }
    text.remove_prefix(c.length);
  }
  return out;
}

AuditLine server_audit_line(std::string_view server_user, std::string_view operation, AuditResult result) {
  AuditLine line{.text = {}, .failure = result == AuditResult::kFailure};
  append_field(line.text, "user", audit_escaped(server_user));
  append_field(line.text, "operation", operation);
  append_field(line.text, "result", name_of(result));
  return line;
}

AuditNotePtr audit_note(const ClientWrite& write, std::string_view body, const state::Options& options) {
  if (operation_of(write.op).empty()) return nullptr;
  auto note = std::make_shared<AuditNote>();
  note->session = write.session;
  note->op = write.op;
  if (!read_body(*note, body, options)) return nullptr;
  note->users = users_of(*write.who, options);
  note->ip = ip_of(*write.who);
  return note;
}

void AuditTrail::add(const AuditNote& note, std::string_view operation, const AuditNote::Node& node,
                     bool success) {
  AuditLine line{.text = {}, .failure = !success};
  append_field(line.text, "session", hex_text(note.session));
  append_field(line.text, "user", note.users);
  append_field(line.text, "ip", note.ip);
  append_field(line.text, "operation", operation);
  if (node.path) append_field(line.text, "znode", audit_escaped(*node.path));
  append_field(line.text, "znode_type", node.type);
  append_field(line.text, "acl", note.acl);
  append_field(line.text, "result", name_of(success ? AuditResult::kSuccess : AuditResult::kFailure));
  lines_.push_back(std::move(line));
}

void AuditTrail::finish(const AuditNote& note, const state::ApplyResult* applied) {
  const bool success = applied && applied->type != OpCode::kError;
  if (success && note.op == OpCode::kMulti) return finish_multi(note, *applied);
  AuditNote::Node node = note.node;
  // A sequential node has another path than its request, and the members have one that no request names.
  if (success && !applied->path.empty()) node.path = applied->path;
  add(note, operation_of(note.op), node, success);
}

void AuditTrail::finish_multi(const AuditNote& note, const state::ApplyResult& applied) {
  const auto failed = [](const state::ApplyResult& part) { return part.type == OpCode::kError; };
  if (std::ranges::any_of(applied.multi, failed)) return add(note, kMultiOperation, {}, false);
  for (std::size_t i = 0; i < applied.multi.size(); ++i) {
    const std::string_view operation = operation_of(applied.multi[i].type);
    if (operation.empty()) continue;  // a check
    AuditNote::Node node{std::string(applied.multi[i].path), {}};
    // Java finds the type by the requested path, so a sequential node has none.
    const bool typed = i < note.parts.size() && note.parts[i].path == node.path;
    if (typed) node.type = note.parts[i].type;
    add(note, operation, node, true);
  }
}

void AuditTrail::note_applied(const wire::TxnHeader& header, const state::ApplyResult& result,
                              const state::TreeEvents& events) {
  // Nodes that do not fit into the end of a session are deleted by multis of nobody, right behind it.
  const bool sweeps = result.type == OpCode::kMulti && raw(header.session) == 0;
  if (result.type == OpCode::kCloseSession) last_ended_ = header.session;
  if (!sweeps && result.type != OpCode::kCloseSession) return;
  for (const state::TreeEvent& event : events.list) {
    if (event.type != wire::EventType::kNodeDeleted) continue;
    AuditLine line;
    append_field(line.text, "session", hex_text(last_ended_));
    append_field(line.text, "user", audit_escaped(server_user_));
    append_field(line.text, "operation", kEphemeralDeletion);
    append_field(line.text, "znode", audit_escaped(event.path));
    append_field(line.text, "result", name_of(AuditResult::kSuccess));
    lines_.push_back(std::move(line));
  }
}

}  // namespace drover::replica
