// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/model.h"

#include "recipes/common/steps.h"

namespace drover::recipes {
namespace {

// Removes the first name of a path: "/a/b" gives "a" and leaves "/b".
std::string_view take_name(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view name = path.substr(0, path.find('/'));
  path.remove_prefix(name.size());
  return name;
}

bool matches(std::string_view pattern, std::string_view path) {
  while (pattern.starts_with('/') && path.starts_with('/')) {
    const std::string_view wanted = take_name(pattern);
    const std::string_view name = take_name(path);
    if (wanted == "**" && pattern.empty()) return !name.empty();
    if (wanted != "*" && wanted != name) return false;
    if (wanted == "*" && name.empty()) return false;
  }
  return pattern.empty() && path.empty();
}

Result<void> refuse(const Op& op, std::string why) {
  return fail(Errc::kBadArguments, op.path, std::move(why));
}

Result<void> check_create(const SchemaRule& rule, const Op& op) {
  const bool ephemeral = is_ephemeral(op.options.mode);
  if (rule.kind == SchemaKind::kPersistent && ephemeral) return refuse(op, "must not be ephemeral");
  if (rule.kind == SchemaKind::kEphemeral && !ephemeral) return refuse(op, "must be ephemeral");
  if (rule.sequential && *rule.sequential != is_sequential(op.options.mode)) {
    return refuse(op, *rule.sequential ? "must be sequential" : "must not be sequential");
  }
  return {};
}

}  // namespace

Schema::Schema(std::vector<SchemaRule> rules, Others others) : rules_(std::move(rules)), others_(others) {}

const SchemaRule* Schema::rule_for(std::string_view path) const {
  for (const SchemaRule& rule : rules_) {
    if (matches(rule.path, path)) return &rule;
  }
  return nullptr;
}

Result<void> Schema::check(const Op& op) const {
  if (op.kind == Op::Kind::kCheck) return {};
  const SchemaRule* rule = rule_for(op.path);
  if (rule == nullptr) return others_ == Others::kAllowed ? Result<void>{} : refuse(op, "in no schema");
  if (op.kind == Op::Kind::kRemove) {
    return rule->can_be_removed ? Result<void>{} : refuse(op, "must not be removed");
  }
  if (rule->validate && !rule->validate(op.data)) return refuse(op, "the data is not allowed here");
  return op.kind == Op::Kind::kCreate ? check_create(*rule, op) : Result<void>{};
}

Result<void> Schema::check(const std::vector<Op>& ops) const {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    Result<void> checked = check(ops[i]);
    if (checked) continue;
    checked.error().op_index = static_cast<int>(i);
    return checked;
  }
  return {};
}

}  // namespace drover::recipes
