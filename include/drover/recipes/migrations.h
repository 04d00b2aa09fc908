// SPDX-License-Identifier: Apache-2.0
//
// Changes of the tree that come with new versions of a program, applied once and in order.
//
//   Migrations migrations(client, "/app/migrations");
//   unwrap(sync_wait(migrations.apply("schema", {
//       {.name = "roots", .ops = {Op::create("/app/jobs"), Op::create("/app/done")}},
//       {.name = "limit", .ops = {Op::create("/app/limit", "10")}},
//   }, wait)));
//
// Each migration is one transaction together with its record, under a lock, so it is applied exactly once.
// The record holds a hash of the operations: an applied migration must not be changed. A list that does not
// begin with the recorded migrations is kLayoutMismatch, and nothing is applied. It does not matter which
// process starts first.
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

  // Returns how many were applied now.
  Task<Result<int>> apply(std::string set, std::vector<Migration> migrations, Wait wait = {}) const;
  // The names of recorded migrations, in order.
  Task<Result<std::vector<std::string>>> applied(std::string set, Wait wait = {}) const;

 private:
  Client client_;
  std::string path_;
};

}  // namespace drover::recipes
