// SPDX-License-Identifier: Apache-2.0
#include "cli/common/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

namespace drover::cli::observe {
namespace {

std::atomic<bool> interrupted = false;

// The second signal ends the process at once.
void on_interrupt(int number) {
  if (interrupted.exchange(true)) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}
void on_resize(int) {}  // Only interrupts the wait for a key.

void catch_one(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
}

void write_all(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

void catch_signals() {
  catch_one(SIGINT, on_interrupt);
  catch_one(SIGTERM, on_interrupt);
}

bool is_interrupted() { return interrupted; }

Screen::Screen() {
  catch_signals();
  catch_one(SIGWINCH, on_resize);
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  write_all("\x1b[?1049h\x1b[?25l");  // The other screen, without a cursor.
}

Screen::~Screen() {
  write_all("\x1b[?25h\x1b[?1049l");
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Screen::Size Screen::size() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void Screen::draw(const std::vector<std::string>& lines) const {
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[K";
  write_all(text + "\x1b[J");
}

std::optional<char> Screen::key(std::chrono::milliseconds patience) const {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, static_cast<int>(patience.count())) <= 0) {
    if (is_interrupted()) return 'q';
    return std::nullopt;
  }
  char c = 'q';
  if (read(STDIN_FILENO, &c, 1) <= 0) return 'q';
  return c;
}

}  // namespace drover::cli::observe
