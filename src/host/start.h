// SPDX-License-Identifier: Apache-2.0
//
// Reads the files of a data directory into a state in memory and the facts with which a member starts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/membership_files.h"
#include "replica/member.h"
#include "replica/state_builder.h"
#include "state/machine.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "storage/journal.h"
#include "storage/recovery.h"
#include "zab/history.h"

namespace drover::host {

struct StartOptions {
  bool is_member = true;  // of an ensemble: others may have what is missing here, and epochs count
  storage::RecoveryOptions recovery;
  // zookeeper.db.autocreate was set: an empty disk is meant to be empty, without asking other servers.
  bool empty_is_meant = false;
  storage::TxnLogOptions log;
  zab::WindowLimits window;
};

// The parts of a start that differ between a server and a simulated one.
class StartHooks {
 public:
  virtual ~StartHooks() = default;
  // Reads the files into the builder. The default reads transaction by transaction.
  virtual IoResult<storage::RecoveryReport> replay(storage::Disk& disk, const storage::DataDirs& dirs,
                                                   const storage::RecoveryOptions& options,
                                                   replica::StateBuilder& builder);
  // A transaction that is in the log.
  virtual void on_txn(std::string_view entry) { (void)entry; }
  // From here on a log without a snapshot means damage.
  virtual IoResult<std::string> write_first_snapshot() = 0;  // returns the file's name
};

struct Start {
  storage::RecoveryReport report;
  replica::MemberStart member;
  std::vector<std::string> warnings;
  std::vector<std::string> errors;
  std::vector<std::string> contradictions;  // between the state and the digests in its files
};

// An error means that this server must not start; it says what to do.
IoResult<Start> recover(storage::Disk& disk, const storage::DataDirs& dirs, state::Machine& machine,
                        const StartOptions& options, StartHooks& hooks);

// After recover(): the members in force and the proposed ones. A reconfiguration in the log counts even if
// its file was lost. One in the file that is not in the log was never acknowledged, and is forgotten.
IoResult<zab::Memberships> recover_memberships(MembershipFiles& files, const state::Machine& machine,
                                               const zab::PeerStart& start);

// After recover(). A journal whose history is damaged is closed until a leader's state replaces it.
IoResult<storage::Journal> open_journal(storage::Disk& disk, const storage::DataDirs& dirs,
                                        const storage::RecoveryReport& report,
                                        const storage::TxnLogOptions& options);

// Reads the state again from the files. Returns whether it is exact.
IoResult<bool> reload(storage::Disk& disk, const storage::DataDirs& dirs, state::Machine& machine,
                      const storage::RecoveryOptions& options, std::vector<std::string>& contradictions);

// The state of an empty server.
void clear(state::Machine& machine);

}  // namespace drover::host
