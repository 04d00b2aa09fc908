// SPDX-License-Identifier: Apache-2.0
#include "tools/repair_command.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "storage/truncate.h"
#include "tools/copy_directory.h"
#include "tools/json.h"
#include "tools/repair_plan.h"
#include "tools/text.h"
#include "tools/verify_command.h"

namespace drover::tools {
namespace {

// Space for the directory itself and for what the repair writes.
constexpr std::uint64_t kSpareBytes = std::uint64_t{16} << 20;

class Repair {
 public:
  Repair(const Context& context, const RepairCommand& command, const RepairWorld& world)
      : context_(context), command_(command), world_(world) {}

  Outcome run();

 private:
  void tell(const RepairPlan& plan);
  IoResult<void> check_space(const std::string& backup);
  IoResult<std::string> make_backup();
  IoResult<void> carry_out(const RepairPlan& plan);
  IoResult<void> set_aside(const std::vector<std::string>& names);
  Outcome judge_result();
  void say(std::string_view event, const std::string& text);

  const Context& context_;
  const RepairCommand& command_;
  const RepairWorld& world_;
  storage::DataDirs dirs_;
};

Outcome Repair::run() {
  TRY_ASSIGN(dirs_, find_directories(context_.disk, command_.directories));
  TRY_ASSIGN(const auto locks, storage::lock_data_dirs(context_.disk, dirs_));
  for (const std::string& directory : {dirs_.snapshots, dirs_.logs}) {
    const std::string user = world_.user_of(directory);
    if (!user.empty())
      return std::unexpected(data_error(directory + " is in use: " + user + ". Stop it first"));
  }
  TRY_ASSIGN(const Survey before, survey(context_, dirs_));
  const RepairPlan plan = plan_repair(before);
  tell(plan);
  if (!plan.impossible.empty()) return kWrong;
  if (plan.is_empty()) return before.is_fine() ? kFine : kWrong;
  if (plan.loss && !command_.accept_loss) {
    say("refused",
        "This loses transactions that may have been acknowledged. If there is another server or a backup, "
        "use that; otherwise repeat with --accept-loss. Nothing was changed");
    return kWrong;
  }
  if (!command_.yes && !world_.confirm()) {
    say("refused", "Nothing was changed");
    return kWrong;
  }
  TRY_ASSIGN(const std::string backup, make_backup());
  say("copied", "A copy of the files as they were is in " + backup);
  TRY(carry_out(plan));
  return judge_result();
}

void Repair::say(std::string_view event, const std::string& text) {
  if (context_.json) {
    std::string line;
    JsonObject json(line);
    json.text("kind", event).text("text", text).end_line();
    context_.out.write(line);
  } else {
    context_.out.print("{}.\n", text);
  }
}

void Repair::tell(const RepairPlan& plan) {
  if (!plan.impossible.empty()) return say("impossible", "Cannot be repaired: " + plan.impossible);
  if (plan.is_empty()) say("nothing", "There is nothing to repair");
  for (const std::string& step : plan.describe()) say("step", "To do: " + step);
  if (plan.loss) {
    say("loss", fmt::format("LOST: zxids after {} up to {}", zxid_text(plan.loss->after),
                            zxid_text(plan.loss->up_to)));
  }
  for (const std::string& advice : plan.advice) say("advice", "Not repaired: " + advice);
  context_.out.flush();
}

IoResult<void> Repair::check_space(const std::string& backup) {
  TRY_ASSIGN(std::uint64_t bytes, directory_bytes(context_.disk, dirs_.snapshots));
  if (dirs_.logs != dirs_.snapshots) {
    TRY_ASSIGN(const std::uint64_t more, directory_bytes(context_.disk, dirs_.logs));
    bytes += more;
  }
  TRY_ASSIGN(const std::uint64_t room, context_.disk.free_bytes(split_path(backup).directory));
  if (room >= bytes + kSpareBytes) return {};
  return std::unexpected(io_error(
      ENOSPC,
      fmt::format(
          "the copy needs {} and {} has {}; choose another place with --backup DIR. Nothing was changed",
          bytes_text(bytes + kSpareBytes), split_path(backup).directory, bytes_text(room))));
}

IoResult<std::string> Repair::make_backup() {
  std::string directory = command_.directories.directory;
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  const std::string backup =
      command_.backup.empty() ? directory + ".before-repair-" + moment_text(world_.now_ms) : command_.backup;
  TRY(check_space(backup));
  TRY(copy_directory(context_, dirs_.snapshots, storage::join_path(backup, "version-2")));
  if (dirs_.logs != dirs_.snapshots) {
    TRY(copy_directory(context_, dirs_.logs, storage::join_path(backup, "log/version-2")));
  }
  return backup;
}

// Damaged snapshots are moved first: after a crash, the directory still shows what is wrong.
IoResult<void> Repair::carry_out(const RepairPlan& plan) {
  TRY(set_aside(plan.snapshots));
  if (plan.truncate_to) TRY(storage::truncate_history(context_.disk, dirs_, *plan.truncate_to));
  if (plan.tail) {
    TRY_ASSIGN(const auto file, context_.disk.open(storage::join_path(dirs_.logs, plan.tail->file),
                                                   storage::OpenMode::kWrite));
    TRY(file->truncate(plan.tail->offset));
    TRY(file->sync());
  }
  if (plan.leftover) {
    TRY(context_.disk.unlink(storage::join_path(dirs_.logs, *plan.leftover)));
    TRY(context_.disk.sync_directory(dirs_.logs));
  }
  return {};
}

IoResult<void> Repair::set_aside(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const std::string directory = storage::join_path(dirs_.snapshots, "damaged." + moment_text(world_.now_ms));
  TRY(context_.disk.make_directories(directory));
  for (const std::string& name : names) {
    TRY(context_.disk.rename(storage::join_path(dirs_.snapshots, name), storage::join_path(directory, name)));
  }
  TRY(context_.disk.sync_directory(directory));
  return context_.disk.sync_directory(dirs_.snapshots);
}

Outcome Repair::judge_result() {
  TRY_ASSIGN(const Survey after, survey(context_, dirs_));
  say("result", "A server here now: " + after.start);
  return after.recovery.damaged() ? kWrong : kFine;
}

}  // namespace

Outcome run_repair(const Context& context, const RepairCommand& command, const RepairWorld& world) {
  return Repair(context, command, world).run();
}

}  // namespace drover::tools
