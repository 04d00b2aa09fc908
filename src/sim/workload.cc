// SPDX-License-Identifier: Apache-2.0
#include "sim/workload.h"

#include "wire/jute.h"
#include "wire/requests.h"

namespace drover::sim {
namespace {

using wire::OpCode;

constexpr std::size_t kNamesKept = 32;
constexpr std::int64_t kTtlMs = 5000;

template <class Write>
std::string written(Write write) {
  std::string bytes;
  wire::Writer w(bytes);
  write(w);
  return bytes;
}

std::string watch_body(std::string_view path, bool watch) {
  return written([&](wire::Writer& w) {
    w.string(path);
    w.boolean(watch);
  });
}

std::string type_body(std::string_view path, std::int32_t type) {
  return written([&](wire::Writer& w) {
    w.string(path);
    w.i32(type);
  });
}

}  // namespace

Workload::Workload(std::uint64_t seed, std::uint32_t writer, const WorkloadOptions& options)
    : random_(seed), writer_(writer), options_(options) {}

WorkloadStep Workload::next() {
  if (!ready_.empty()) {
    WorkloadStep step = std::move(ready_.back());
    ready_.pop_back();
    return step;
  }
  if (options_.close_in != 0 && random_.below(options_.close_in) == 0)
    return {WorkloadStep::Kind::kClose, {}, {}};
  if (options_.vanish_in != 0 && random_.below(options_.vanish_in) == 0)
    return {WorkloadStep::Kind::kVanish, {}, {}};
  if (options_.move_in != 0 && random_.below(options_.move_in) == 0)
    return {WorkloadStep::Kind::kMove, {}, {}};
  return chance(options_.write_percent) ? write() : read();
}

std::string Workload::path() {
  std::string path = "/k" + std::to_string(random_.below(options_.top_paths));
  if (chance(65)) path += "/c" + std::to_string(random_.below(options_.children));
  if (chance(20)) path += "/g" + std::to_string(random_.below(options_.grandchildren));
  return path;
}

std::string Workload::deletable() {
  if (sequential_.empty() || chance(50)) return path();
  const std::size_t i = random_.below(sequential_.size());
  std::string name = std::move(sequential_[i]);
  sequential_.erase(sequential_.begin() + static_cast<std::ptrdiff_t>(i));
  return name;
}

// Unique in the whole run.
std::string Workload::value() {
  std::string value = std::to_string(writer_) + ":" + std::to_string(++values_) + ":";
  return value.append(random_.below(options_.value_bytes_max + 1), 'x');
}

// Mostly right, as far as the client can know.
std::int32_t Workload::version_of(std::string_view path) {
  if (chance(35)) return -1;
  const auto found = versions_.find(path);
  if (found == versions_.end()) return static_cast<std::int32_t>(random_.below(3));
  return found->second + (chance(10) ? 1 : 0);
}

std::string Workload::create_body(std::string_view path, std::int32_t flags) {
  const std::string data = value();
  return written([&](wire::Writer& w) {
    w.string(path);
    chance(5) ? w.null() : w.string(data);
    w.raw(wire::open_acl_bytes());
    w.i32(flags);
    if (wire::is_ttl(flags)) w.i64(kTtlMs);
  });
}

std::string Workload::set_body(std::string_view path) {
  const std::string data = value();
  const std::int32_t version = version_of(path);
  return written([&](wire::Writer& w) {
    w.string(path);
    w.string(data);
    w.i32(version);
  });
}

// For delete and check.
std::string Workload::versioned_body(std::string_view path) { return type_body(path, version_of(path)); }

WorkloadStep Workload::write() {
  if (options_.crowd_percent != 0 && chance(options_.crowd_percent)) return join_crowd();
  const std::uint64_t die = random_.below(100);
  if (die < 40) return create();
  if (die < 65) return call(OpCode::kSetData, set_body(path()));
  if (die < 84) return call(OpCode::kDelete, versioned_body(deletable()));
  if (die < 96) return multi();
  return set_acl();
}

WorkloadStep Workload::create() {
  const std::uint64_t die = random_.below(100);
  const bool with_stat = chance(50);
  const OpCode plain = with_stat ? OpCode::kCreate2 : OpCode::kCreate;
  if (die < 45) return call(plain, create_body(path(), wire::kPersistent));
  if (die < 70) return call(plain, create_body(path(), wire::kEphemeral));
  if (die < 80) return call(plain, create_body(path() + "/s-", wire::kPersistentSequential));
  if (die < 90) return call(plain, create_body(path() + "/e-", wire::kEphemeralSequential));
  if (die < 95 || !options_.ttl_nodes)
    return call(OpCode::kCreateContainer, create_body(path(), wire::kContainer));
  const bool sequential = chance(50);
  return call(OpCode::kCreateTtl,
              create_body(sequential ? path() + "/t-" : path(),
                          sequential ? wire::kPersistentSequentialTtl : wire::kPersistentTtl));
}

// Names long enough that a few of them fill a transaction; half of them below other parents than the root.
WorkloadStep Workload::join_crowd() {
  const std::string parent = chance(50) ? path() : "";
  const std::string name = "/crowd-" + std::string(random_.below(30), 'n') + "-";
  const std::string body = written([&](wire::Writer& w) {
    w.string(parent + name);
    w.null();
    w.raw(wire::open_acl_bytes());
    w.i32(wire::kEphemeralSequential);
  });
  return call(OpCode::kCreate, body);
}

WorkloadStep Workload::multi() {
  return call(OpCode::kMulti, written([&](wire::Writer& w) {
                for (std::uint64_t parts = random_.below(5); parts > 0; --parts) {
                  const std::uint64_t die = random_.below(4);
                  OpCode op = OpCode::kCreate;
                  std::string body;
                  if (die == 0) body = create_body(path(), chance(30) ? wire::kEphemeral : wire::kPersistent);
                  if (die == 1) op = OpCode::kSetData, body = set_body(path());
                  if (die == 2) op = OpCode::kDelete, body = versioned_body(deletable());
                  if (die == 3) op = OpCode::kCheck, body = versioned_body(path());
                  wire::encode(w, wire::MultiHeader{op, false, -1});
                  w.raw(body);
                }
                wire::encode(w, wire::kMultiEnd);
              }));
}

// All clients may always read, so that no watch depends on the identity of its client.
WorkloadStep Workload::set_acl() {
  const std::int32_t perms = chance(50) ? wire::kAll : wire::kAll & ~wire::kWrite;
  const std::string where = path();
  return call(OpCode::kSetAcl, written([&](wire::Writer& w) {
                w.string(where);
                wire::encode_acl_list(w, {{perms, {"world", "anyone"}}});
                w.i32(-1);
              }));
}

WorkloadStep Workload::read() {
  const std::uint64_t die = random_.below(100);
  const bool watch = chance(options_.watch_percent);
  if (die < 35) return call(OpCode::kGetData, watch_body(path(), watch));
  if (die < 55) return call(OpCode::kExists, watch_body(path(), watch));
  if (die < 65) return call(OpCode::kGetChildren, watch_body(path(), watch));
  if (die < 75) return call(OpCode::kGetChildren2, watch_body(path(), watch));
  if (die < 85) return watch_step();
  const std::string where = path();
  if (die < 88) return call(OpCode::kGetAcl, written([&](wire::Writer& w) { w.string(where); }));
  if (die < 92) {
    return call(OpCode::kMultiRead, written([&](wire::Writer& w) {
                  for (const OpCode op : {OpCode::kGetData, OpCode::kGetChildren}) {
                    wire::encode(w, wire::MultiHeader{op, false, -1});
                    w.raw(watch_body(path(), false));
                  }
                  wire::encode(w, wire::kMultiEnd);
                }));
  }
  ready_.push_back(call(OpCode::kGetData, watch_body(where, watch)));
  return call(OpCode::kSync, written([&](wire::Writer& w) { w.string(where); }));
}

WorkloadStep Workload::watch_step() {
  const std::uint64_t die = random_.below(100);
  if (die < 30) return call(OpCode::kAddWatch, type_body(path(), 0));
  if (die < 60) return call(OpCode::kAddWatch, type_body(chance(10) ? "/" : path(), 1));
  const auto type = static_cast<std::int32_t>(1 + random_.below(5));
  return call(chance(20) ? OpCode::kCheckWatches : OpCode::kRemoveWatches, type_body(path(), type));
}

void Workload::on_reply(OpCode op, std::string_view request, const wire::ReplyHeader& header,
                        std::string_view body) {
  if (header.error != ErrorCode::kOk) return;
  wire::Reader asked(request);
  wire::Reader r(body);
  if (op == OpCode::kCreate || op == OpCode::kCreate2) {
    const std::string_view name = r.string();
    const bool in_crowd = name.find("/crowd-") != std::string_view::npos;
    if (name != asked.string() && !in_crowd && sequential_.size() < kNamesKept)
      sequential_.emplace_back(name);
    return;
  }
  if (op != OpCode::kGetData && op != OpCode::kExists && op != OpCode::kSetData) return;
  if (op == OpCode::kGetData) r.buffer();
  const wire::Stat stat = wire::decode_stat(r);
  if (r.ok()) versions_.insert_or_assign(std::string(asked.string()), stat.version);
}

}  // namespace drover::sim
