// SPDX-License-Identifier: Apache-2.0
//
// All output of the shell. Results and events come from different threads and must not appear in the middle
// of a line that is being typed, so everything goes through here.
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
  void err(std::string_view text);  // standard error, after everything printed before
  void out_line(std::string_view text) { out(std::string(text).append("\n")); }
  void err_line(std::string_view text) { err(std::string(text).append("\n")); }
  // Prints an event; safe to call from any thread. While a line is being typed, events are kept until the
  // editor takes them.
  void event(std::string_view text);
  // Call it after each command.
  void flush();
  // True if output could not be written, because the reader is gone.
  bool is_broken();

  bool is_terminal() const { return out_is_terminal_; }
  bool is_error_terminal() const { return err_is_terminal_; }
  // On a terminal, unless NO_COLOR is set.
  bool has_colours() const { return colours_; }
  // Wraps it in an SGR sequence such as "1;32", if colours are on.
  std::string coloured(std::string_view text, std::string_view code) const;

  // --- for the line editor ---
  // Starts keeping events; `wake` is called for each, on any thread.
  void begin_line(std::function<void()> wake);
  void end_line();
  // Takes the kept events.
  std::string take_events();

 private:
  std::mutex mutex_;
  std::function<void()> wake_;  // set while a line is being typed
  std::string kept_;
  bool out_is_terminal_;
  bool err_is_terminal_;
  bool colours_;
};

}  // namespace drover::cli
