// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/migrations.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/child_path.h"
#include "drover/recipes/mutex.h"
#include "recipes/common/settle.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kLock = "lock";

void add(std::string& out, std::string_view part) {
  out += std::to_string(part.size()) + ":";
  out += part;
}

// Hashes the operations. Lengths come first, so that different lists give different text.
std::string hash_of(const Migration& migration) {
  std::string text;
  for (const Op& op : migration.ops) {
    add(text, std::to_string(std::to_underlying(op.kind)));
    add(text, op.path);
    add(text, op.data);
    add(text, std::to_string(std::to_underlying(op.version)));
    add(text, std::to_string(std::to_underlying(op.options.mode)));
    add(text, std::to_string(op.options.ttl.count()));
    for (const Acl& acl : op.options.acl) {
      add(text, std::to_string(std::to_underlying(acl.permissions)) + acl.scheme + ":" + acl.id);
    }
  }
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  std::string hex;
  for (const unsigned char byte : digest) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string record_of(const Migration& migration) { return hash_of(migration) + " " + migration.name; }

std::string number_name(std::size_t number) {
  char name[16];
  std::snprintf(name, sizeof name, "%010zu", number);
  return name;
}

// The recorded migrations, in order.
Task<Result<std::vector<std::string>>> read_records(Client client, std::string path, Wait wait) {
  auto listing = client.children(path, wait);
  Result<Children> children = co_await std::move(listing);
  if (!children && children.error() == Errc::kNoNode) co_return std::vector<std::string>{};
  if (!children) co_return std::unexpected(children.error());
  std::erase(children->names, kLock);
  std::ranges::sort(children->names);
  std::vector<std::string> records;
  for (const std::string& name : children->names) {
    auto reading = client.get(child_path(path, name), wait);
    Result<NodeData> node = co_await std::move(reading);
    if (!node) co_return std::unexpected(node.error());
    records.push_back(std::move(node->data));
  }
  co_return records;
}

// One transaction; after a lost reply the record decides.
Task<Result<void>> make(Client client, Op check, Migration migration, std::string record_path, Wait wait) {
  const std::string record = record_of(migration);
  for (;;) {
    std::vector<Op> ops;
    ops.push_back(check);
    ops.push_back(Op::create(record_path, record));
    ops.insert(ops.end(), migration.ops.begin(), migration.ops.end());
    auto making = client.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> made = co_await std::move(making);
    if (made) co_return Result<void>{};
    Error error = made.error();
    if (error.error_class() != ErrorClass::kRecoverable) {
      if (error.op_index == 0) error.code = Errc::kLockLost;
      co_return std::unexpected(error);
    }
    auto reading = read_now(client, record_path, wait);
    const Result<std::optional<NodeData>> now = co_await std::move(reading);
    if (!now) co_return std::unexpected(error);
    if (*now && (*now)->data == record) co_return Result<void>{};
  }
}

Task<Result<int>> make_missing(Client client, std::string path, Op check, std::vector<Migration> migrations,
                               Wait wait) {
  auto syncing = client.sync(path, wait);  // What the holder of the lock before us did is to be seen.
  const Result<void> synced = co_await std::move(syncing);
  if (!synced) co_return std::unexpected(synced.error());
  auto reading = read_records(client, path, wait);
  const Result<std::vector<std::string>> records = co_await std::move(reading);
  if (!records) co_return std::unexpected(records.error());
  for (std::size_t i = 0; i < records->size(); ++i) {
    if (i < migrations.size() && (*records)[i] == record_of(migrations[i])) continue;
    co_return fail(Errc::kLayoutMismatch, child_path(path, number_name(i)),
                   "it was applied with other operations");
  }
  int count = 0;
  for (std::size_t i = records->size(); i < migrations.size(); ++i, ++count) {
    auto making = make(client, check, migrations[i], child_path(path, number_name(i)), wait);
    const Result<void> made = co_await std::move(making);
    if (!made) co_return std::unexpected(made.error());
  }
  co_return count;
}

Task<Result<int>> apply_locked(Client client, std::string path, std::vector<Migration> migrations,
                               Wait wait) {
  const Mutex mutex(client, child_path(path, kLock));
  auto acquiring = mutex.acquire(wait);
  Result<Guard> guard = co_await std::move(acquiring);
  if (!guard) co_return std::unexpected(guard.error());
  auto making = make_missing(client, path, guard->check_op(), std::move(migrations), wait);
  Result<int> made = co_await std::move(making);
  auto releasing = guard->release(wait);
  co_await std::move(releasing);
  co_return made;
}

Task<Result<std::vector<std::string>>> names_of(Task<Result<std::vector<std::string>>> reading) {
  Result<std::vector<std::string>> records = co_await std::move(reading);
  if (!records) co_return records;
  for (std::string& record : *records) record.erase(0, record.find(' ') + 1);
  co_return records;
}

}  // namespace

Task<Result<int>> Migrations::apply(std::string set, std::vector<Migration> migrations, Wait wait) const {
  return apply_locked(client_, child_path(path_, set), std::move(migrations), std::move(wait));
}
Task<Result<std::vector<std::string>>> Migrations::applied(std::string set, Wait wait) const {
  return names_of(read_records(client_, child_path(path_, set), std::move(wait)));
}

}  // namespace drover::recipes
