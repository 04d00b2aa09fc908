// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/start_options.h"

#include <algorithm>

#include "cli/common/login.h"
#include "cli/common/properties.h"
#include "cli/common/text.h"

namespace drover::cli {
namespace {

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
    take_login();
    if (!problem_.empty()) return std::unexpected(problem_);
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
    } else if (take_login_flag(word)) {
    } else if (word.starts_with("-D")) {
      set(parse_properties(word.substr(2)));
    } else if (word == "--json") {
      options_.json = true;
    } else if (word == "--quiet") {
      options_.quiet = true;
    } else if (word == "--help" || word == "-h") {
      options_.help = true;
    } else {
      options_.warnings.push_back("drover cli: unknown option " + word + " has no effect");
    }
  }

  std::string value(const std::string& option) {
    if (at_ < words_.size()) return words_[at_++];
    problem_ = "Error: no argument found for option " + option;
    return {};
  }

  bool take_login_flag(const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    const auto known = login_flags();
    const auto flag = std::ranges::find(known, std::string_view(name), &LoginFlag::name);
    if (flag == known.end()) return false;
    const bool joined = name.size() < word.size();
    if (joined && !flag->takes_value) problem_ = "Error: " + name + " takes no value";
    login_flags_[name] = joined              ? word.substr(name.size() + 1)
                         : flag->takes_value ? value(word)
                                             : std::string();
    return true;
  }

  void take_login() {
    if (options_.help) return;
    auto made = make_login(login_flags_, properties_);
    if (!made) {
      problem_ = "Error: " + made.error();
      return;
    }
    options_.connection.sasl = std::move(made->login);
    for (std::string& warning : made->warnings) {
      options_.warnings.push_back("drover cli: " + std::move(warning));
    }
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
    auto properties = read_properties(name);
    if (!properties) {
      problem_ = "Error: " + properties.error();
      return;
    }
    set(*std::move(properties));
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  StartOptions options_;
  Properties properties_;
  Properties login_flags_;
  std::string problem_;
};

}  // namespace

std::expected<StartOptions, std::string> parse_start_options(const std::vector<std::string>& arguments) {
  return Reader(arguments).read();
}

}  // namespace drover::cli
