// SPDX-License-Identifier: Apache-2.0
#include "net/tls_context_holder.h"

#include <sys/stat.h>

namespace drover::net {

// Takes the marks before it reads the files: the next poll then sees a change in between, which would
// otherwise be missed.
IoResult<std::unique_ptr<TlsContextHolder>> TlsContextHolder::load(TlsOptions options) {
  auto marks = marks_of(options);
  TRY_ASSIGN(auto first, TlsContext::load(options));
  return std::unique_ptr<TlsContextHolder>(
      new TlsContextHolder(std::move(options), std::move(marks), std::move(first)));
}

std::shared_ptr<const TlsContext> TlsContextHolder::current() const {
  const std::scoped_lock lock(mutex_);
  return current_;
}

IoResult<bool> TlsContextHolder::poll_for_changes() {
  auto marks = marks_of(options_);
  if (marks == marks_) return false;
  marks_ = std::move(marks);
  TRY_ASSIGN(auto fresh, TlsContext::load(options_));
  const std::scoped_lock lock(mutex_);
  current_ = std::move(fresh);
  return true;
}

std::vector<TlsContextHolder::FileMark> TlsContextHolder::marks_of(const TlsOptions& options) {
  std::vector<FileMark> marks;
  for (const std::string* path :
       {&options.key_store.location, &options.key_store.password_path, &options.trust_store.location,
        &options.trust_store.password_path, &options.crl_location}) {
    FileMark mark;
    struct stat info{};
    if (!path->empty() && ::stat(path->c_str(), &info) == 0) {
      mark = {info.st_dev, info.st_ino, info.st_size,
              info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec};
    }
    marks.push_back(mark);
  }
  return marks;
}

}  // namespace drover::net
