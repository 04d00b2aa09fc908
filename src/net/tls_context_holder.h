// SPDX-License-Identifier: Apache-2.0
//
// The current TlsContext of a port. It is reloaded when its files change, so that certificates can be
// replaced without a restart.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/tls_context.h"
#include "net/tls_options.h"

namespace drover::net {

// current() is safe to call from any thread, poll_for_changes() from one thread only.
class TlsContextHolder {
 public:
  static IoResult<std::unique_ptr<TlsContextHolder>> load(TlsOptions options);

  // For a new connection; never null.
  std::shared_ptr<const TlsContext> current() const;

  // True: changed files were loaded. False: nothing changed. If the new files are bad, the old context stays
  // in use, and the error is returned once for each change.
  IoResult<bool> poll_for_changes();

 private:
  // Identifies a version of a file: an editor that writes in place changes time and size, a rename changes
  // the inode.
  struct FileMark {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t modified_ns = 0;
    friend bool operator==(const FileMark&, const FileMark&) = default;
  };

  TlsContextHolder(TlsOptions options, std::vector<FileMark> marks, std::shared_ptr<const TlsContext> first)
      : options_(std::move(options)), marks_(std::move(marks)), current_(std::move(first)) {}
  static std::vector<FileMark> marks_of(const TlsOptions& options);

  const TlsOptions options_;
  std::vector<FileMark> marks_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsContext> current_;
};

}  // namespace drover::net
