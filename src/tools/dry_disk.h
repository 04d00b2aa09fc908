// SPDX-License-Identifier: Apache-2.0
//
// A disk that is never changed: writes seem to succeed and are only recorded. So a tool can run the server's
// own recovery and report what it would do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/forwarding_disk.h"

namespace drover::tools {

class DryDisk final : public storage::ForwardingDisk {
 public:
  using ForwardingDisk::ForwardingDisk;

  IoResult<std::unique_ptr<storage::File>> open(const std::string& path, storage::OpenMode mode) override;
  IoResult<void> rename(const std::string& from, const std::string& to) override;
  IoResult<void> unlink(const std::string& path) override;
  IoResult<void> sync_directory(const std::string&) override { return {}; }
  IoResult<void> make_directories(const std::string& path) override;
  IoResult<void> remove_directory(const std::string& path) override;

  // "delete log.5", "cut log.3 at byte 512", in order.
  const std::vector<std::string>& actions() const { return actions_; }

 private:
  std::vector<std::string> actions_;
};

}  // namespace drover::tools
