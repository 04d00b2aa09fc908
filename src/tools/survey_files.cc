// SPDX-License-Identifier: Apache-2.0
#include "tools/survey_files.h"

#include <algorithm>

#include "storage/file_names.h"
#include "storage/log_format.h"
#include "tools/progress.h"
#include "tools/snapshot_file.h"
#include "tools/snapshot_stats.h"
#include "tools/text.h"
#include "wire/txns.h"

namespace drover::tools {
namespace {

class StatsSink final : public storage::SnapshotSink {
 public:
  bool session(SessionId, std::int32_t) override { return true; }
  bool acl(std::int64_t, std::string_view) override { return true; }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t,
            const wire::StatPersisted& stat) override {
    stats.node(path, data, stat);
    return true;
  }
  SnapshotStats stats;
};

void mark(FileVerdict& file, Verdict verdict, std::string note) {
  if (file.verdict > verdict) return;  // Keep the worst verdict.
  file.verdict = verdict;
  file.note = std::move(note);
}

SnapshotVerdict survey_snapshot(const Context& context, const std::string& directory,
                                const storage::SnapshotFile& file) {
  SnapshotVerdict verdict;
  verdict.name = file.name;
  verdict.zxid = file.zxid;
  StatsSink sink;
  const auto place = snapshot_at(context.disk, directory, file.name);
  if (place) verdict.bytes = place->bytes;
  const auto info = place ? read_snapshot(context, *place, sink) : std::unexpected(place.error());
  if (!info) {
    verdict.read_error = info.error().code;
    mark(verdict, Verdict::kBad, info.error().what);
    return verdict;
  }
  verdict.content =
      fmt::format("{} nodes, {} sessions, up to {}", info->nodes, info->sessions, zxid_text(info->newest));
  const bool exact = info->digest && info->digest->version == storage::kDigestVersion &&
                     raw(info->digest->zxid) > 0 && info->digest->zxid == file.zxid &&
                     info->newest <= file.zxid;
  if (exact && info->digest->tree != sink.stats.tree_digest()) {
    mark(verdict, Verdict::kBad,
         fmt::format("its nodes have the digest {}, but it says {}", hex_text(sink.stats.tree_digest()),
                     hex_text(info->digest->tree)));
  }
  return verdict;
}

class LogSurvey {
 public:
  LogSurvey(const Context& context, const std::string& directory,
            const std::vector<SnapshotVerdict>& snapshots, const storage::LogEvidence& evidence)
      : context_(context), directory_(directory), snapshots_(snapshots), evidence_(evidence) {}

  LogVerdict look_at(const storage::LogFile& file, bool is_last);

 private:
  void read(storage::LogFileReader& reader, LogVerdict& verdict);
  void check_start(LogVerdict& verdict, Zxid zxid);
  void check_link(LogVerdict& verdict);
  void judge_end(LogVerdict& verdict, bool is_last);
  bool is_spanned(Zxid until) const;

  const Context& context_;
  const std::string& directory_;
  const std::vector<SnapshotVerdict>& snapshots_;
  const storage::LogEvidence& evidence_;
  storage::LogTail before_;  // end of the previous file
};

// True if recovery begins at or after the transaction before `until`.
bool LogSurvey::is_spanned(Zxid until) const {
  return std::ranges::any_of(snapshots_, [&](const SnapshotVerdict& s) {
    return s.verdict != Verdict::kBad && (next(s.zxid) >= until || storage::follows(s.zxid, until));
  });
}

LogVerdict LogSurvey::look_at(const storage::LogFile& file, bool is_last) {
  LogVerdict verdict;
  verdict.name = file.name;
  verdict.first = file.first;
  const std::string path = storage::join_path(directory_, file.name);
  if (const auto bytes = file_bytes(context_.disk, path)) verdict.bytes = *bytes;
  auto reader = storage::LogFileReader::open(context_.disk, path, {.first = file.first});
  if (!reader) {
    verdict.end.read_error = reader.error().code;
    mark(verdict, Verdict::kBad, reader.error().what);
    return verdict;
  }
  check_link(verdict);
  read(*reader, verdict);
  verdict.end = reader->end();
  judge_end(verdict, is_last);
  if (verdict.last) before_ = reader->tail();
  verdict.content = verdict.last ? fmt::format("{} transactions, {} to {}", verdict.txns,
                                               zxid_text(file.first), zxid_text(*verdict.last))
                                 : "no transaction";
  return verdict;
}

void LogSurvey::read(storage::LogFileReader& reader, LogVerdict& verdict) {
  Progress progress(verdict.name, verdict.bytes, context_.show_progress);
  while (const auto record = reader.next()) {
    progress.reached(record->offset);
    if (verdict.last ? !storage::follows(*verdict.last, record->zxid) : false) {
      mark(verdict, Verdict::kBad,
           fmt::format("at byte {}: zxid {} does not follow {}", record->offset, zxid_text(record->zxid),
                       zxid_text(*verdict.last)));
    }
    if (!verdict.last) check_start(verdict, record->zxid);
    if (!wire::decode_entry(record->entry)) {
      mark(verdict, Verdict::kBad,
           fmt::format("at byte {}: zxid {} has a correct checksum but is not a known transaction",
                       record->offset, zxid_text(record->zxid)));
    }
    verdict.last = record->zxid;
    ++verdict.txns;
  }
}

// True if the file continues where the previous one ended.
void LogSurvey::check_start(LogVerdict& verdict, Zxid zxid) {
  if (before_.file == storage::kNoLog || storage::follows(before_.last, zxid)) return;
  const std::string gap =
      fmt::format("zxid {} does not follow {}, where {} ends: transactions are missing", zxid_text(zxid),
                  zxid_text(before_.last), storage::log_name(before_.file));
  if (is_spanned(zxid)) {
    mark(verdict, Verdict::kNote, gap + "; a snapshot covers the gap, so no server needs them");
  } else {
    mark(verdict, Verdict::kBad, gap);
  }
}

// Compares the link in drover.links with the previous file.
void LogSurvey::check_link(LogVerdict& verdict) {
  const storage::LogLink* link = evidence_.link_of(verdict.first);
  if (!link || before_.file == storage::kNoLog || link->predecessor.file != before_.file) return;
  if (link->predecessor == before_) return;
  std::string what = fmt::format("{} ended at zxid {} when this file was started, but ends at {} now",
                                 storage::log_name(before_.file), zxid_text(link->predecessor.last),
                                 zxid_text(before_.last));
  if (link->predecessor.last == before_.last) {
    what = fmt::format("{} has changed since this file was started", storage::log_name(before_.file));
  }
  mark(verdict, is_spanned(verdict.first) ? Verdict::kNote : Verdict::kBad, std::move(what));
}

void LogSurvey::judge_end(LogVerdict& verdict, bool is_last) {
  const storage::LogFileEnd& end = verdict.end;
  if (end.clean()) return;
  const std::string where = fmt::format("breaks off at byte {}: {}", end.offset, end.broken);
  if (end.beyond && (!verdict.last || *end.beyond > *verdict.last)) {
    mark(verdict, Verdict::kBad,
         fmt::format("{}, and complete records follow up to zxid {}", where, zxid_text(*end.beyond)));
  } else if (end.read_error != 0 || (!end.no_header && end.offset == 0)) {
    mark(verdict, Verdict::kBad, where);
  } else if (end.no_header) {
    mark(verdict, is_last ? Verdict::kNote : Verdict::kBad,
         "has no header: a crash happened right after it was created");
  } else {
    mark(verdict, Verdict::kNote, (is_last ? "torn tail: " : "") + where);
  }
}

}  // namespace

IoResult<std::vector<SnapshotVerdict>> survey_snapshots(const Context& context,
                                                        const storage::DataDirs& dirs) {
  TRY_ASSIGN(const auto files, storage::list_snapshots(context.disk, dirs.snapshots));
  std::vector<SnapshotVerdict> verdicts;
  verdicts.reserve(files.size());
  for (const auto& file : files) verdicts.push_back(survey_snapshot(context, dirs.snapshots, file));
  return verdicts;
}

IoResult<std::vector<LogVerdict>> survey_logs(const Context& context, const storage::DataDirs& dirs,
                                              const std::vector<SnapshotVerdict>& snapshots,
                                              const storage::LogEvidence& evidence) {
  TRY_ASSIGN(const auto files, storage::list_logs(context.disk, dirs.logs));
  LogSurvey logs(context, dirs.logs, snapshots, evidence);
  std::vector<LogVerdict> verdicts;
  verdicts.reserve(files.size());
  for (const auto& file : files) verdicts.push_back(logs.look_at(file, verdicts.size() + 1 == files.size()));
  return verdicts;
}

}  // namespace drover::tools
