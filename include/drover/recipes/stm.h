// SPDX-License-Identifier: Apache-2.0
//
// Transactions over several nodes: if anything that was read has changed, it runs again.
//
//   Stm stm(client);
//   unwrap(sync_wait(stm.run([](Stm::Transaction& t) -> Task<Result<void>> {
//     auto reading = t.get("/accounts/a");
//     auto a = co_await std::move(reading);
//     if (!a) co_return std::unexpected(a.error());
//     t.set("/accounts/a", minus_ten(a->value_or("")));
//     t.set("/accounts/b", ...);
//     co_return Result<void>{};
//   })));
//
// The function may run several times, so it must only read and write here. If it returns an error,
// nothing is written. Commit is one transaction that checks every read and does every write. A node
// that was read as missing can only be checked by creating it: otherwise the result is
// kBadArguments. Setting or removing a missing node that was not read, or creating below a missing
// parent, is kNoNode. Do not use it for nodes that others delete and create again: their versions
// repeat.
//
// If the reply to the commit is lost, an unchanged node shows that it was not applied; otherwise the error is
// maybe_applied().
//
// Curator: CuratorMultiTransaction, without the reads. kazoo: transaction(), the same. etcd: STM.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

class Stm {
 public:
  class Transaction {
   public:
    // Empty: the node does not exist. Earlier writes of this transaction are visible.
    Task<Result<std::optional<std::string>>> get(std::string path);
    // Creates the node if this transaction has read it as missing or has removed it.
    void set(std::string path, std::string data);
    void remove(std::string path);

   private:
    friend class Stm;
    struct Read {
      std::optional<NodeData> node;
    };
    struct Write {
      std::optional<std::string> data;  // none: removed
    };
    Transaction(Client client, Wait wait) : client_(std::move(client)), wait_(std::move(wait)) {}
    static Task<Result<std::optional<std::string>>> read(Transaction& self, std::string path);
    Result<std::vector<Op>> ops() const;

    Client client_;
    Wait wait_;
    std::map<std::string, Read> reads_;
    std::map<std::string, Write> writes_;
  };

  explicit Stm(Client client) : client_(std::move(client)) {}

  using Body = std::function<Task<Result<void>>(Transaction&)>;
  Task<Result<void>> run(Body body, Wait wait = {}) const {
    return run_all(client_, std::move(body), std::move(wait));
  }

 private:
  static Task<Result<void>> run_all(Client client, Body body, Wait wait);
  static Task<Result<bool>> commit(Transaction& transaction);
  static Task<Result<bool>> find_out(Transaction& transaction, Error lost);

  Client client_;
};

}  // namespace drover::recipes
