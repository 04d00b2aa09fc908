// SPDX-License-Identifier: Apache-2.0
//
// Finds every membership on the disk of a stopped server, and says with which one a server would start.
//
// A membership is in up to four places:
//
//   zoo.cfg, or the dynamic file that it names    the committed one
//   zoo.cfg.dynamic.next                          a proposed one
//   /zookeeper/config in the tree                 the last reconfiguration in the log or the snapshot
//
// The server's own code reads them and decides (config, host/membership_files, host/start). So this tool and
// a server cannot disagree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/epoch_files.h"
#include "tools/loaded_state.h"
#include "tools/survey.h"
#include "zab/memberships.h"

namespace drover::tools {

struct FoundMembership {
  enum class Place { kZooCfg, kDynamicFile, kNext, kTree };
  Place place{};
  std::string where;  // a file, or the node and the file that holds it
  zab::Membership members;
};

struct MembershipSurvey {
  std::string static_file;  // absolute; empty: only a data directory was given
  std::optional<ServerId> me;
  bool reconfig_enabled = false;
  bool standalone_enabled = true;

  storage::DataDirs dirs;
  // The state that a server would load. Null: damaged, or not there.
  std::unique_ptr<LoadedState> state;
  std::optional<storage::Epochs> epochs;

  std::vector<FoundMembership> found;
  // The members that a server would start with. Empty: it does not start as a member of an ensemble.
  std::optional<zab::Memberships> at_start;
  std::string start;  // one sentence without the full stop
  std::vector<Finding> findings;

  // The highest on this disk, wherever they were found. A version counts as an epoch, too.
  std::int64_t latest_version = 0;
  std::uint32_t latest_epoch = 0;

  const FoundMembership* find(FoundMembership::Place place) const;
  bool is_fine() const;
};

struct MembershipSource {
  std::string path;           // zoo.cfg, or a data directory
  std::string log_directory;  // dataLogDir of a data directory, if it is separate
};

// The data directories of the server.
IoResult<storage::DataDirs> find_data_directories(const Context& context, const MembershipSource& source);

// Damage is a finding. Only a zoo.cfg or a directory that cannot be read at all is an error.
IoResult<MembershipSurvey> survey_memberships(const Context& context, const MembershipSource& source);

// "1, 2, 3"
std::string ids_text(const zab::ServerSet& servers);
// The lines of a membership without its version.
std::vector<std::string> member_lines(const zab::Membership& members);

}  // namespace drover::tools
