// SPDX-License-Identifier: Apache-2.0
//
// Where the shell's words go. Results and events come from different threads, and whoever is typing a line
// wants neither in the middle of it: everything that is printed goes through here.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace drover::cli {

class Output {
 public:
  Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void out(std::string_view text);  // standard output, without adding anything
  void err(std::string_view text);  // standard error, behind all that was printed before
  void out_line(std::string_view text) { out(std::string(text).append("\n")); }
  void err_line(std::string_view text) { err(std::string(text).append("\n")); }
  // Something that happened, at a moment of its own; from any thread. While a line is being typed it is kept
  // until its editor asks for it.
  void event(std::string_view text);
  // After each command.
  void flush();
  // True: what was printed could not be written, because nobody reads it any more.
  bool is_broken();

  bool is_terminal() const { return out_is_terminal_; }
  bool is_error_terminal() const { return err_is_terminal_; }
  // On a terminal, unless NO_COLOR is set.
  bool has_colours() const { return colours_; }
  // Wraps it in an SGR sequence, "1;32", where there are colours.
  std::string coloured(std::string_view text, std::string_view code) const;

  // --- for the line editor ---
  // From here on events are kept; `wake` is called for each, on any thread.
  void begin_line(std::function<void()> wake);
  void end_line();
  // What has been kept.
  std::string take_events();

 private:
  std::mutex mutex_;
  std::function<void()> wake_;  // set: a line is being typed
  std::string kept_;
  bool out_is_terminal_;
  bool err_is_terminal_;
  bool colours_;
};

}  // namespace drover::cli
