// SPDX-License-Identifier: Apache-2.0
#include "tools/verify_command.h"

#include "tools/json.h"
#include "tools/text.h"

namespace drover::tools {
namespace {

std::string_view word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kNote: return "note";
    case Verdict::kBad: return "BAD";
  }
  return "";
}

void print_file(const Context& context, std::string_view kind, const FileVerdict& file) {
  if (context.json) {
    std::string line;
    JsonObject json(line);
    json.text("kind", kind).text("file", file.name).count("bytes", file.bytes).text("content", file.content);
    json.text("verdict", word_of(file.verdict)).text("note", file.note).end_line();
    context.out.write(line);
    return;
  }
  context.out.print("{:<24} {:>10}  {:<5} {}{}{}\n", file.name, bytes_text(file.bytes), word_of(file.verdict),
                    file.content, file.content.empty() || file.note.empty() ? "" : "; ", file.note);
}

std::string_view outcome_text(const storage::RecoveryReport& report) {
  switch (report.outcome) {
    case storage::RecoveryOutcome::kRecovered: return "recovered";
    case storage::RecoveryOutcome::kEmpty: return "empty";
    case storage::RecoveryOutcome::kDamaged: return "damaged";
  }
  return "";
}

void print_result_json(const Context& context, const Survey& s) {
  JsonArray actions;
  for (const std::string& action : s.actions) actions.add_text(action);
  std::string line;
  JsonObject json(line);
  json.text("kind", "result").boolean("fine", s.is_fine()).text("outcome", outcome_text(s.recovery));
  json.zxid("last", s.recovery.last)
      .zxid("highest", s.highest)
      .count("nodes", s.nodes)
      .count("sessions", s.sessions);
  json.hex("digest", s.digest)
      .boolean("digestsCompared", s.digests_compared)
      .text("damage", s.recovery.damage);
  json.boolean("tornTail", s.recovery.torn_tail)
      .text("start", s.start)
      .json("actions", actions.take())
      .end_line();
  context.out.write(line);
}

void print_result(const Context& context, const Survey& s) {
  Output& out = context.out;
  out.write("\n");
  for (const Finding& finding : s.findings) out.print("{:<5} {}\n", word_of(finding.verdict), finding.text);
  if (s.recovery.outcome == storage::RecoveryOutcome::kRecovered) {
    out.print("{:<5} digest {} at zxid {}{}\n", "", hex_text(s.digest), zxid_text(s.recovery.last),
              s.digests_compared ? ", as the log predicted" : "; not compared with the digests in the files");
  }
  out.print("A server here: {}.\n", s.start);
  for (const std::string& action : s.actions) out.print("  It would {}.\n", action);
  out.write(s.is_fine() ? "Nothing is wrong.\n"
                        : "Something is wrong. `drover inspect repair --help` describes what can be done.\n");
}

}  // namespace

void print_survey(const Context& context, const Survey& survey) {
  if (!context.json) context.out.print("{:<24} {:>10}  {:<5}\n", "file", "size", "");
  for (const SnapshotVerdict& file : survey.snapshots) print_file(context, "snapshot", file);
  for (const LogVerdict& file : survey.logs) print_file(context, "log", file);
  for (const FileVerdict& file : survey.others) print_file(context, "other", file);
  if (!context.json) return print_result(context, survey);
  for (const Finding& finding : survey.findings) {
    std::string line;
    JsonObject json(line);
    json.text("kind", "finding")
        .text("verdict", word_of(finding.verdict))
        .text("text", finding.text)
        .end_line();
    context.out.write(line);
  }
  print_result_json(context, survey);
}

Outcome run_verify(const Context& context, const VerifyCommand& command) {
  TRY_ASSIGN(const storage::DataDirs dirs, find_directories(context.disk, command.directories));
  TRY_ASSIGN(const Survey found, survey(context, dirs));
  print_survey(context, found);
  return found.is_fine() ? kFine : kWrong;
}

}  // namespace drover::tools
