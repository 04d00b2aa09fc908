// SPDX-License-Identifier: Apache-2.0
//
// Appends transactions to the log, in ZooKeeper's format.
//
// Owned by the log thread, which appends a batch, syncs once, and tells the core that it is durable. The
// first failed write or sync is returned and disables the writer: the page cache may have dropped the bytes,
// a second sync could succeed wrongly, and the caller ends the process. A full disk is different as long as
// nothing was written: space is reserved before each batch, so ENOSPC leaves the log intact, and the caller
// may retry the same batch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "storage/disk.h"
#include "storage/log_format.h"
#include "storage/log_links.h"
#include "wire/txn_batch.h"

namespace drover::storage {

struct TxnLogOptions {
  std::uint64_t preallocate_bytes = std::uint64_t{64} << 20;  // preAllocSize; 0: only what a batch needs
  std::uint64_t size_limit_bytes = 0;                         // txnLogSizeLimitInKb; 0: no limit
  bool force_sync = true;                                     // zookeeper.forceSync
};

class TxnLogWriter {
 public:
  // `tail` is where the log ends now (RecoveryReport::tail). A log file is created only when it is needed.
  static IoResult<TxnLogWriter> open(Disk& disk, const std::string& directory, const LogTail& tail,
                                     const TxnLogOptions& options);

  // One write. ENOSPC while failed() is false: nothing was written, retry later.
  IoResult<void> append(const wire::TxnBatch& batch);
  // One fdatasync. Everything appended so far survives power loss.
  IoResult<void> sync();
  // The next append starts a new file, named after its first zxid.
  void roll();
  // Reserves space for `entry_bytes` bytes in `entries` entries, in a new file if one is due. ENOSPC does no
  // harm. Call it when idle after roll(): the new file is then ready before it is needed.
  IoResult<void> reserve(std::uint64_t entry_bytes, std::uint64_t entries = 1);

  // True if appending that much is a single write, without a new file and without growing the file.
  bool has_room(std::uint64_t entry_bytes, std::uint64_t entries) const;

  bool failed() const { return failed_; }
  std::uint64_t bytes_since_roll() const {
    return file_ && named_ && !roll_due_ ? position_ - kLogHeaderBytes : 0;
  }
  std::uint64_t txns_since_roll() const { return txns_; }
  // Last appended and last synced; kNoLog before the first.
  Zxid last_appended() const { return last_appended_; }
  Zxid last_durable() const { return last_durable_; }
  // The end of the appended log, for the next writer that opens it.
  LogTail tail() const;

 private:
  TxnLogWriter(Disk& disk, std::string directory, const LogTail& tail, const TxnLogOptions& options,
               LogLinks links);

  IoResult<void> begin_file();                // under a temporary name, to reserve space early
  IoResult<void> name_file(Zxid first);       // links it, names it, makes the name durable
  IoResult<void> finish_file();               // syncs and trims the file that roll() ended
  IoResult<void> grow(std::uint64_t needed);  // allocates blocks for `needed` bytes in all
  IoResult<void> write_batch(const wire::TxnBatch& batch);
  void add_zeros_behind_small_batch();
  IoResult<void> dead() const;
  template <class T>
  IoResult<T> kill(IoResult<T> result);

  Disk* disk_;
  std::string directory_;
  TxnLogOptions options_;
  LogLinks links_;

  std::unique_ptr<File> file_;
  bool named_ = false;  // file_ has its final name
  bool roll_due_ = false;
  bool failed_ = false;
  bool unsynced_ = false;
  std::uint64_t position_ = 0;
  std::uint64_t allocated_ = 0;
  std::uint64_t written_ = 0;  // blocks up to here are written, at least with zeros
  std::uint64_t txns_ = 0;
  std::uint64_t watermark_bytes_ = 0;  // appended since the side file was last synced
  Zxid last_appended_ = kNoLog;
  Zxid last_durable_ = kNoLog;
  Zxid file_first_ = kNoLog;
  LogChain chain_;
  LogTail predecessor_;
  std::string buffer_;
};

}  // namespace drover::storage
