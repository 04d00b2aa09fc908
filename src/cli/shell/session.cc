// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/common/text.h"
#include "cli/shell/words.h"

namespace drover::cli {
namespace {

constexpr int kUnknownCommandExit = 127;
constexpr int kHistoryShown = 10;

// Removes --json from the words, unless "--" comes first.
bool take_json(std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto found = std::find(words.begin(), end, "--json");
  if (found == end) return false;
  words.erase(found);
  return true;
}

// Parses numbers as Integer.decode() does: 10, 0x0a, #a, 012.
std::optional<int> decode_int(std::string text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.erase(0, 1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.erase(0, 2);
  } else if (text.starts_with('#')) {
    base = 16;
    text.erase(0, 1);
  } else if (text.starts_with('0') && text.size() > 1) {
    base = 8;
    text.erase(0, 1);
  }
  const auto value = parse_long(text, base);
  if (!value || *value > INT32_MAX || *value < 0) return std::nullopt;
  return static_cast<int>(negative ? -*value : *value);
}

}  // namespace

Session::Session(StartOptions options, Output& output)
    : options_(std::move(options)), output_(output), watches_(output) {
  watches_.set_json(options_.json);
  watches_.set_quiet(is_quiet());
}

Outcome Session::connect() {
  if (!is_quiet()) output_.out_line("Connecting to " + options_.connection.servers);
  output_.flush();
  return connect_to(options_.connection.servers);
}

Outcome Session::connect_to(std::string servers) {
  if (connection_ && connection_->is_alive()) connection_->close({});
  options_.connection.servers = std::move(servers);
  auto opened = Connection::open(options_.connection, watches_);
  if (!opened) return fail_with(opened.error());
  connection_ = *std::move(opened);
  if (options_.wait_for_connection) CLI_TRY(connection_->wait_until_connected(options_.connection.timeout));
  return {};
}

std::string Session::prompt() const {
  return fmt::format("[zk: {}({}) {}] ", connection_->servers(), connection_->state_name(), count_);
}

void Session::execute_line(const std::string& line) {
  if (line.empty()) return;
  history_[count_] = line;
  execute(split_words(line));
  ++count_;
}

void Session::execute(std::vector<std::string> words) {
  const bool json = options_.json || take_json(words);
  if (options_.json) take_json(words);
  const bool was_json = std::exchange(options_.json, json);
  const Outcome outcome = dispatch(std::move(words));
  options_.json = was_json;
  if (!outcome) report(outcome.error(), json);
  if (!leaving_) exit_code_ = outcome ? 0 : outcome.error().exit_code;
  output_.flush();
}

void Session::report(const Failure& failure, bool json) {
  if (json) {
    JsonObject object;
    object.text("error", failure.error ? name_of(failure.error->code) : "Usage");
    if (failure.error) object.number("code", std::to_underlying(failure.error->code));
    if (failure.error && !failure.error->path.empty()) object.text("path", failure.error->path);
    object.text("message", failure.message);
    if (!failure.hint.empty()) object.text("hint", failure.hint);
    output_.err(object.line());
    return;
  }
  output_.err_line(failure.message);
  // Scripts get only ZooKeeper's messages, unless these do not say what happened.
  const bool unclear =
      failure.error && (*failure.error == Errc::kDeadline || *failure.error == Errc::kConnectionLoss ||
                        *failure.error == Errc::kAuthFailed);
  if (!failure.hint.empty() && (output_.is_error_terminal() || unclear))
    output_.err_line("(" + failure.hint + ")");
}

Outcome Session::dispatch(std::vector<std::string> words) {
  if (words.empty()) {
    output_.err(usage_text());
    return fail_with("No command entered");
  }
  const Command* command = find_command(words[0]);
  if (command == nullptr) return unknown_command(words[0]);
  const bool own = command->run == nullptr;
  if (own && command->name != "close") CLI_TRY(run_own(*command, words, options_.json));
  if (leaving_ || (command->is_ours && own)) return {};
  if (!connection_->is_alive()) {
    output_.out_line("Not connected");
    return {};
  }
  if (command->name == "close") connection_->close({});
  if (own) return {};
  Context context{*connection_, output_, watches_, options_.json};
  words.erase(words.begin());
  return run_command(*command, context, std::move(words));
}

Outcome Session::run_own(const Command& command, const std::vector<std::string>& words, bool json) {
  if (command.name == "quit") {
    leaving_ = true;
    leave();
  } else if (command.name == "redo") {
    return redo(words);
  } else if (command.name == "history") {
    show_history(json);
  } else if (command.name == "printwatches") {
    print_watches(words, json);
  } else if (command.name == "connect") {
    return connect_to(words.size() > 1 ? words[1] : options_.connection.servers);
  } else if (command.name == "help") {
    return show_help(words);
  }
  return {};
}

Outcome Session::redo(const std::vector<std::string>& words) {
  if (words.size() < 2) return {};
  const auto number = decode_int(words[1]);
  if (!number) return fail_with("redo takes the number of a line, as `history` shows it");
  if (*number >= count_ || *number < 0) return fail_with("Command index out of range");
  const std::string line = history_[*number];
  std::vector<std::string> again = split_words(line);
  if (!again.empty() && again[0] == "redo") return fail_with("No redoing redos");
  history_[count_] = line;
  execute(std::move(again));
  return {};
}

void Session::show_history(bool json) {
  std::vector<std::string> entries;
  for (int i = std::max(0, count_ - kHistoryShown); i <= count_; ++i) {
    const auto found = history_.find(i);
    const std::string line = found == history_.end() ? "null" : found->second;
    entries.push_back(JsonObject().number("number", i).text("line", line).str());
    if (!json) output_.out_line(std::to_string(i) + " - " + line);
  }
  if (json) output_.out(JsonObject().json("history", json_array(entries)).line());
}

void Session::print_watches(const std::vector<std::string>& words, bool json) {
  if (words.size() > 1) {
    watches_.set_printing(words[1] == "on");
  } else if (json) {
    output_.out(JsonObject().boolean("printwatches", watches_.is_printing()).line());
  } else {
    output_.out_line(std::string("printwatches is ") + (watches_.is_printing() ? "on" : "off"));
  }
}

Outcome Session::show_help(const std::vector<std::string>& words) {
  if (words.size() < 2) {
    output_.out(help_text());
    return {};
  }
  const Command* command = find_command(words[1]);
  if (command == nullptr) return unknown_command(words[1]);
  output_.out_line(usage_of(*command));
  output_.out_line("  " + std::string(command->summary));
  return {};
}

Outcome Session::unknown_command(const std::string& name) {
  // A list of all commands would scroll the error off the screen.
  if (!output_.is_error_terminal()) output_.err(usage_text());
  return std::unexpected(Failure{
      "Command not found: Command not found " + name, kUnknownCommandExit, {}, "`help` lists the commands"});
}

}  // namespace drover::cli
