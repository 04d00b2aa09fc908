// SPDX-License-Identifier: Apache-2.0
#include "cli/start_options.h"

#include <fstream>
#include <iterator>

#include "base/text.h"
#include "cli/text.h"

namespace drover::cli {
namespace {

std::string property(const Properties& properties, std::string_view name) {
  const auto found = properties.find("zookeeper." + std::string(name));
  return found == properties.end() ? std::string() : found->second;
}

// The password of a store: the given one, or the first line of the given file.
std::string password(const Properties& properties, const std::string& store) {
  std::string given = property(properties, store + ".password");
  const std::string path = property(properties, store + ".passwordPath");
  if (!given.empty() || path.empty()) return given;
  std::ifstream file(path);
  std::getline(file, given);
  return given;
}

// Consumes words from the front.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& words) : words_(words) {}

  std::expected<StartOptions, std::string> read() {
    while (at_ < words_.size() && problem_.empty()) {
      const std::string& word = words_[at_++];
      if (!word.starts_with("-")) {
        options_.command.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_) - 1, words_.end());
        break;
      }
      take(word);
    }
    if (!problem_.empty()) return std::unexpected(problem_);
    options_.connection.tls = tls_options(properties_);
    options_.connection.for_one_command = !options_.command.empty();
    for (const std::string& word : options_.command) options_.json = options_.json || word == "--json";
    return std::move(options_);
  }

 private:
  void take(const std::string& word) {
    if (word == "-server") {
      options_.connection.servers = value(word);
    } else if (word == "-timeout") {
      take_timeout(value(word));
    } else if (word == "-r") {
      options_.connection.read_only = true;
    } else if (word == "-waitforconnection") {
      options_.wait_for_connection = true;
    } else if (word == "-client-configuration") {
      take_file(value(word));
    } else if (word.starts_with("-D")) {
      set(parse_properties(word.substr(2)));
    } else if (word == "--json") {
      options_.json = true;
    } else if (word == "--quiet") {
      options_.quiet = true;
    } else if (word == "--help" || word == "-h") {
      options_.help = true;
    } else {
      options_.warnings.push_back("drover cli: the option " + word + " is not known and has no effect");
    }
  }

  std::string value(const std::string& option) {
    if (at_ < words_.size()) return words_[at_++];
    problem_ = "Error: no argument found for option " + option;
    return {};
  }

  // The last one wins.
  void set(Properties said) {
    said.merge(properties_);
    properties_ = std::move(said);
  }

  void take_timeout(const std::string& text) {
    const auto ms = parse_int(text);
    if (!problem_.empty()) return;
    if (!ms || *ms < 3) {
      problem_ = "Error: -timeout takes milliseconds, not \"" + text + "\"";
    } else {
      options_.connection.timeout = std::chrono::milliseconds(*ms);
    }
  }

  void take_file(const std::string& name) {
    if (!problem_.empty()) return;
    std::ifstream file(name);
    if (!file) {
      problem_ = "Error: cannot read the client configuration " + name;
      return;
    }
    set(parse_properties(std::string(std::istreambuf_iterator<char>(file), {})));
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  StartOptions options_;
  Properties properties_;
  std::string problem_;
};

}  // namespace

Properties parse_properties(std::string_view text) {
  Properties properties;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.empty() || line[0] == '#' || line[0] == '!') continue;
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string_view value = equals == line.size() ? "" : line.substr(equals + 1);
    properties[std::string(trimmed(line.substr(0, equals)))] = trimmed(value);
  }
  return properties;
}

std::optional<TlsOptions> tls_options(const Properties& properties) {
  if (property(properties, "client.secure") != "true") return std::nullopt;
  TlsOptions tls;
  tls.trust_store = property(properties, "ssl.trustStore.location");
  tls.trust_store_password = password(properties, "ssl.trustStore");
  tls.key_store = property(properties, "ssl.keyStore.location");
  tls.key_store_password = password(properties, "ssl.keyStore");
  tls.verify_host_name = property(properties, "ssl.hostnameVerification") != "false";
  return tls;
}

std::expected<StartOptions, std::string> parse_start_options(const std::vector<std::string>& arguments) {
  return Reader(arguments).read();
}

}  // namespace drover::cli
