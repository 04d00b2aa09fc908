// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/terminal.h"

#include <chrono>
#include <cstdlib>

#include "cli/shell/line_editor.h"

namespace drover::cli {
namespace {

// Tab completion must not wait long.
constexpr std::chrono::milliseconds kCompletionPatience{1'000};

std::string history_file() {
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.drover_history";
}

std::vector<std::string> children_of(Session& session, const std::string& path) {
  if (!session.connection().is_connected()) return {};
  auto listed = sync_wait(session.connection().client().children(path, Wait::within(kCompletionPatience)));
  return listed ? std::move(listed->names) : std::vector<std::string>();
}

std::string coloured_prompt(Session& session) {
  std::string prompt = session.prompt();
  if (!session.output().has_colours()) return prompt;
  const char* colour = session.connection().is_connected() ? "\1\033[32m\1" : "\1\033[33m\1";
  // The editor prints a sequence only with the next character, so never at the end.
  const std::size_t last = prompt.size() - 1;
  return colour + prompt.substr(0, last) + "\1\033[0m\1" + prompt.substr(last);
}

}  // namespace

void run_at_terminal(Session& session) {
  session.output().out_line("Welcome to ZooKeeper! (`help` lists the commands, tab completes them)");
  // Wait briefly, so that the first prompt says CONNECTED instead of CONNECTING.
  (void)session.connection().wait_until_connected(kCompletionPatience);
  LineEditor editor(session.output(), {.prompt = [&session] { return coloured_prompt(session); },
                                       .complete =
                                           [&session](std::string_view line) {
                                             return complete(line, [&](const std::string& path) {
                                               return children_of(session, path);
                                             });
                                           },
                                       .history_file = history_file()});
  while (!session.is_leaving()) {
    const auto line = editor.read();
    if (!line) {
      session.output().out("\n");
      return;
    }
    session.execute_line(*line);
  }
}

}  // namespace drover::cli
