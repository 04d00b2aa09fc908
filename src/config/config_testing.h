// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the configuration tests: files in memory, and the three parts of a result.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace drover::server {

// A file system in memory.
class Files {
 public:
  Files& with(std::string path, std::string text) {
    files_[std::move(path)] = std::move(text);
    return *this;
  }
  FileReader reader() const {
    return [files = files_](const std::string& path) -> IoResult<std::string> {
      const auto file = files.find(path);
      if (file == files.end()) return std::unexpected(io_error(ENOENT, "cannot open " + path));
      return file->second;
    };
  }

 private:
  std::map<std::string, std::string> files_;
};

using Loaded = std::expected<LoadedConfig, ConfigError>;

inline Loaded load(const Files& files, std::vector<std::string> arguments) {
  return load_config(arguments, files.reader());
}
// zoo.cfg with the two required keys; `lines` start at line 3.
inline Loaded load_lines(const std::string& lines, std::vector<std::string> properties = {}) {
  properties.insert(properties.begin(), "zoo.cfg");
  return load(Files().with("zoo.cfg", "dataDir=/data\nclientPort=2181\n" + lines), properties);
}
inline ServerConfig config_of(const Loaded& loaded) {
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? loaded->config : ServerConfig{};
}
inline std::string error_of(const Loaded& loaded) {
  EXPECT_FALSE(loaded);
  return loaded ? "" : loaded.error().message;
}
inline std::vector<std::string> warnings_of(const Loaded& loaded) {
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? loaded->warnings : std::vector<std::string>{};
}

}  // namespace drover::server
