// SPDX-License-Identifier: Apache-2.0
#include "tools/log_command.h"

#include <vector>

#include "storage/file_names.h"
#include "storage/log_file_reader.h"
#include "tools/json.h"
#include "tools/log_stats.h"
#include "tools/progress.h"
#include "tools/text.h"
#include "tools/txn_text.h"

namespace drover::tools {
namespace {

class LogListing {
 public:
  LogListing(const Context& context, const LogCommand& command) : context_(context), command_(command) {}

  Outcome run();

 private:
  IoResult<std::vector<storage::LogFile>> files_to_read();
  IoResult<void> read(const storage::LogFile& file, bool is_last);
  void show(const storage::LogRecord& record);
  void judge_end(const storage::LogFile& file, const storage::LogFileEnd& end, bool is_last);
  bool wanted(const wire::TxnEntry& txn) const;
  void note(const std::string& what) { context_.notes.print("{}\n", what); }
  void wrong(const std::string& what) {
    note(what);
    code_ = kWrong;
  }

  const Context& context_;
  const LogCommand& command_;
  std::string directory_;
  std::optional<Zxid> last_;
  LogStats stats_;
  std::string line_;
  int code_ = kFine;
};

IoResult<std::vector<storage::LogFile>> LogListing::files_to_read() {
  TRY_ASSIGN(const bool directory, is_directory(context_.disk, command_.source));
  if (!directory) {
    const PathParts parts = split_path(command_.source);
    directory_ = parts.directory;
    const auto named = storage::parse_log_name(parts.name);
    // A copy with another name is still a log, but its expected first zxid is unknown.
    return std::vector{named.value_or(storage::LogFile{storage::kNoLog, parts.name})};
  }
  TRY_ASSIGN(const storage::DataDirs dirs, find_directories(context_.disk, {command_.source, {}}));
  directory_ = dirs.logs;
  TRY_ASSIGN(std::vector<storage::LogFile> files, storage::list_logs(context_.disk, dirs.logs));
  if (files.empty()) return std::unexpected(data_error(dirs.logs + " holds no transaction log"));
  // Skip files that end before the first requested zxid.
  while (command_.from && files.size() > 1 && files[1].first <= *command_.from) files.erase(files.begin());
  return files;
}

Outcome LogListing::run() {
  TRY_ASSIGN(const std::vector<storage::LogFile> files, files_to_read());
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (command_.to && files[i].first > *command_.to) break;
    TRY(read(files[i], i + 1 == files.size()));
  }
  if (command_.stats) context_.json ? stats_.print_json(context_.out) : stats_.print(context_.out);
  return code_;
}

IoResult<void> LogListing::read(const storage::LogFile& file, bool is_last) {
  const std::string path = storage::join_path(directory_, file.name);
  TRY_ASSIGN(const std::uint64_t size, file_bytes(context_.disk, path));
  Progress progress(file.name, size, context_.show_progress);
  TRY_ASSIGN(auto reader, storage::LogFileReader::open(context_.disk, path, {.first = file.first}));
  while (const auto record = reader.next()) {
    progress.reached(record->offset);
    if (command_.to && record->zxid > *command_.to) return {};
    if (last_ && !storage::follows(*last_, record->zxid)) {
      wrong(fmt::format(
          "{} at byte {}: zxid {} does not follow {}: transactions are missing, or in the wrong order",
          file.name, record->offset, zxid_text(record->zxid), zxid_text(*last_)));
    }
    last_ = record->zxid;
    if (!command_.from || record->zxid >= *command_.from) show(*record);
  }
  judge_end(file, reader.end(), is_last);
  return {};
}

void LogListing::show(const storage::LogRecord& record) {
  const auto txn = wire::decode_entry(record.entry);
  if (!txn) {
    wrong(fmt::format("at byte {}: zxid {} has a correct checksum but is not a known transaction",
                      record.offset, zxid_text(record.zxid)));
    return;
  }
  if (!wanted(*txn)) return;
  if (command_.stats) {
    stats_.add(*txn, record.entry.size());
    return;
  }
  line_.clear();
  const TxnTextOptions options{.data = command_.data};
  context_.json ? append_json(line_, *txn, record.entry.size(), options)
                : append_text(line_, *txn, record.entry.size(), options);
  context_.out.write(line_);
}

bool LogListing::wanted(const wire::TxnEntry& txn) const {
  if (command_.session && txn.header.session != *command_.session) return false;
  if (!command_.types.empty() && !command_.types.contains(txn.header.type)) return false;
  return command_.path.empty() || touches(txn, command_.path);
}

void LogListing::judge_end(const storage::LogFile& file, const storage::LogFileEnd& end, bool is_last) {
  if (end.clean()) return;
  const std::string where = fmt::format("{} breaks off at byte {}: {}", file.name, end.offset, end.broken);
  const bool beyond = end.beyond && (!last_ || *end.beyond > *last_);
  if (beyond) {
    wrong(fmt::format(
        "{}. Complete records follow, up to zxid {}: this is damage; `drover inspect verify` shows what a "
        "server would do with it",
        where, zxid_text(*end.beyond)));
  } else if (end.read_error != 0 || (!end.no_header && end.offset == 0)) {
    wrong(where);
  } else if (is_last) {
    note(where +
         ". No complete record follows: this is the torn tail of a crash, or a server is writing here now");
  } else {
    note(where + ". No complete record follows; the next file shows whether anything is missing");
  }
}

}  // namespace

Outcome run_log(const Context& context, const LogCommand& command) {
  return LogListing(context, command).run();
}

}  // namespace drover::tools
