// SPDX-License-Identifier: Apache-2.0
#include "tools/membership_survey.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/number.h"
#include "base/path.h"
#include "base/properties.h"
#include "config/load.h"
#include "host/start.h"
#include "storage/file_names.h"
#include "tools/dry_disk.h"
#include "tools/text.h"
#include "zab/membership_text.h"

namespace drover::tools {
namespace {

using Place = FoundMembership::Place;

// The limit of myid; the file holds one number.
constexpr std::size_t kMyIdBytesMax = 64;

std::string absolute_path(const std::string& path) {
  std::error_code failure;
  const auto full = std::filesystem::canonical(path, failure);
  return failure ? std::filesystem::absolute(path, failure).lexically_normal().string() : full.string();
}

std::string version_text(const zab::Membership& members) {
  return hex_text(static_cast<std::uint64_t>(members.version()));
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

class MembershipSurveyor {
 public:
  MembershipSurveyor(const Context& context, const MembershipSource& source)
      : context_(context), source_(source), dry_(context.disk) {}

  IoResult<MembershipSurvey> run() {
    TRY(locate());
    if (survey_.static_file.empty())
      find(Verdict::kNote, "a data directory does not say who the members are: give zoo.cfg instead");
    read_my_id();
    read_data();
    find_in_tree();
    if (!survey_.static_file.empty()) {
      find_in_files();
      compare();
      judge_start();
    }
    survey_.latest_epoch = std::max(survey_.latest_epoch, epoch_of(Zxid{survey_.latest_version}));
    std::ranges::stable_sort(survey_.found, {}, &FoundMembership::place);
    return std::move(survey_);
  }

  IoResult<storage::DataDirs> directories() {
    TRY(locate());
    return survey_.dirs;
  }

 private:
  IoResult<void> locate() {
    TRY_ASSIGN(const bool directory, is_directory(context_.disk, source_.path));
    if (!directory) return read_static_file();
    TRY_ASSIGN(survey_.dirs, find_directories(context_.disk, {source_.path, source_.log_directory}));
    return {};
  }

  void find(Verdict verdict, std::string text) { survey_.findings.push_back({verdict, std::move(text)}); }

  void add(Place place, std::string where, zab::Membership members) {
    survey_.latest_version = std::max(survey_.latest_version, members.version());
    survey_.found.push_back({place, std::move(where), std::move(members)});
  }

  server::FileReader reader() {
    return [this](const std::string& path) {
      return storage::read_file(context_.disk, path, kPropertiesBytesMax);
    };
  }

  // Not with the server's loader, which refuses the file of a server that was removed.
  IoResult<void> read_static_file() {
    survey_.static_file = absolute_path(source_.path);
    const auto settings = server::read_settings(source_.path, reader());
    if (!settings) return std::unexpected(data_error(settings.error().message));
    std::map<std::string, std::string> values;
    for (const server::Setting& setting : *settings) values[setting.key] = setting.value;
    const std::string data_dir = values["dataDir"];
    if (data_dir.empty())
      return std::unexpected(
          data_error(source_.path + " does not set dataDir; give zoo.cfg or a data directory"));
    survey_.dirs = storage::data_dirs(data_dir, values["dataLogDir"]);
    survey_.reconfig_enabled = lower_case(values["reconfigEnabled"]) == "true";
    survey_.standalone_enabled = lower_case(values["standaloneEnabled"]) != "false";
    dynamic_file_ = values["dynamicConfigFile"];
    return {};
  }

  void read_my_id() {
    const std::string path = storage::join_path(split_path(survey_.dirs.snapshots).directory, "myid");
    const auto text = storage::read_file(context_.disk, path, kMyIdBytesMax);
    if (!text) return;
    const std::string_view number = trimmed(std::string_view(*text).substr(0, text->find('\n')));
    const auto id = parse_number<std::int64_t>(number);
    if (id && *id >= 0) survey_.me = ServerId{*id};
  }

  void read_data() {
    if (storage::replacing_mark(context_.disk, survey_.dirs) != storage::Replacing::kNo)
      return find(Verdict::kBad, "a leader's state was about to replace the data in " +
                                     survey_.dirs.snapshots +
                                     ", and the server stopped before that was done");
    auto state = load_newest(context_, survey_.dirs);
    if (!state) return find(Verdict::kBad, "the data cannot be read: " + state.error().what);
    const auto epochs = storage::load_epochs(dry_, survey_.dirs.snapshots, (*state)->last);
    if (!epochs) return find(Verdict::kBad, epochs.error().what);
    for (const std::string& text : (*state)->findings) find(Verdict::kBad, text);
    for (const std::string& text : epochs->findings) find(Verdict::kNote, text);
    survey_.epochs = *epochs;
    survey_.latest_epoch = std::max({epoch_of((*state)->last), epochs->accepted, epochs->current});
    survey_.state = *std::move(state);
  }

  void find_in_tree() {
    if (!survey_.state) return;
    const state::Tree& tree = survey_.state->machine.tree;
    const state::NodeRef node = tree.find(kConfigPath);
    if (node == state::kNoNode) return;
    const std::string_view text = tree.at(node).data().value_or(std::string_view{});
    auto members = zab::parse_membership(text, {.multi_address = true});
    if (!members)
      return find(Verdict::kBad, std::string(kConfigPath) +
                                     " in the tree is not a valid membership: " + members.error().sentence);
    if (members->servers().empty()) return;
    const auto snapshot = storage::parse_snapshot_name(survey_.state->from);
    const bool in_snapshot = snapshot && Zxid{members->version()} <= snapshot->zxid;
    add(Place::kTree, std::string(kConfigPath) + " in " + (in_snapshot ? snapshot->name : "the log"),
        *std::move(members));
  }

  void find_in_files() {
    host::MembershipFiles files(context_.disk, file_options());
    auto stored = files.load();
    if (!stored) return find(Verdict::kBad, "the members cannot be read: " + stored.error().what);
    if (stored->committed.servers().empty()) return;
    const bool dynamic = !dynamic_file_.empty();
    add(dynamic ? Place::kDynamicFile : Place::kZooCfg, dynamic ? dynamic_file_ : survey_.static_file,
        stored->committed);
    if (stored->proposed) {
      add(Place::kNext, survey_.static_file + ".dynamic.next", *std::move(stored->proposed));
    }
    find_later_files();
  }

  // A crash may have interrupted the last step of a reconfiguration. Then the server knows it from elsewhere.
  void find_later_files() {
    const auto [folder, name] = split_path(survey_.static_file);
    const auto names = context_.disk.list(folder);
    if (!names) return;
    const std::int64_t known = survey_.latest_version;
    for (const std::string& each : *names) {
      if (!each.starts_with(name + ".dynamic.")) continue;
      const std::int64_t version = zab::version_of_file_name(each);
      survey_.latest_version = std::max(survey_.latest_version, version);
      if (version > known && !dynamic_file_.empty())
        find(Verdict::kBad, each +
                                " is later than every membership in use; servers ignore it. Was zoo.cfg "
                                "restored from a backup, or a change interrupted?");
    }
  }

  Place committed_place() const { return dynamic_file_.empty() ? Place::kZooCfg : Place::kDynamicFile; }

  host::MembershipFilesOptions file_options() const {
    return {.static_file = survey_.static_file, .me = survey_.me.value_or(ServerId{}), .multi_address = true};
  }

  void compare() {
    const FoundMembership* committed = survey_.find(committed_place());
    const FoundMembership* next = survey_.find(Place::kNext);
    const FoundMembership* tree = survey_.find(Place::kTree);
    if (!committed) return;
    if (!survey_.reconfig_enabled) return compare_without_reconfig(*committed, tree);
    if (next)
      find(Verdict::kNote, "a reconfiguration to version " + version_text(next->members) +
                               " was proposed, and this disk does not know whether it was committed");
    if (!tree) return;
    const std::int64_t logged = tree->members.version();
    if (logged == committed->members.version() &&
        zab::to_text(tree->members) != zab::to_text(committed->members)) {
      find(Verdict::kBad, "zoo.cfg and the data name different members for version " +
                              version_text(tree->members) + ": somebody has edited the dynamic file");
    } else if (logged > committed->members.version() && (!next || next->members.version() < logged)) {
      find(Verdict::kBad, "zoo.cfg is older than the data, which holds a reconfiguration to version " +
                              version_text(tree->members) + ". A server needs a quorum of both memberships");
    }
  }

  void compare_without_reconfig(const FoundMembership& committed, const FoundMembership* tree) {
    if (!tree || tree->members.version() == 0) return;
    if (zab::is_same_membership(tree->members, committed.members)) return;
    find(Verdict::kBad,
         "the ensemble was reconfigured to version " + version_text(tree->members) +
             ", but a server here takes the members of zoo.cfg, because reconfigEnabled is not "
             "true");
  }

  void judge_start() {
    const std::vector<std::string> arguments{survey_.static_file};
    const auto loaded = server::load_config(arguments, reader());
    if (!loaded) {
      find(Verdict::kBad, loaded.error().message);
      survey_.start = "does not start";
      return;
    }
    const server::EnsembleConfig& e = loaded->config.ensemble;
    if (!e.is_distributed()) {
      survey_.start = "starts as a standalone server";
      return;
    }
    if (!survey_.state) {
      survey_.start = "asks the leader for its state, and does not vote until it has it";
      return;
    }
    survey_.at_start = e.members;
    if (e.reconfig_enabled) take_memberships();
    const zab::Memberships& at_start = *survey_.at_start;
    survey_.start = "needs " + quorum_text(at_start.committed());
    if (at_start.proposed()) survey_.start += ", and " + quorum_text(*at_start.proposed());
  }

  // The same call as at a start.
  void take_memberships() {
    host::MembershipFiles files(dry_, file_options());
    auto memberships =
        host::recover_memberships(files, survey_.state->machine, {.current_epoch = survey_.epochs->current});
    if (memberships) survey_.at_start = *std::move(memberships);  // The error is found already.
  }

  static std::string quorum_text(const zab::Membership& members) {
    return "a quorum of the voters " + ids_text(members.voters()) + " of version " + version_text(members);
  }

  const Context& context_;
  const MembershipSource& source_;
  DryDisk dry_;
  std::string dynamic_file_;
  MembershipSurvey survey_;
};

}  // namespace

const FoundMembership* MembershipSurvey::find(FoundMembership::Place place) const {
  const auto it = std::ranges::find(found, place, &FoundMembership::place);
  return it == found.end() ? nullptr : &*it;
}

bool MembershipSurvey::is_fine() const {
  return std::ranges::none_of(findings, [](const Finding& each) { return each.verdict == Verdict::kBad; });
}

IoResult<storage::DataDirs> find_data_directories(const Context& context, const MembershipSource& source) {
  return MembershipSurveyor(context, source).directories();
}

IoResult<MembershipSurvey> survey_memberships(const Context& context, const MembershipSource& source) {
  return MembershipSurveyor(context, source).run();
}

std::string ids_text(const zab::ServerSet& servers) {
  std::string text;
  for (const ServerId id : servers) text += (text.empty() ? "" : ", ") + std::to_string(raw(id));
  return text;
}

std::vector<std::string> member_lines(const zab::Membership& members) {
  std::vector<std::string> lines;
  std::string text = zab::to_text(members);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (!line.starts_with("version=")) lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

}  // namespace drover::tools
