// SPDX-License-Identifier: Apache-2.0
#include "tools/force_membership.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/properties.h"
#include "config/config.h"
#include "host/membership_files.h"
#include "host/start.h"
#include "storage/memory_disk.h"
#include "tools/json.h"
#include "tools/text.h"
#include "zab/history.h"
#include "zab/membership_text.h"

namespace drover::tools {
namespace {

constexpr std::size_t kSmallFileBytesMax = kPropertiesBytesMax;

using Place = FoundMembership::Place;

std::unexpected<IoError> refused(std::string why) {
  return std::unexpected(data_error(std::move(why) + ". Nothing was changed"));
}

zab::ServerSet ids_of(const zab::Membership& members) {
  zab::ServerSet ids;
  for (const auto& [id, server] : members.servers()) ids.insert(id);
  return ids;
}

class Forcing {
 public:
  Forcing(const Context& context, const MembershipSource& source, zab::Membership members,
          const ForceOptions& options, const ForceWorld& world)
      : context_(context), source_(source), options_(options), world_(world), members_(std::move(members)) {}

  Outcome run();

 private:
  IoResult<void> refuse_unsuitable();
  IoResult<void> refuse_members();
  IoResult<void> refuse_owner();
  IoResult<void> choose_version();
  IoResult<void> rehearse();
  IoResult<void> check_rehearsed(storage::Disk& rehearsal);
  zab::ServerSet left_out() const;
  void tell();
  IoResult<std::vector<std::string>> files_to_keep();
  IoResult<std::string> make_backup();
  IoResult<void> carry_out();
  void say(std::string_view event, const std::string& text);

  host::MembershipFilesOptions file_options() const {
    return {.static_file = survey_.static_file, .me = *survey_.me, .multi_address = true};
  }

  const Context& context_;
  const MembershipSource& source_;
  const ForceOptions& options_;
  const ForceWorld& world_;
  zab::Membership members_;
  MembershipSurvey survey_;
  std::uint32_t epoch_ = 0;  // that of the new version
};

Outcome Forcing::run() {
  TRY_ASSIGN(const storage::DataDirs dirs, find_data_directories(context_, source_));
  for (const std::string& directory : {dirs.snapshots, dirs.logs}) {
    TRY_ASSIGN(const bool there, context_.disk.exists(directory));
    if (!there) return refused(directory + " does not exist: choose a server that has data");
  }
  TRY_ASSIGN(const auto locks, storage::lock_data_dirs(context_.disk, dirs));
  for (const std::string& directory : {dirs.snapshots, dirs.logs}) {
    const std::string user = world_.user_of(directory);
    if (!user.empty()) return refused(directory + " is in use: " + user + ". Stop it first");
  }
  TRY_ASSIGN(survey_, survey_memberships(context_, source_));
  TRY(refuse_unsuitable());
  TRY(refuse_members());
  TRY(refuse_owner());
  TRY(choose_version());
  TRY(rehearse());
  tell();
  if (!options_.yes && !world_.confirm()) {
    say("refused", "Nothing was changed");
    return kWrong;
  }
  TRY_ASSIGN(const std::string backup, make_backup());
  say("copied", "A copy of the files as they were is in " + backup);
  TRY(carry_out());
  say("done", "Done. Start server " + std::to_string(raw(*survey_.me)) +
                  ", check its data, and add new servers with `drover reconfig add`");
  return kFine;
}

IoResult<void> Forcing::refuse_unsuitable() {
  const std::string& file = survey_.static_file;
  if (file.empty()) return refused("give the zoo.cfg of the server, not its data directory");
  if (!survey_.reconfig_enabled)
    return refused(file +
                   " does not set reconfigEnabled=true, so its server lines are the members: edit them by "
                   "hand, or set it and repeat (docs/operating.md, \"A quorum is lost for good\")");
  if (survey_.standalone_enabled)
    return refused(file +
                   " does not set standaloneEnabled=false: with one voter the server would run standalone, "
                   "and nobody could join. Set it and repeat");
  if (!survey_.me) return refused("there is no myid in the data directory of " + file);
  const FoundMembership* committed = survey_.find(Place::kDynamicFile);
  if (!committed) committed = survey_.find(Place::kZooCfg);
  if (!committed)
    return refused("the members in " + file +
                   " cannot be read. If the dynamic file is lost, write server lines into it instead of "
                   "dynamicConfigFile");
  if (!survey_.state || !survey_.epochs)
    return refused(
        "the data cannot be read, and this server could not lead with it. `drover inspect verify " +
        source_.path + "` shows why");
  if (raw(survey_.state->last) <= 0)
    return refused(survey_.dirs.snapshots + " holds no transaction. Choose a server that has data");
  return {};
}

IoResult<void> Forcing::refuse_members() {
  const std::string me = std::to_string(raw(*survey_.me));
  if (!members_.is_voter(*survey_.me))
    return refused("server " + me + ", whose disk this is, is not a voter of the new members");
  if (!members_.is_quorum({*survey_.me}))
    return refused(
        "server " + me +
        " must be the only voter: no server can prove that another survivor has its history. Force "
        "one server, the one with the latest data, and add the others with `drover reconfig add`");
  return {};
}

// New files would belong to the wrong user, and the server could not read them.
IoResult<void> Forcing::refuse_owner() {
  for (const std::string& path : {survey_.static_file, survey_.dirs.snapshots}) {
    const std::string owner = world_.other_owner_of(path);
    if (!owner.empty())
      return refused(path + " belongs to user " + owner + ": run this command as that user");
  }
  return {};
}

IoResult<void> Forcing::choose_version() {
  if (survey_.latest_epoch >= zab::kEpochMax - 2 * kForcedEpochsSkipped)
    return refused("the epochs are exhausted");
  epoch_ = survey_.latest_epoch + kForcedEpochsSkipped;
  members_.set_version(raw(epoch_start(epoch_)));
  return {};
}

// Makes the change in memory, and reads the result as a server does. So a membership that the server would
// not accept is refused while everything is still as it was.
IoResult<void> Forcing::rehearse() {
  storage::MemoryDisk rehearsal(/*seed=*/1);
  TRY_ASSIGN(const auto names, files_to_keep());
  for (const std::string& path : names) {
    TRY_ASSIGN(std::string text, storage::read_file(context_.disk, path, kSmallFileBytesMax));
    TRY(rehearsal.make_directories(split_path(path).directory));
    rehearsal.set_contents(path, std::move(text));
  }
  TRY(host::MembershipFiles(rehearsal, file_options()).commit(members_));
  return check_rehearsed(rehearsal);
}

IoResult<void> Forcing::check_rehearsed(storage::Disk& rehearsal) {
  const std::vector<std::string> arguments{survey_.static_file};
  const auto loaded = server::load_config(arguments, [&](const std::string& path) -> IoResult<std::string> {
    const auto changed = rehearsal.exists(path);
    storage::Disk& disk = changed && *changed ? rehearsal : context_.disk;
    return storage::read_file(disk, path, kSmallFileBytesMax);
  });
  if (!loaded) return refused("the server would not start with these members: " + loaded.error().message);
  host::MembershipFiles files(rehearsal, file_options());
  const auto memberships =
      host::recover_memberships(files, survey_.state->machine, {.current_epoch = survey_.epochs->current});
  if (!memberships) return refused("the server would not start: " + memberships.error().what);
  if (memberships->proposed() || memberships->version() != members_.version() ||
      zab::to_text(memberships->committed()) != zab::to_text(members_))
    return refused("the server would not start with these members, but with others");
  return {};
}

// Every server that any membership on this disk lists, and the new one does not.
zab::ServerSet Forcing::left_out() const {
  zab::ServerSet ids;
  for (const FoundMembership& found : survey_.found) {
    for (const ServerId id : ids_of(found.members)) {
      if (!members_.is_member(id)) ids.insert(id);
    }
  }
  return ids;
}

void Forcing::tell() {
  std::string lines;
  for (const std::string& line : member_lines(members_)) lines += (lines.empty() ? "" : ", ") + line;
  say("members", "The new members: " + lines);
  say("version", "Their version is " + hex_text(static_cast<std::uint64_t>(members_.version())) +
                     ", later than every membership and epoch on this disk");
  say("data", "The data of this server become the data of the ensemble, up to zxid " +
                  zxid_text(survey_.state->last) + " of epoch " + std::to_string(survey_.epochs->current));
  for (const Finding& each : survey_.findings) {
    if (each.verdict == Verdict::kBad) say("finding", "BAD: " + each.text);
  }
  const std::string others = ids_text(left_out());
  if (others.empty()) return context_.out.flush();
  say("loss", "LOST: what only servers " + others +
                  " have, even if clients were told that it was written. If one of these disks can still be "
                  "read, run `drover inspect members` on it first: force the server with the latest epoch, "
                  "and then the latest zxid");
  say("never", "NEVER start servers " + others +
                   " on their old disks again, and give their ids to no new server. While they do not reach "
                   "this server, a quorum of them can elect a leader and serve other data");
  say("alone", "Only ONE server may be forced. Other survivors start with an empty version-2");
  context_.out.flush();
}

// The files that change, and the present dynamic file.
IoResult<std::vector<std::string>> Forcing::files_to_keep() {
  std::vector<std::string> paths{survey_.static_file};
  for (const FoundMembership& found : survey_.found) {
    if (found.place == Place::kDynamicFile) paths.push_back(found.where);
  }
  const std::string next = survey_.static_file + ".dynamic.next";
  TRY_ASSIGN(const bool proposed, context_.disk.exists(next));
  if (proposed) paths.push_back(next);
  return paths;
}

IoResult<std::string> Forcing::make_backup() {
  const std::string backup = options_.backup.empty()
                                 ? survey_.static_file + ".before-force-" + moment_text(world_.now_ms)
                                 : options_.backup;
  TRY_ASSIGN(const bool there, context_.disk.exists(backup));
  if (there) return std::unexpected(io_error(EEXIST, backup + " already exists; the copy needs a new place"));
  TRY_ASSIGN(std::vector<std::string> paths, files_to_keep());
  for (const char* name : {"currentEpoch", "acceptedEpoch"}) {
    const std::string path = storage::join_path(survey_.dirs.snapshots, name);
    TRY_ASSIGN(const bool exists, context_.disk.exists(path));
    if (exists) paths.push_back(path);
  }
  TRY(context_.disk.make_directories(backup));
  for (const std::string& path : paths) {
    TRY_ASSIGN(const std::string text, storage::read_file(context_.disk, path, kSmallFileBytesMax));
    const std::string name = split_path(path).name;
    TRY(storage::replace_file(context_.disk, {backup, name, name + ".tmp"}, text));
  }
  return backup;
}

IoResult<void> Forcing::carry_out() {
  storage::Disk& disk = context_.disk;
  const std::string& directory = survey_.dirs.snapshots;
  // As a start does: afterwards currentEpoch is not older than the last transaction.
  TRY_ASSIGN(const storage::Epochs epochs, storage::load_epochs(disk, directory, survey_.state->last));
  TRY(storage::write_epoch(disk, directory, storage::EpochFile::kAccepted, epoch_));
  TRY(storage::write_epoch(disk, directory, storage::EpochFile::kCurrent, epochs.current,
                           world_.new_history_id));
  return host::MembershipFiles(disk, file_options()).commit(members_);
}

void Forcing::say(std::string_view event, const std::string& text) {
  if (context_.json) {
    std::string line;
    JsonObject json(line);
    json.text("kind", event).text("text", text).end_line();
    context_.out.write(line);
  } else {
    context_.out.print("{}.\n", printable(text));
  }
}

}  // namespace

Outcome force_membership(const Context& context, const MembershipSource& source,
                         const zab::Membership& members, const ForceOptions& options,
                         const ForceWorld& world) {
  return Forcing(context, source, members, options, world).run();
}

}  // namespace drover::tools
