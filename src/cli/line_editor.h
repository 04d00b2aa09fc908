// SPDX-License-Identifier: Apache-2.0
//
// Lines from a terminal: editing, history and completion by libedit, and events that are printed above the
// line being typed, which stays as it is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/completion.h"
#include "cli/output.h"

namespace drover::cli {

struct LineEditorOptions {
  std::function<std::string()> prompt;  // asked whenever the line is drawn
  std::function<Completions(std::string_view line)> complete;
  std::string history_file = {};  // empty: none is kept
};

// One at a time: it owns the terminal.
class LineEditor {
 public:
  LineEditor(Output& output, LineEditorOptions options);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Nothing: the input has ended.
  std::optional<std::string> read();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A password does not belong into a file.
bool belongs_into_history(std::string_view line);

}  // namespace drover::cli
