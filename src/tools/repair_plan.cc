// SPDX-License-Identifier: Apache-2.0
#include "tools/repair_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/text.h"

namespace drover::tools {
namespace {

constexpr const char* kRestore =
    "Restore the files from a backup, or, in an ensemble, move them away and let the leader send its state";

std::string why_impossible(const Survey& survey) {
  if (survey.replacing != storage::Replacing::kNo) {
    return "a replacement of this history was interrupted: start the server, which completes it";
  }
  for (const SnapshotVerdict& snapshot : survey.snapshots) {
    if (snapshot.read_error != 0)
      return snapshot.note + ": the device fails. Copy what can be read to another one first";
  }
  for (const LogVerdict& log : survey.logs) {
    if (log.end.read_error != 0)
      return log.name + " " + log.note + ": the device fails. Copy what can be read to another one first";
  }
  const bool any =
      std::ranges::any_of(survey.snapshots, [](const auto& s) { return s.verdict != Verdict::kBad; });
  if (survey.recovery.damaged() && !any) {
    return fmt::format("{}. {}", survey.recovery.damage, kRestore);
  }
  return {};
}

void plan_tail(const Survey& survey, RepairPlan& plan) {
  if (survey.logs.empty() || plan.truncate_to) return;
  const LogVerdict& last = survey.logs.back();
  if (last.end.clean() || !survey.recovery.torn_tail) {
    if (last.end.no_header && !survey.recovery.damaged()) plan.leftover = last.name;
    return;
  }
  plan.tail = TailCut{last.name, last.end.offset};
}

void plan_advice(const Survey& survey, RepairPlan& plan) {
  for (const LogVerdict& log : survey.logs) {
    const bool cut =
        plan.truncate_to && (!log.last || log.first > *plan.truncate_to || *log.last >= *plan.truncate_to);
    if (log.verdict == Verdict::kBad && !cut) {
      plan.advice.push_back(log.name +
                            " is damaged, but no server needs it: a snapshot covers it. It will be purged");
    }
  }
  for (const FileVerdict& file : survey.others) {
    if (file.verdict == Verdict::kBad) {
      plan.advice.push_back(file.note +
                            ": it holds a promise to other servers and cannot be reconstructed. " + kRestore);
    }
  }
  for (const Finding& finding : survey.findings) {
    if (finding.verdict == Verdict::kBad && finding.text.find("digest") != std::string::npos) {
      plan.advice.push_back(finding.text + ". A repair cannot decide which of them is right. " + kRestore);
    }
  }
}

}  // namespace

RepairPlan plan_repair(const Survey& survey) {
  RepairPlan plan;
  plan.impossible = why_impossible(survey);
  if (!plan.impossible.empty()) return plan;
  for (const SnapshotVerdict& snapshot : survey.snapshots) {
    if (snapshot.verdict == Verdict::kBad) plan.snapshots.push_back(snapshot.name);
  }
  const storage::RecoveryReport& recovery = survey.recovery;
  if (recovery.damaged()) {
    plan.truncate_to = recovery.last;
    if (survey.highest > recovery.last) plan.loss = Loss{recovery.last, survey.highest};
  }
  plan_tail(survey, plan);
  plan_advice(survey, plan);
  return plan;
}

std::vector<std::string> RepairPlan::describe() const {
  std::vector<std::string> steps;
  for (const std::string& name : snapshots) steps.push_back("set " + name + " aside: it does not verify");
  if (truncate_to) steps.push_back("truncate the history after zxid " + zxid_text(*truncate_to));
  if (tail)
    steps.push_back(fmt::format("truncate the torn tail of {} at byte {}: it was never acknowledged",
                                tail->file, tail->offset));
  if (leftover) steps.push_back("delete " + *leftover + ", which is empty");
  return steps;
}

}  // namespace drover::tools
