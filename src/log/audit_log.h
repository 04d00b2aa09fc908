// SPDX-License-Identifier: Apache-2.0
//
// Where lines of the audit log go: a file of their own beside the log, in the format of Java's
// RollingFileAppender, so that existing readers understand it. Without a directory for logs they are part of
// the log.
//
//   2026-11-15 08:23:38,123 INFO audit.Slf4jAuditLogger: session=0x100…	user=…	result=success
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/log.h"

namespace drover::server {

struct AuditLogOptions {
  std::string file;  // empty: the log
  LogLevel level = LogLevel::kInfo;
  std::int64_t file_bytes_max = 256 << 20;
  int files_max = 20;
};

// Call it once, before threads start, and only if there is an audit log.
IoResult<void> open_audit_log(const AuditLogOptions& options);

// Failures are errors, all others have level info. The caller has escaped the line. Lines are dropped until
// the log is open.
void write_audit_log(bool failure, std::string_view line);

}  // namespace drover::server
