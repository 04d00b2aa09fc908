// SPDX-License-Identifier: Apache-2.0
//
// The operations of Client and their parameters.
#include <algorithm>
#include <utility>

#include "client/client_calls.h"

namespace drover {

using client::Plan;
using client::WatchSlot;
using wire::OpCode;

namespace {

bool is_sequential(CreateMode mode) {
  return mode == CreateMode::kPersistentSequential || mode == CreateMode::kEphemeralSequential ||
         mode == CreateMode::kPersistentSequentialTtl;
}

// A sequential create may end with "/": the server appends the number.
Plan<Created> create_plan(Plan<Created> plan, std::string_view data, const CreateOptions& options) {
  if (is_sequential(options.mode)) plan.refused = client::refusal_of_path(plan.path, plan.full_path + "1");
  plan.op = client::create_op(options.mode);
  plan.body = client::create_body(plan.full_path, data, options);
  return plan;
}

// Creates "/a" and "/a/b" for "/a/b/c". Another client may create them at the same time.
Task<Result<void>> create_parents(std::shared_ptr<client::ClientCore> core, Plan<Created> base, Wait wait) {
  const std::string path = base.full_path;
  CreateOptions options;
  options.mode = CreateMode::kContainer;
  std::size_t slash = path.find('/', 1);
  for (int tries = 1; slash != std::string::npos;) {
    Plan<Created> plan = base;
    plan.full_path = path.substr(0, slash);
    plan.op = client::create_op(options.mode);
    plan.body = client::create_body(plan.full_path, {}, options);
    plan.repeatable = true;  // Idempotent.
    auto creating = client::perform<Created>(core, std::move(plan), wait);
    const Result<Created> made = co_await std::move(creating);
    if (!made && made.error() == Errc::kUnimplemented && options.mode == CreateMode::kContainer) {
      options.mode = CreateMode::kPersistent;
      continue;
    }
    if (!made && made.error() == Errc::kNoNode && tries++ < 3) {  // The server removed an empty container.
      slash = path.find('/', 1);
      continue;
    }
    if (!made && made.error() != Errc::kNodeExists) co_return std::unexpected(made.error());
    slash = path.find('/', slash + 1);
  }
  co_return Result<void>{};
}

Task<Result<Created>> create_with_parents(std::shared_ptr<client::ClientCore> core, Plan<Created> plan,
                                          Wait wait) {
  if (plan.refused) co_return std::unexpected(*plan.refused);
  for (;;) {
    auto creating = client::perform<Created>(core, plan, wait);
    Result<Created> created = co_await std::move(creating);
    if (created || created.error() != Errc::kNoNode) co_return created;
    auto making = create_parents(core, plan, wait);
    const Result<void> made = co_await std::move(making);
    if (!made) co_return std::unexpected(made.error());
  }
}

Task<Result<void>> without_value(Task<Result<std::vector<OpResult>>> task) {
  const Result<std::vector<OpResult>> result = co_await std::move(task);
  if (!result) co_return std::unexpected(result.error());
  co_return Result<void>{};
}

Task<Result<std::vector<OpResult>>> with_path(Task<Result<std::vector<OpResult>>> task,
                                              std::vector<std::string> paths) {
  Result<std::vector<OpResult>> result = co_await std::move(task);
  if (!result && result.error().op_index >= 0) {
    const auto index = static_cast<std::size_t>(result.error().op_index);
    if (index < paths.size()) result.error().path = paths[index];
  }
  co_return result;
}

}  // namespace

std::vector<Acl> open_acl() { return {Acl{}}; }
std::vector<Acl> creator_all_acl() { return {Acl{Permission::kAll, "auth", ""}}; }
std::vector<Acl> read_acl() { return {Acl{Permission::kRead, "world", "anyone"}}; }

Op Op::create(std::string path, std::string data, CreateOptions options) {
  return {Kind::kCreate, std::move(path), std::move(data), Version::kAny, std::move(options)};
}
Op Op::set(std::string path, std::string data, Version version) {
  return {Kind::kSet, std::move(path), std::move(data), version, {}};
}
Op Op::remove(std::string path, Version version) { return {Kind::kRemove, std::move(path), {}, version, {}}; }
Op Op::check(std::string path, Version version) { return {Kind::kCheck, std::move(path), {}, version, {}}; }

std::optional<Clock::duration> RetryPolicy::pause_after(int tries, std::uint64_t random) const {
  if (tries_max > 0 && tries >= tries_max) return std::nullopt;
  const Clock::duration most = std::min(cap, base * (std::int64_t{1} << std::min(tries - 1, 20)));
  if (most <= Clock::duration::zero() || base == cap) return most;
  return Clock::duration(static_cast<std::int64_t>(random % static_cast<std::uint64_t>(most.count() + 1)));
}

Task<Result<Created>> Client::create(std::string path, std::string data, CreateOptions options,
                                     Wait wait) const {
  auto plan = create_plan(
      Calls::plan<Created>(*this, OpCode::kCreate2, std::move(path), client::decode_created), data, options);
  if (options.parents) return create_with_parents(Calls::core(*this), std::move(plan), std::move(wait));
  return client::perform<Created>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<void>> Client::remove(std::string path, Version version, Wait wait) const {
  auto plan = Calls::plan<void>(*this, OpCode::kDelete, std::move(path), client::decode_nothing);
  plan.body = client::path_version_body(plan.full_path, version);
  return client::perform<void>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<Stat>> Client::set(std::string path, std::string data, Version version, Wait wait) const {
  auto plan = Calls::plan<Stat>(*this, OpCode::kSetData, std::move(path), client::decode_stat);
  plan.body = client::set_body(plan.full_path, data, version);
  return client::perform<Stat>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<NodeData>> Client::get(std::string path, Wait wait) const {
  return get(std::move(path), Watch(), std::move(wait));
}
Task<Result<NodeData>> Client::get(std::string path, const Watch& watch, Wait wait) const {
  return Calls::read<NodeData>(*this, OpCode::kGetData, std::move(path), watch, WatchSlot::kData,
                               std::move(wait), client::decode_node);
}

Task<Result<std::optional<Stat>>> Client::exists(std::string path, Wait wait) const {
  return exists(std::move(path), Watch(), std::move(wait));
}
Task<Result<std::optional<Stat>>> Client::exists(std::string path, const Watch& watch, Wait wait) const {
  return Calls::read<std::optional<Stat>>(*this, OpCode::kExists, std::move(path), watch, WatchSlot::kData,
                                          std::move(wait), client::decode_exists);
}

Task<Result<Children>> Client::children(std::string path, Wait wait) const {
  return children(std::move(path), Watch(), std::move(wait));
}
Task<Result<Children>> Client::children(std::string path, const Watch& watch, Wait wait) const {
  return Calls::read<Children>(*this, OpCode::kGetChildren2, std::move(path), watch, WatchSlot::kChild,
                               std::move(wait), client::decode_children);
}

Task<Result<AclData>> Client::acl(std::string path, Wait wait) const {
  auto plan = Calls::plan<AclData>(*this, OpCode::kGetAcl, std::move(path), client::decode_acl);
  plan.repeatable = true;
  plan.body = client::path_body(plan.full_path);
  return client::perform<AclData>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<Stat>> Client::set_acl(std::string path, std::vector<Acl> acl, Version version, Wait wait) const {
  auto plan = Calls::plan<Stat>(*this, OpCode::kSetAcl, std::move(path), client::decode_stat);
  plan.body = client::set_acl_body(plan.full_path, acl, version);
  return client::perform<Stat>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<std::vector<OpResult>>> Client::multi(std::vector<Op> ops, Wait wait) const {
  auto plan = Calls::plan<std::vector<OpResult>>(*this, OpCode::kMulti, "/", client::decode_multi);
  plan.path.clear();
  plan.body = client::multi_body(Calls::prefix(*this), ops);
  std::vector<std::string> paths;
  for (Op& op : ops) paths.push_back(std::move(op.path));
  auto task = client::perform<std::vector<OpResult>>(Calls::core(*this), std::move(plan), std::move(wait));
  return with_path(std::move(task), std::move(paths));
}

Task<Result<std::vector<Result<ReadResult>>>> Client::multi_read(std::vector<ReadOp> ops, Wait wait) const {
  using Results = std::vector<Result<ReadResult>>;
  auto plan = Calls::plan<Results>(*this, OpCode::kMultiRead, "/", client::decode_multi_read);
  plan.repeatable = true;
  plan.path.clear();
  plan.body = client::multi_read_body(Calls::prefix(*this), ops);
  return client::perform<Results>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<void>> Client::sync(std::string path, Wait wait) const {
  auto plan = Calls::plan<void>(*this, OpCode::kSync, std::move(path), client::decode_nothing);
  plan.repeatable = true;
  plan.body = client::path_body(plan.full_path);
  return client::perform<void>(Calls::core(*this), std::move(plan), std::move(wait));
}

// The root of the whole tree, because the root of a chroot or namespace need not exist.
Task<Result<void>> Client::barrier_read_point(Wait wait) const {
  using Results = std::vector<OpResult>;
  auto plan = Calls::plan<Results>(*this, OpCode::kMulti, "/", client::decode_multi);
  plan.repeatable = true;
  plan.body = client::multi_body({}, {Op::check("/")});
  return without_value(client::perform<Results>(Calls::core(*this), std::move(plan), std::move(wait)));
}

Task<Result<void>> Client::add_watch(std::string path, WatchMode mode, const Watch& watch, Wait wait) const {
  auto plan = Calls::plan<void>(*this, OpCode::kAddWatch, std::move(path), client::decode_nothing);
  plan.repeatable = true;
  plan.body = client::path_type_body(plan.full_path, static_cast<std::int32_t>(mode));
  plan.watch = Calls::armed(*this, watch);
  plan.slot = mode == WatchMode::kPersistent ? WatchSlot::kPersistent : WatchSlot::kRecursive;
  return client::perform<void>(Calls::core(*this), std::move(plan), std::move(wait));
}

void Client::unwatch(const Watch& watch, std::string_view path, WatchScope scope) const {
  if (!watch) return;
  constexpr WatchSlot kSlots[] = {WatchSlot::kData, WatchSlot::kChild, WatchSlot::kPersistent,
                                  WatchSlot::kRecursive};
  const client::WatchPlace place{full_path(path), kSlots[static_cast<std::size_t>(scope)]};
  Calls::core(*this)->command([state = watch.state(), place](client::Engine& engine, Instant now) {
    engine.drop_watch_at(state, place, now);
  });
}

Task<Result<void>> Client::add_auth(AuthInfo auth, Wait wait) const {
  Plan<void> plan;
  plan.decode = client::decode_nothing;
  plan.kind = client::Call::Kind::kAuth;
  plan.full_path = std::move(auth.scheme);
  plan.body = std::move(auth.auth);
  return client::perform<void>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<std::vector<Identity>>> Client::who_am_i(Wait wait) const {
  auto plan = Calls::plan<std::vector<Identity>>(*this, OpCode::kWhoAmI, "/", client::decode_identities);
  plan.repeatable = true;
  plan.path.clear();
  return client::perform<std::vector<Identity>>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<std::vector<std::string>>> Client::ephemerals(std::string prefix, Wait wait) const {
  using Paths = std::vector<std::string>;
  auto plan = Calls::plan<Paths>(*this, OpCode::kGetEphemerals, std::move(prefix), client::decode_paths);
  plan.repeatable = true;
  plan.refused.reset();  // A prefix, not a path.
  plan.body = client::path_body(plan.full_path);
  return client::perform<Paths>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<std::int64_t>> Client::count_descendants(std::string path, Wait wait) const {
  using Count = std::int64_t;
  auto plan = Calls::plan<Count>(*this, OpCode::kGetAllChildrenNumber, std::move(path), client::decode_count);
  plan.repeatable = true;
  plan.body = client::path_body(plan.full_path);
  return client::perform<Count>(Calls::core(*this), std::move(plan), std::move(wait));
}

// The ensemble's configuration, outside any chroot.
Task<Result<NodeData>> Client::config(Wait wait) const {
  const std::string path(kConfigPath);
  auto plan = Calls::plan<NodeData>(*this, OpCode::kGetData, path, client::decode_node);
  plan.repeatable = true;
  plan.full_path = path;
  plan.body = client::path_watch_body(path, false);
  return client::perform<NodeData>(Calls::core(*this), std::move(plan), std::move(wait));
}

Task<Result<NodeData>> Client::reconfig(ConfigChange change, Wait wait) const {
  const std::string path(kConfigPath);
  auto plan = Calls::plan<NodeData>(*this, OpCode::kReconfig, path, client::decode_node);
  plan.full_path = path;
  plan.body = client::reconfig_body(change);
  return client::perform<NodeData>(Calls::core(*this), std::move(plan), std::move(wait));
}

// --- Watch ---

Watch::Watch(Callback callback) : state_(std::make_shared<client::WatchState>()) {
  state_->callback = std::move(callback);
}

Watch& Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    reset();
    state_ = std::move(other.state_);
  }
  return *this;
}

void Watch::reset() {
  const auto state = std::exchange(state_, nullptr);
  if (!state) return;
  const auto core = state->core.lock();
  if (!core) return;
  if (core->strand().is_current()) {
    state->ended = true;
  } else {
    core->strand().post([state] { state->ended = true; });
  }
  core->command([state](client::Engine& engine, Instant now) { engine.drop_watch(state, now); });
}

}  // namespace drover
