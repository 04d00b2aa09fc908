// SPDX-License-Identifier: Apache-2.0
//
// load_config(): reads the sources in order of precedence, then checks the result.
#include "config/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>

#include "base/properties.h"
#include "base/result.h"
#include "base/text.h"
#include "config/foreign_keys.h"
#include "config/load.h"
#include "log/log.h"
#include "zab/membership_text.h"

namespace drover::server {
namespace {

// Formats `zoo.cfg:12: tickTime=abc: sentence`. The value of a secret is replaced by ***.
std::string complaint(const Setting& setting, bool secret, std::string_view sentence) {
  return fmt::format("{}={}: {}", setting.where, secret ? "***" : escaped(setting.value, 64), sentence);
}

std::unexpected<ConfigError> wrong(std::string message) {
  return std::unexpected(ConfigError{std::move(message)});
}

// A file that cannot be found keeps its name: the next attempt to use it says what is wrong.
std::string canonical(const std::string& path) {
  std::error_code failure;
  const auto full = std::filesystem::canonical(path, failure);
  return failure ? std::filesystem::absolute(path, failure).lexically_normal().string() : full.string();
}

class Loader {
 public:
  explicit Loader(const FileReader& read) : read_(read), table_(key_table(loaded_.config, draft_)) {}

  std::expected<LoadedConfig, ConfigError> load(std::span<const std::string> words) {
    TRY_ASSIGN(Arguments arguments, parse_arguments(words));
    loaded_.file = arguments.file;
    std::vector<Setting> settings;
    if (!arguments.file.empty()) {
      TRY_ASSIGN(settings, read_settings(arguments.file, read_));
      loaded_.config.file_path = canonical(arguments.file);
    }
    loaded_.config.file_text = shown(settings);
    std::ranges::move(arguments.settings, std::back_inserter(settings));
    prepare(arguments);
    for (const Setting& setting : last_of_each(settings)) TRY(apply(setting));
    TRY(add_members());

    const std::string source = arguments.file.empty() ? "configuration" : arguments.file;
    const CheckContext context{.source = source,
                               .draft = draft_,
                               .from_file = !arguments.file.empty(),
                               .members_outside_file = members_outside_file_};
    TRY(complete_and_check(loaded_, context));
    TRY(read_my_id());
    TRY(load_sasl(loaded_, context, read_));
    TRY(check_ensemble(loaded_, context));
    return std::move(loaded_);
  }

 private:
  // The three forms of the command line have different defaults.
  void prepare(const Arguments& arguments) {
    // ZooKeeper's short form listens on all addresses. Our form without arguments is for trying out and
    // listens on loopback only.
    if (arguments.short_form) loaded_.config.client->host.clear();
  }

  // The settings of a file without secrets. Unknown keys that look like secrets are hidden too.
  std::string shown(const std::vector<Setting>& settings) const {
    std::string text;
    for (const Setting& setting : settings) {
      const auto row = table_.find(setting.key);
      const bool secret = (row != table_.end() && row->second.secret) ||
                          setting.key.find("assword") != std::string::npos ||
                          setting.key.find("igest") != std::string::npos;
      text += fmt::format("{}={}\n", setting.key, secret ? "***" : setting.value);
    }
    return text;
  }

  // If a key occurs twice, the last one wins, as in Java (which does so silently). The command line overrides
  // the file on purpose, so we warn only about a repetition within one source.
  std::vector<Setting> last_of_each(const std::vector<Setting>& settings) {
    std::map<std::string_view, const Setting*> last;
    for (const Setting& setting : settings) {
      const auto [entry, inserted] = last.try_emplace(setting.key, &setting);
      if (inserted) continue;
      if (entry->second->origin == setting.origin) warn_of_repetition(*entry->second, setting);
      entry->second = &setting;
    }
    std::vector<Setting> result;
    for (const Setting& setting : settings) {
      if (last.at(setting.key) == &setting) result.push_back(setting);
    }
    return result;
  }

  void warn_of_repetition(const Setting& before, const Setting& now) {
    loaded_.warnings.push_back(
        before.line > 0 ? fmt::format("{} is set again and replaces line {}", now.where, before.line)
                        : fmt::format("{} is set again; the last value wins", now.where));
  }

  std::expected<void, ConfigError> apply(const Setting& setting) {
    if (setting.key == "dynamicConfigFile") note_members_source(setting);
    if (const auto row = table_.find(setting.key); row != table_.end()) {
      warn_of_exposed_secret(setting, row->second);
      return judge(setting, row->second.set(setting.value), row->second.secret);
    }
    if (auto verdict = set_family_key(loaded_.config, setting.key, setting.value)) {
      return judge(setting, *std::move(verdict), false);
    }
    if (const ForeignKey* foreign = find_foreign_key(setting.key)) return judge_foreign(setting, *foreign);
    if (is_membership_key(setting.key)) {
      members_.push_back(setting);  // multiAddress.enabled may come after them
      note_members_source(setting);
    } else {
      warn_of_unknown(setting);
    }
    return {};
  }

  void note_members_source(const Setting& setting) {
    members_outside_file_ |= setting.origin == Setting::Origin::kCommandLine;
  }

  static bool is_membership_key(std::string_view key) {
    return key.starts_with("server.") || key.starts_with("group.") || key.starts_with("weight.");
  }

  // Messages show only names, never values: some values are passwords.
  std::expected<void, ConfigError> judge_foreign(const Setting& setting, const ForeignKey& foreign) {
    if (asks_for_nothing(foreign, setting.value)) return {};
    if (foreign.fate == ForeignKey::Fate::kRefused)
      return wrong(fmt::format("{}: not supported: {}", setting.where, foreign.reason));
    loaded_.warnings.push_back(fmt::format("{}: has no effect: {}", setting.where, foreign.reason));
    return {};
  }

  void warn_of_unknown(const Setting& setting) {
    const bool prefixed = setting.origin == Setting::Origin::kFile && setting.key.starts_with("zookeeper.");
    loaded_.warnings.push_back(
        setting.where +
        (prefixed ? ": unknown key (in a file keys are written without zookeeper.)" : ": unknown key"));
  }

  void warn_of_exposed_secret(const Setting& setting, const Key& key) {
    if (!key.secret || setting.origin != Setting::Origin::kCommandLine) return;
    loaded_.warnings.push_back(setting.where + ": a command line can be read by every user of the machine");
  }

  std::expected<void, ConfigError> judge(const Setting& setting, Verdict verdict, bool secret) {
    if (verdict.kind == Verdict::Kind::kRejected) return wrong(complaint(setting, secret, verdict.sentence));
    if (verdict.kind == Verdict::Kind::kWarned) {
      loaded_.warnings.push_back(complaint(setting, secret, verdict.sentence));
    }
    return {};
  }

  std::expected<void, ConfigError> add_members() {
    const std::string dynamic_file = loaded_.config.ensemble.dynamic_config_file;
    if (!dynamic_file.empty()) {
      if (!members_.empty()) return wrong(members_.front().where + ": must be in the dynamicConfigFile");
      TRY_ASSIGN(const std::vector<Setting> settings, read_settings(dynamic_file, read_));
      members_ = last_of_each(settings);
    }
    EnsembleConfig& ensemble = loaded_.config.ensemble;
    for (const Setting& setting : members_) {
      if (!is_membership_key(setting.key)) return wrong(setting.where + ": not a key of a dynamic file");
      const auto added = zab::add_membership_key(ensemble.members, setting.key, setting.value,
                                                 {.multi_address = ensemble.multi_address});
      if (!added) return wrong(complaint(setting, false, added.error().sentence));
    }
    ensemble.members.set_version(zab::version_of_file_name(dynamic_file));
    return {};
  }

  // A standalone server does not need a myid, except when its only server line contains the client port.
  std::expected<void, ConfigError> read_my_id() {
    if (loaded_.config.ensemble.members.servers().empty()) return {};
    const std::string path = loaded_.config.data_dir + "/myid";
    const auto contents = read_(path);
    if (!contents) {
      if (contents.error().code == ENOENT) return {};
      return wrong(contents.error().what);
    }
    const std::string_view line = std::string_view(*contents).substr(0, contents->find('\n'));
    const auto id = parse_whole_number(trimmed(line), Notation::kDecimal);
    if (!id || *id < 0) return wrong(fmt::format("{}: {} is not a server id", path, escaped(line, 64)));
    loaded_.config.ensemble.my_id = ServerId{*id};
    return {};
  }

  const FileReader& read_;
  LoadedConfig loaded_;
  Draft draft_;
  KeyTable table_;
  std::vector<Setting> members_;
  bool members_outside_file_ = false;
};

}  // namespace

std::expected<std::vector<Setting>, ConfigError> read_settings(const std::string& file,
                                                               const FileReader& read) {
  const auto text = read(file);
  if (!text) return wrong(text.error().what);
  auto properties = parse_properties(*text);
  if (!properties) {
    const auto& [line, message] = properties.error();
    return wrong(line > 0 ? fmt::format("{}:{}: {}", file, line, message)
                          : fmt::format("{}: {}", file, message));
  }
  std::vector<Setting> settings;
  for (const Property& property : *properties) {
    const std::string_view key = trimmed(property.key);
    settings.push_back({.key = std::string(key),
                        .value = std::string(trimmed(property.value)),
                        .where = fmt::format("{}:{}: {}", file, property.line, escaped(key)),
                        .origin = Setting::Origin::kFile,
                        .line = property.line});
  }
  return settings;
}

std::expected<LoadedConfig, ConfigError> load_config(std::span<const std::string> arguments,
                                                     const FileReader& read) {
  return Loader(read).load(arguments);
}

IoResult<std::string> read_config_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::unexpected(io_error(errno, "cannot open " + path));
  std::string text;
  std::array<char, 16384> block{};
  ssize_t got = 0;
  // Read at most one block more than the limit: the parser rejects a larger file, and an endless device is
  // not read forever.
  while (text.size() <= kPropertiesBytesMax && (got = ::read(fd, block.data(), block.size())) > 0) {
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  const int failure = errno;
  ::close(fd);
  if (got < 0) return std::unexpected(io_error(failure, "cannot read " + path));
  return text;
}

}  // namespace drover::server
