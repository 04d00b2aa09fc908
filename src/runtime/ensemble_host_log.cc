// SPDX-License-Identifier: Apache-2.0
//
// A DIFF that begins in the log files: the thread that reads them gives one piece after the other, each when
// the learner has taken most of the one before.
#include "base/ensure.h"
#include "log/log.h"
#include "runtime/ensemble_host.h"

namespace drover::server {

using host::LogStream;

void EnsembleHost::begin_log(Link& link, const zab::LogRange& range) {
  ENSURE(!link.log && !link.stream, "a learner gets one log or one state at a time");
  ENSURE(logs_, "a leader reads its log files only if it is configured to");
  link.log = std::make_unique<LogOnItsWay>();
  link.pace = {};
  logs_->begin(link.id, range);
}

void EnsembleHost::ask_for_piece(Link& link) {
  LogOnItsWay& log = *link.log;
  if (!log.is_ready || log.is_asked) return;
  log.is_asked = true;
  logs_->read(link.id);
}

void EnsembleHost::take_log_answers() {
  if (!logs_) return;
  for (const LogStreamThread::Answer& answer : logs_->take_answers()) {
    const auto found = links_.find(answer.link);
    if (found == links_.end() || !found->second.log) continue;
    answer.is_piece ? on_log_piece(found->second, answer) : on_log_found(found->second, answer);
  }
}

// The link may be gone afterwards.
void EnsembleHost::on_log_found(Link& link, const LogStreamThread::Answer& answer) {
  const zab::LinkId id = link.id;
  if (answer.progress == LogStream::Progress::kFailed) {
    log_info("ensemble", "no DIFF from the log files: {}", answer.why);
    link.log.reset();
    return tell({id, zab::LinkEvent::Kind::kNoLog});
  }
  tell({id, zab::LinkEvent::Kind::kLogReady});
  const auto found = links_.find(id);
  if (found == links_.end() || !found->second.log) return;
  // From here on all else waits behind the log.
  found->second.log->is_ready = true;
  found->second.link->ask_writable();
}

void EnsembleHost::on_log_piece(Link& link, const LogStreamThread::Answer& answer) {
  const zab::LinkId id = link.id;
  if (answer.progress == LogStream::Progress::kFailed) {
    log_warn("ensemble", "the log files cannot be read for a DIFF: {}", answer.why);
    link.log.reset();
    return tell({id, zab::LinkEvent::Kind::kNoLog});
  }
  link.link->output().append(answer.bytes);
  link.dirty = true;
  link.log->is_asked = false;
  if (answer.progress == LogStream::Progress::kMore) {
    link.next_piece = parts_.loop.now() + link.pace.rest_ms(parts_.machine.last_zxid);
    return;
  }
  link.link->output().append(link.log->behind);
  link.log.reset();
  tell({id, zab::LinkEvent::Kind::kStateSent});
}

void EnsembleHost::end_log(Link& link) {
  if (!link.log) return;
  link.log.reset();
  logs_->end(link.id);
}

}  // namespace drover::server
