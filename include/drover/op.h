// SPDX-License-Identifier: Apache-2.0
//
// The elements of transactions (Client::multi) and of several reads in one request (multi_read).
//
//   std::vector<Op> ops;
//   ops.push_back(guard.check_op());                       // all of it, or nothing
//   ops.push_back(Op::set("/report/state", "done"));
//   auto done = co_await client.multi(std::move(ops));
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drover/error.h"
#include "drover/types.h"

namespace drover {

struct Op {
  enum class Kind : std::uint8_t { kCreate, kSet, kRemove, kCheck };

  static Op create(std::string path, std::string data = {}, CreateOptions options = {});
  static Op set(std::string path, std::string data, Version version = Version::kAny);
  static Op remove(std::string path, Version version = Version::kAny);
  // Fails the transaction if the node does not exist or has another version.
  static Op check(std::string path, Version version = Version::kAny);

  Kind kind{};
  std::string path;
  std::string data{};
  Version version = Version::kAny;
  CreateOptions options{};  // `parents` is ignored
};

struct OpResult {
  std::string path;            // create: with the sequence number
  std::optional<Stat> stat{};  // set; create, if the server returns it
};

struct ReadOp {
  enum class Kind : std::uint8_t { kGet, kChildren };
  static ReadOp get(std::string path) { return {Kind::kGet, std::move(path)}; }
  static ReadOp children(std::string path) { return {Kind::kChildren, std::move(path)}; }

  Kind kind{};
  std::string path;
};

struct ReadResult {
  NodeData node;                   // result of get
  std::vector<std::string> names;  // result of children
};

}  // namespace drover
