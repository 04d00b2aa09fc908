// SPDX-License-Identifier: Apache-2.0
#include "cli/subtree/nodes.h"

#include <algorithm>

namespace drover::cli {
namespace {

// Servers accept a megabyte (jute.maxbuffer) by default; leave room for paths and headers.
constexpr std::size_t kTransactionBytesMax = 512 << 10;
constexpr std::size_t kTransactionOpsMax = 1000;
constexpr std::size_t kTransactionsUnderWay = 8;

std::size_t size_of(const Op& op) {
  return op.data.size() + op.path.size() + 64 * (1 + op.options.acl.size());
}

// The end of the transaction that begins here.
std::size_t end_of_transaction(const std::vector<Op>& ops, std::size_t begin) {
  std::size_t bytes = 0;
  std::size_t end = begin;
  while (end < ops.size() && end - begin < kTransactionOpsMax) {
    bytes += size_of(ops[end]);
    if (bytes > kTransactionBytesMax && end > begin) break;
    ++end;
  }
  return end;
}

}  // namespace

std::expected<std::vector<NodeCopy>, Failure> read_nodes(Context& context,
                                                         const std::vector<std::string>& paths,
                                                         const std::function<void(std::size_t)>& seen) {
  std::vector<NodeCopy> nodes;
  for (std::size_t at = 0; at < paths.size(); at += kWindow) {
    const std::size_t end = std::min(paths.size(), at + kWindow);
    std::vector<Task<Result<NodeData>>> reads;
    std::vector<Task<Result<AclData>>> acls;
    for (std::size_t i = at; i < end; ++i) {
      reads.push_back(context.client().get(paths[i], context.wait()));
      acls.push_back(context.client().acl(paths[i], context.wait()));
    }
    auto data = context.ask_all(std::move(reads));
    auto acl = context.ask_all(std::move(acls));
    for (std::size_t i = 0; i < data.size(); ++i) {
      const Error* error = !data[i] ? &data[i].error() : !acl[i] ? &acl[i].error() : nullptr;
      if (error != nullptr && *error == Errc::kNoNode) continue;
      if (error != nullptr) return fail_with(*error);
      nodes.push_back({paths[at + i], *std::move(data[i]), std::move(acl[i]->acl)});
    }
    if (seen) seen(end);
  }
  return nodes;
}

std::expected<std::vector<std::optional<Stat>>, Failure> find_nodes(Context& context,
                                                                    const std::vector<std::string>& paths) {
  std::vector<std::optional<Stat>> stats;
  for (std::size_t at = 0; at < paths.size(); at += kWindow) {
    std::vector<Task<Result<std::optional<Stat>>>> questions;
    for (std::size_t i = at; i < std::min(paths.size(), at + kWindow); ++i) {
      questions.push_back(context.client().exists(paths[i], context.wait()));
    }
    for (auto& answer : context.ask_all(std::move(questions))) {
      if (!answer) return fail_with(answer.error());
      stats.push_back(*std::move(answer));
    }
  }
  return stats;
}

Written write_ops(Context& context, std::vector<Op> ops, const std::function<void(std::size_t)>& seen) {
  Written written;
  for (std::size_t at = 0; at < ops.size() && !written.failure;) {
    std::vector<Task<Result<std::vector<OpResult>>>> transactions;
    std::vector<std::size_t> sizes;
    while (transactions.size() < kTransactionsUnderWay && at < ops.size()) {
      const std::size_t end = end_of_transaction(ops, at);
      std::vector<Op> part(std::make_move_iterator(ops.begin() + static_cast<std::ptrdiff_t>(at)),
                           std::make_move_iterator(ops.begin() + static_cast<std::ptrdiff_t>(end)));
      transactions.push_back(context.client().multi(std::move(part), context.wait()));
      sizes.push_back(end - at);
      at = end;
    }
    const auto results = context.ask_all(std::move(transactions));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i]) {
        written.done += sizes[i];
      } else if (!written.failure) {
        written.failure = fail_with(results[i].error()).error();
      }
    }
    if (seen) seen(written.done);
  }
  return written;
}

bool fits_one_transaction(const std::vector<Op>& ops) { return end_of_transaction(ops, 0) == ops.size(); }

Op copy_op(const NodeCopy& node, std::string path) {
  CreateOptions options;
  options.acl = node.acl;
  options.without_data = node.node.is_without_data;
  return Op::create(std::move(path), node.node.data, std::move(options));
}

}  // namespace drover::cli
