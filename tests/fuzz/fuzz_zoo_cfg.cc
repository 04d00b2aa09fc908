// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes all parsers of the configuration: the .properties syntax, each key's value, the server.N grammar,
// the rules between keys, and JVMFLAGS.
//
// The input is used for every file that load_config() reads, so a `dynamicConfigFile` in it is the input
// again. An accepted configuration must be consistent, and each message must be one line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/properties.h"
#include "config/config.h"
#include "zab/membership_text.h"

namespace {

using namespace drover::server;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

void require_consistent(const LoadedConfig& loaded) {
  const ServerConfig& config = loaded.config;
  require(config.client || config.secure_client);
  require(!config.data_dir.empty() && !config.data_log_dir.empty());
  require(config.tick_time_ms > 0);
  require(config.min_session_timeout_ms <= config.max_session_timeout_ms);
  require(config.limits.jute_max_buffer > 0 && config.limits.jute_extra_size >= 1024);
  require(config.storage.purge_snap_retain_count >= 3);
  for (const std::string& warning : loaded.warnings) require(is_one_line(warning));
}

void fuzz_file(const std::string& input) {
  const FileReader read = [&input](const std::string&) -> drover::IoResult<std::string> { return input; };
  const auto loaded = load_config(std::vector<std::string>{"zoo.cfg"}, read);
  if (loaded) {
    require_consistent(*loaded);
  } else {
    require(is_one_line(loaded.error().message));
  }
}

// The parser reads the output of to_text() back unchanged.
void fuzz_server_line(std::string_view input) {
  const drover::zab::MembershipOptions options{.multi_address = true};
  const auto server = drover::zab::parse_server_spec(drover::ServerId{1}, input, options);
  if (!server) return;
  const std::string text = to_text(*server);
  const auto again = drover::zab::parse_server_spec(drover::ServerId{1}, text, options);
  require(again && to_text(*again) == text);
}

void fuzz_arguments(std::string_view input) {
  for (const std::string& flag : parse_jvm_flags(input)) require(flag.starts_with("-D") && flag.size() > 2);
  const FileReader none = [](const std::string&) -> drover::IoResult<std::string> { return std::string(); };
  (void)load_config(std::vector<std::string>{"--jvm-flags=" + std::string(input)}, none);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  fuzz_file(input);
  fuzz_server_line(input);
  fuzz_arguments(input);
  return 0;
}
