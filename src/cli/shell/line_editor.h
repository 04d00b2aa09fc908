// SPDX-License-Identifier: Apache-2.0
//
// Reads lines from a terminal with libedit: editing, history and completion. Events are printed above the
// line that is being typed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/common/output.h"
#include "cli/shell/completion.h"

namespace drover::cli {

struct LineEditorOptions {
  std::function<std::string()> prompt;  // called whenever the line is drawn
  std::function<Completions(std::string_view line)> complete;
  std::string history_file = {};  // empty: none is kept
};

// Only one may exist: it owns the terminal.
class LineEditor {
 public:
  LineEditor(Output& output, LineEditorOptions options);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Empty: end of input.
  std::optional<std::string> read();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// True if the line may contain a password and must not be stored.
bool belongs_into_history(std::string_view line);

}  // namespace drover::cli
