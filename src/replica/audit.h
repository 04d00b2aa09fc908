// SPDX-License-Identifier: Apache-2.0
//
// The audit log: who changed what, from where, and did it succeed? Fields and order are those of Java's
// AuditHelper; docs/operating.md shows lines.
//
// A note is taken when a request reaches the replica, and becomes lines when its result is known. So a client
// that closes its connection right after a request is in the log, too.
//
// Names come from clients, and a rejected path may contain anything. audit_escaped() makes sure that no name
// can end a line or begin a field.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "replica/messages.h"
#include "state/apply.h"

namespace drover::replica {

struct AuditLine {
  std::string text;
  bool failure = false;
};

enum class AuditResult : std::uint8_t { kSuccess, kFailure, kInvoked };

// Backslashes, control characters and bytes that are not UTF-8 become \\, \t, \n, \r or \xNN, so that the
// text can be restored. Everything else is unchanged.
std::string audit_escaped(std::string_view text);

// A line about the server itself: serverStart, serverStop.
AuditLine server_audit_line(std::string_view server_user, std::string_view operation, AuditResult result);

// The audit log's note of a request in flight.
struct AuditNote {
  SessionId session{};
  wire::OpCode op{};
  using Field = std::optional<std::string>;  // nullopt: not in the line, unlike an empty one
  Field users;                               // of the client, escaped and separated by commas
  Field ip;
  struct Node {
    Field path;
    Field type;
  };
  Node node;  // as requested
  Field acl;
  std::vector<Node> parts;  // of a multi
};
using AuditNotePtr = std::shared_ptr<const AuditNote>;

// Null if Java has no line for it: most operations, and what it can make nothing of.
AuditNotePtr audit_note(const ClientWrite& write, std::string_view body, const state::Options& options);

class AuditTrail {
 public:
  // `server_user`: whose ephemeral nodes' deletion it is, when a session ends.
  explicit AuditTrail(std::string server_user) : server_user_(std::move(server_user)) {}

  // `applied` is null if the request was refused without a transaction.
  void finish(const AuditNote& note, const state::ApplyResult* applied);
  // Every server logs the nodes that a session's end deletes. Call for every transaction.
  void note_applied(const wire::TxnHeader& header, const state::ApplyResult& result,
                    const state::TreeEvents& events);

  std::vector<AuditLine> take() { return std::exchange(lines_, {}); }

 private:
  void add(const AuditNote& note, std::string_view operation, const AuditNote::Node& node, bool success);
  void finish_multi(const AuditNote& note, const state::ApplyResult& applied);

  std::string server_user_;
  SessionId last_ended_{};
  std::vector<AuditLine> lines_;
};

}  // namespace drover::replica
