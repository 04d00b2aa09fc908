// SPDX-License-Identifier: Apache-2.0
#include "tools/txn_text.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include <fmt/format.h>

#include "base/path.h"
#include "tools/json.h"
#include "tools/node_text.h"
#include "tools/text.h"

namespace drover::tools {
namespace {

using wire::OpCode;

constexpr std::size_t kPathsShown = 8;

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

void append_data_text(std::string& out, const wire::Nullable& data, const TxnTextOptions& options) {
  fmt::format_to(std::back_inserter(out), " {} bytes", data_bytes(data));
  if (options.data) out += " " + data_text(data);
}

void append_create(std::string& out, OpCode type, const wire::CreateTxn& t, const TxnTextOptions& options) {
  out += path_text(t.path);
  append_data_text(out, t.data, options);
  if (t.ephemeral) out += " ephemeral";
  if (type == OpCode::kCreateTtl) fmt::format_to(std::back_inserter(out), " ttl {} ms", t.ttl_ms);
  fmt::format_to(std::back_inserter(out), " parent cversion {}", t.parent_cversion);
  if (t.acl != wire::open_acl_bytes()) out += " acl " + acl_text(t.acl);
}

void append_close(std::string& out, const wire::CloseSessionTxn& t) {
  fmt::format_to(std::back_inserter(out), "deletes {}", t.paths.size());
  for (std::size_t i = 0; i < std::min(t.paths.size(), kPathsShown); ++i) out += " " + path_text(t.paths[i]);
  if (t.paths.size() > kPathsShown) out += " …";
}

// The text after the name of the operation.
void append_record(std::string& out, OpCode type, const wire::TxnRecord& record,
                   const TxnTextOptions& options) {
  const auto to = std::back_inserter(out);
  std::visit(
      Overloaded{
          [&](const wire::CreateTxn& t) { append_create(out, type, t, options); },
          [&](const wire::DeleteTxn& t) { out += path_text(t.path); },
          [&](const wire::SetDataTxn& t) {
            out += path_text(t.path);
            append_data_text(out, t.data, options);
            fmt::format_to(to, " version {}", t.version);
          },
          [&](const wire::SetAclTxn& t) {
            fmt::format_to(to, "{} acl {} version {}", path_text(t.path), acl_text(t.acl), t.version);
          },
          [&](const wire::CheckTxn& t) { fmt::format_to(to, "{} version {}", path_text(t.path), t.version); },
          [&](const wire::CreateSessionTxn& t) { fmt::format_to(to, "timeout {} ms", t.timeout_ms); },
          [&](const wire::CloseSessionTxn& t) { append_close(out, t); },
          [&](const wire::ErrorTxn& t) {
            fmt::format_to(to, "{} ({})", name_of(t.error), static_cast<int>(t.error));
          },
          [&](const wire::MultiTxn& t) { fmt::format_to(to, "{} operations", t.txns.size()); },
      },
      record);
}

void add_record(JsonObject& json, OpCode type, const wire::TxnRecord& record, const TxnTextOptions& options) {
  const auto add_data = [&](const wire::Nullable& data) {
    json.count("dataBytes", data_bytes(data));
    if (options.data) json.data("data", data);
  };
  std::visit(Overloaded{
                 [&](const wire::CreateTxn& t) {
                   json.text("path", t.path);
                   add_data(t.data);
                   json.text("acl", acl_text(t.acl)).boolean("ephemeral", t.ephemeral);
                   json.number("parentCversion", t.parent_cversion);
                   if (type == OpCode::kCreateTtl) json.number("ttlMs", t.ttl_ms);
                 },
                 [&](const wire::DeleteTxn& t) { json.text("path", t.path); },
                 [&](const wire::SetDataTxn& t) {
                   json.text("path", t.path);
                   add_data(t.data);
                   json.number("version", t.version);
                 },
                 [&](const wire::SetAclTxn& t) {
                   json.text("path", t.path).text("acl", acl_text(t.acl)).number("version", t.version);
                 },
                 [&](const wire::CheckTxn& t) { json.text("path", t.path).number("version", t.version); },
                 [&](const wire::CreateSessionTxn& t) { json.number("timeoutMs", t.timeout_ms); },
                 [&](const wire::CloseSessionTxn& t) {
                   JsonArray paths;
                   for (const std::string_view path : t.paths) paths.add_text(path);
                   json.json("paths", paths.take());
                 },
                 [&](const wire::ErrorTxn& t) {
                   json.number("error", static_cast<int>(t.error)).text("errorName", name_of(t.error));
                 },
                 [&](const wire::MultiTxn&) {},
             },
             record);
}

std::string operations_json(const wire::TxnEntry& txn, const TxnTextOptions& options) {
  JsonArray all;
  for (const Operation& operation : operations_of(txn)) {
    std::string one;
    JsonObject json(one);
    json.text("type", op_name(operation.type));
    if (operation.record) {
      add_record(json, operation.type, *operation.record, options);
    } else {
      json.boolean("unreadable", true);
    }
    json.end();
    all.add(one);
  }
  return all.take();
}

}  // namespace

std::vector<Operation> operations_of(const wire::TxnEntry& txn) {
  const auto* multi = std::get_if<wire::MultiTxn>(&txn.record);
  if (!multi) return {{txn.header.type, txn.record}};
  std::vector<Operation> operations;
  operations.reserve(multi->txns.size());
  for (const wire::SubTxn& sub : multi->txns) {
    wire::Reader r(sub.record);
    operations.push_back({sub.type, wire::decode_txn_record(r, sub.type, /*in_multi=*/true)});
  }
  return operations;
}

bool has_failed(const wire::TxnEntry& txn) {
  if (txn.header.type == OpCode::kError) return true;
  const auto* multi = std::get_if<wire::MultiTxn>(&txn.record);
  return multi &&
         std::ranges::any_of(multi->txns, [](const auto& sub) { return sub.type == OpCode::kError; });
}

std::string_view path_of(const wire::TxnRecord& record) {
  return std::visit(
      [](const auto& t) -> std::string_view {
        if constexpr (requires { t.path; }) {
          return t.path;
        } else {
          return {};
        }
      },
      record);
}

bool touches(const wire::TxnEntry& txn, std::string_view top) {
  if (const auto* close = std::get_if<wire::CloseSessionTxn>(&txn.record)) {
    return std::ranges::any_of(close->paths, [&](std::string_view path) { return is_within(path, top); });
  }
  if (!std::holds_alternative<wire::MultiTxn>(txn.record)) {
    const std::string_view path = path_of(txn.record);
    return !path.empty() && is_within(path, top);
  }
  for (const Operation& operation : operations_of(txn)) {
    const std::string_view path = operation.record ? path_of(*operation.record) : std::string_view{};
    if (!path.empty() && is_within(path, top)) return true;
  }
  return false;
}

void append_text(std::string& out, const wire::TxnEntry& txn, std::size_t bytes,
                 const TxnTextOptions& options) {
  const auto to = std::back_inserter(out);
  const wire::TxnHeader& h = txn.header;
  fmt::format_to(to, "{} {} session {} cxid {} {} ", zxid_text(h.zxid), time_text(h.time_ms),
                 session_text(h.session), h.cxid, op_name(h.type));
  append_record(out, h.type, txn.record, options);
  fmt::format_to(to, " [{} bytes", bytes);
  if (txn.digest) fmt::format_to(to, ", digest {}", hex_text(txn.digest->tree_digest));
  out += "]\n";
  if (h.type != OpCode::kMulti) return;
  for (const Operation& operation : operations_of(txn)) {
    fmt::format_to(to, "    {} ", op_name(operation.type));
    if (operation.record) {
      append_record(out, operation.type, *operation.record, options);
    } else {
      out += "unreadable";
    }
    out += '\n';
  }
}

void append_json(std::string& out, const wire::TxnEntry& txn, std::size_t bytes,
                 const TxnTextOptions& options) {
  const wire::TxnHeader& h = txn.header;
  JsonObject json(out);
  json.zxid("zxid", h.zxid).text("time", time_text(h.time_ms)).session("session", h.session);
  json.number("cxid", h.cxid).text("type", op_name(h.type)).count("bytes", bytes);
  add_record(json, h.type, txn.record, options);
  if (h.type == OpCode::kMulti) json.json("operations", operations_json(txn, options));
  if (txn.digest) json.hex("digest", txn.digest->tree_digest);
  json.end_line();
}

}  // namespace drover::tools
