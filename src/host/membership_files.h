// SPDX-License-Identifier: Apache-2.0
//
// The membership on disk, in the files that Java uses, so that either server can take over the folder:
//
//   zoo.cfg                     the static file. It contains the members, or `dynamicConfigFile=` with the
//   name
//                               of the file that does
//   zoo.cfg.dynamic.100000004   the dynamic file: a committed membership. Its version is in its name
//   zoo.cfg.dynamic.next        a membership that was proposed and is not committed, with its version
//   zoo.cfg.bak                 the static file as the operator wrote it, from before the first change
//
// Each file is replaced atomically. The static file decides: commit() writes the new dynamic file first and
// then makes the static file name it. So a crash at any step leaves the old membership or the new one.
//
// Java drops comments when it rewrites the static file; here all other lines stay as they are.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "storage/disk.h"
#include "zab/membership.h"

namespace drover::host {

struct MembershipFilesOptions {
  // An absolute path without symbolic links. `dynamicConfigFile=` is valid in any working directory, and a
  // rename replaces the file itself, not a link to it.
  std::string static_file;
  ServerId me{};
  bool multi_address = false;
};

struct StoredMembership {
  zab::Membership committed;
  // Newer than `committed`, if present. Java ignores it while the static file contains the members.
  std::optional<zab::Membership> proposed;
};

class MembershipFiles {
 public:
  // `disk` outlives this.
  MembershipFiles(storage::Disk& disk, MembershipFilesOptions options);

  IoResult<StoredMembership> load();

  // All of these are durable when they return, and do nothing if it is done already.

  // Stores a membership that was proposed; it replaces an earlier one.
  IoResult<void> propose(const zab::Membership& membership);
  // Removes the proposed membership: it will never be committed.
  IoResult<void> withdraw();
  // Makes the membership the committed one. Removes the proposed one unless that is newer. A membership that
  // is older than the committed one changes nothing.
  //
  // A server that is not a member yet keeps its own file: it says how to join.
  //
  // If this server's line contains a client port, `clientPort` and `clientPortAddress` leave the static file:
  // they would contradict the next change of that port.
  IoResult<void> commit(const zab::Membership& membership);

 private:
  struct Static;

  IoResult<Static> read_static();
  IoResult<zab::Membership> read_committed(const Static& static_file);
  IoResult<std::optional<zab::Membership>> read_proposed();
  IoResult<void> replace(const std::string& name, const std::string& text);
  IoResult<void> point_to(const Static& static_file, const std::string& dynamic_name, bool drops_client_port);

  storage::Disk& disk_;
  const MembershipFilesOptions options_;
  const std::string directory_;
  const std::string name_;  // of the static file, without the directory
};

}  // namespace drover::host
