// SPDX-License-Identifier: Apache-2.0
//
// Typed nodes: a path and a codec. And a schema: rules about what may be where.
//
//   Model<Job> jobs(client, "/jobs", job_codec);
//   unwrap(sync_wait(jobs.at("17").set(job)));                       // creates the node if needed
//   auto job = unwrap(sync_wait(jobs.at("17").get()));               // none: there is no node
//   if (job) unwrap(sync_wait(jobs.at("17").set(next, job->version)));   // kBadVersion: it was changed
//
//   Schema schema({{.path = "/jobs/*", .kind = SchemaKind::kPersistent, .validate = is_a_job}});
//   unwrap(schema.check(Op::create("/jobs/17", bytes)));             // before it is sent
//
// A set with a lost reply is resolved, as in ConfigNode. A schema refuses operations locally with
// kBadArguments; it does not bind other programs.
//
// Curator: ModeledFramework, SchemaSet (x-async). kazoo: nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/codec.h"
#include "drover/recipes/settled.h"

namespace drover::recipes {

template <class T>
struct Modeled {
  T value;
  Version version{};
  Zxid mzxid{};
};

template <class T>
class Model {
 public:
  Model(Client client, std::string path, Codec<T> codec)
      : client_(std::move(client)),
        path_(std::move(path)),
        codec_(std::make_shared<const Codec<T>>(std::move(codec))) {}

  const std::string& path() const { return path_; }
  // The model of a child.
  Model at(std::string_view name) const {
    Model child = *this;
    child.path_ = (path_ == "/" ? "" : path_) + "/" + std::string(name);
    return child;
  }

  Task<Result<std::optional<Modeled<T>>>> get(Wait wait = {}) const {
    return get_with(codec_, path_, client_.get(path_, std::move(wait)));
  }
  Task<Result<Stat>> set(const T& value, Version expected = Version::kAny, Wait wait = {}) const {
    return write_settled(client_, path_, codec_->encode(value), expected, std::move(wait));
  }
  // kNodeExists: there is one.
  Task<Result<Created>> create(const T& value, CreateOptions options = {}, Wait wait = {}) const {
    return client_.create(path_, codec_->encode(value), std::move(options), std::move(wait));
  }
  Task<Result<void>> remove(Version expected = Version::kAny, Wait wait = {}) const {
    return client_.remove(path_, expected, std::move(wait));
  }
  Task<Result<Children>> children(Wait wait = {}) const { return client_.children(path_, std::move(wait)); }

 private:
  static Task<Result<std::optional<Modeled<T>>>> get_with(std::shared_ptr<const Codec<T>> codec,
                                                          std::string path, Task<Result<NodeData>> reading) {
    const Result<NodeData> node = co_await std::move(reading);
    std::optional<Modeled<T>> none;
    if (!node && node.error() == Errc::kNoNode) co_return none;
    if (!node) co_return std::unexpected(node.error());
    Result<T> value = codec->decode(node->data);
    if (!value) co_return fail(Errc::kBadData, path, value.error().detail);
    co_return Modeled<T>{*std::move(value), node->stat.version, node->stat.mzxid};
  }

  Client client_;
  std::string path_;
  std::shared_ptr<const Codec<T>> codec_;
};

enum class SchemaKind : std::uint8_t { kAny, kPersistent, kEphemeral };

struct SchemaRule {
  std::string path;  // "*" stands for any one name, "**" at the end for all below
  SchemaKind kind = SchemaKind::kAny;
  std::optional<bool> sequential = {};  // must be, must not be; none: either
  bool can_be_removed = true;
  std::function<bool(std::string_view data)> validate = {};
};

// The first rule that matches a path applies.
class Schema {
 public:
  enum class Others : std::uint8_t { kAllowed, kRefused };  // paths that no rule matches
  explicit Schema(std::vector<SchemaRule> rules, Others others = Others::kAllowed);

  Result<void> check(const Op& op) const;
  Result<void> check(const std::vector<Op>& ops) const;

 private:
  const SchemaRule* rule_for(std::string_view path) const;

  std::vector<SchemaRule> rules_;
  Others others_;
};

}  // namespace drover::recipes
