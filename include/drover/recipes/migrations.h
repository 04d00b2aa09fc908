// SPDX-License-Identifier: Apache-2.0
//
// Changes of the tree that come with new versions of a program, made once and in order, whoever starts first.
//
//   Migrations migrations(client, "/app/migrations");
//   unwrap(sync_wait(migrations.apply("schema", {
//       {.name = "roots", .ops = {Op::create("/app/jobs"), Op::create("/app/done")}},
//       {.name = "limit", .ops = {Op::create("/app/limit", "10")}},
//   }, wait)));
//
// Each migration is one transaction together with the record that it was made, under a lock, so that it is
// made exactly once, whatever is lost. The record holds a hash of the operations: what was made is never
// changed afterwards. A list that does not begin with what is recorded is kLayoutMismatch, and nothing is
// done.
//
// Layout: <path>/<set>/<number>, its data a line of the hash and the name; the lock is <path>/<set>/lock.
//
// Curator: MigrationManager (x-async; its hashes are of Java's making, so that sets are not shared with it).
// kazoo: nothing.
#pragma once

#include <string>
#include <vector>

#include "drover/client.h"

namespace drover::recipes {

struct Migration {
  std::string name;
  std::vector<Op> ops;
};

class Migrations {
 public:
  Migrations(Client client, std::string path) : client_(std::move(client)), path_(std::move(path)) {}

  // How many of them were made now.
  Task<Result<int>> apply(std::string set, std::vector<Migration> migrations, Wait wait = {}) const;
  // The names of those that are recorded, in order.
  Task<Result<std::vector<std::string>>> applied(std::string set, Wait wait = {}) const;

 private:
  Client client_;
  std::string path_;
};

}  // namespace drover::recipes
