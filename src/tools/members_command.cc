// SPDX-License-Identifier: Apache-2.0
#include "tools/members_command.h"

#include <algorithm>

#include "tools/json.h"
#include "tools/text.h"
#include "zab/membership_text.h"

namespace drover::tools {
namespace {

using Place = FoundMembership::Place;

std::string_view place_word(Place place) {
  switch (place) {
    case Place::kZooCfg: return "zoo.cfg";
    case Place::kDynamicFile: return "dynamic file";
    case Place::kNext: return "proposed";
    case Place::kTree: return "data";
  }
  return "";
}

std::string_view verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kNote: return "note";
    case Verdict::kBad: return "BAD";
  }
  return "";
}

void print_server(const Context& context, const MembershipSurvey& s) {
  context.out.print("server {}, data in {}\n", s.me ? std::to_string(raw(*s.me)) : "without a myid",
                    s.dirs.snapshots);
  if (s.state && s.epochs) {
    context.out.print("last zxid {}, current epoch {}, accepted epoch {}, history {}\n",
                      zxid_text(std::max(s.state->last, Zxid{0})), s.epochs->current, s.epochs->accepted,
                      s.epochs->history_id == 0 ? "unknown" : hex_text(s.epochs->history_id));
  }
  context.out.write("\n");
}

void print_membership(const Context& context, const MembershipSurvey& s, const FoundMembership& found) {
  context.out.print("{}: version {}, in {}\n", place_word(found.place),
                    hex_text(static_cast<std::uint64_t>(found.members.version())), found.where);
  for (const FoundMembership& earlier : s.found) {
    if (&earlier == &found) break;
    if (zab::to_text(earlier.members) != zab::to_text(found.members)) continue;
    context.out.print("    the same as in the {}\n", place_word(earlier.place));
    return;
  }
  for (const std::string& line : member_lines(found.members)) context.out.print("    {}\n", printable(line));
}

void print_text(const Context& context, const MembershipSurvey& s) {
  print_server(context, s);
  for (const FoundMembership& found : s.found) print_membership(context, s, found);
  if (!s.found.empty()) context.out.write("\n");
  for (const Finding& each : s.findings)
    context.out.print("{:<5} {}\n", verdict_word(each.verdict), printable(each.text));
  if (!s.start.empty()) context.out.print("A server here: {}.\n", s.start);
}

void print_json(const Context& context, const MembershipSurvey& s) {
  std::string out;
  JsonObject server(out);
  server.text("kind", "server").text("data", s.dirs.snapshots).text("config", s.static_file);
  if (s.me) server.number("id", raw(*s.me));
  server.boolean("reconfigEnabled", s.reconfig_enabled);
  if (s.state && s.epochs) {
    server.zxid("last", std::max(s.state->last, Zxid{0})).count("currentEpoch", s.epochs->current);
    server.count("acceptedEpoch", s.epochs->accepted).hex("history", s.epochs->history_id);
  }
  server.end_line();
  for (const FoundMembership& found : s.found) {
    JsonArray lines;
    for (const std::string& line : member_lines(found.members)) lines.add_text(line);
    JsonObject json(out);
    json.text("kind", "membership").text("place", place_word(found.place)).text("where", found.where);
    json.hex("version", static_cast<std::uint64_t>(found.members.version()));
    json.json("members", lines.take()).end_line();
  }
  for (const Finding& each : s.findings) {
    JsonObject json(out);
    json.text("kind", "finding").text("verdict", verdict_word(each.verdict)).text("text", each.text);
    json.end_line();
  }
  JsonObject result(out);
  result.text("kind", "result").boolean("fine", s.is_fine()).text("start", s.start);
  if (s.at_start) {
    result.hex("version", static_cast<std::uint64_t>(s.at_start->version()));
    if (s.at_start->proposed())
      result.hex("proposedVersion", static_cast<std::uint64_t>(s.at_start->proposed()->version()));
  }
  result.end_line();
  context.out.write(out);
}

}  // namespace

Outcome run_members(const Context& context, const MembersCommand& command, const ForceWorld& world) {
  if (!command.forced.servers().empty())
    return force_membership(context, command.source, command.forced, command.force, world);
  TRY_ASSIGN(const MembershipSurvey found, survey_memberships(context, command.source));
  context.json ? print_json(context, found) : print_text(context, found);
  return found.is_fine() ? kFine : kWrong;
}

}  // namespace drover::tools
