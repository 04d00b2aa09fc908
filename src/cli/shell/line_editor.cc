// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/line_editor.h"

#include <histedit.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cwchar>

namespace drover::cli {
namespace {

constexpr int kHistoryMax = 1000;
constexpr std::size_t kCompletionsShownMax = 200;

std::string columns(const std::vector<std::string>& words) {
  std::string text;
  std::size_t shown = 0;
  for (const std::string& word : words) {
    if (shown++ == kCompletionsShownMax) {
      return text + "... and " + std::to_string(words.size() - kCompletionsShownMax) + " more\n";
    }
    text += word + (word.ends_with(' ') ? " " : "  ");
  }
  return text + "\n";
}

}  // namespace

struct LineEditor::State {
  State(Output& o, LineEditorOptions opts) : output(o), options(std::move(opts)) {}

  void open();
  void bind_keys();
  void show_events();
  unsigned char complete_word();
  static char* prompt_of(EditLine* el);
  static int read_char(EditLine* el, wchar_t* to);
  static unsigned char on_tab(EditLine* el, int key);
  static State& of(EditLine* el);

  Output& output;
  LineEditorOptions options;
  EditLine* el = nullptr;
  History* history = nullptr;
  HistEvent last{};
  int wake = -1;
  std::string prompt;
  std::mbstate_t decoding{};
};

LineEditor::State& LineEditor::State::of(EditLine* el) {
  void* self = nullptr;
  el_get(el, EL_CLIENTDATA, &self);
  return *static_cast<State*>(self);
}

void LineEditor::State::open() {
  // Otherwise libedit takes every byte for a character.
  if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  wake = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  el = el_init("drover", stdin, stdout, stderr);
  el_set(el, EL_CLIENTDATA, this);
  el_set(el, EL_PROMPT_ESC, &State::prompt_of, '\1');
  el_set(el, EL_GETCFN, &State::read_char);
  history = history_init();
  ::history(history, &last, H_SETSIZE, kHistoryMax);
  ::history(history, &last, H_SETUNIQUE, 1);
  if (!options.history_file.empty()) ::history(history, &last, H_LOAD, options.history_file.c_str());
  el_set(el, EL_HIST, ::history, history);
  bind_keys();
}

void LineEditor::State::bind_keys() {
  el_set(el, EL_EDITOR, "emacs");
  el_set(el, EL_ADDFN, "complete-word", "complete a command or a path", &State::on_tab);
  el_set(el, EL_BIND, "\t", "complete-word", nullptr);
  el_set(el, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  // Ctrl-C discards the line, not the session.
  el_set(el, EL_SETTY, "-d", "-isig", nullptr);
  el_set(el, EL_BIND, "^C", "em-kill-line", nullptr);
  el_source(el, nullptr);  // the user's own ~/.editrc
}

// Escape sequences stand between \1, so that they do not count as width.
char* LineEditor::State::prompt_of(EditLine* el) {
  State& self = of(el);
  self.prompt = self.options.prompt();
  return self.prompt.data();
}

void LineEditor::State::show_events() {
  std::uint64_t count = 0;
  (void)!::read(wake, &count, sizeof count);
  std::string events = output.take_events();
  if (events.empty()) return;
  events.erase(0, events.find_first_not_of('\n'));
  std::fputs("\r\033[K", stdout);
  std::fwrite(events.data(), 1, events.size(), stdout);
  std::fflush(stdout);
  el_set(el, EL_REFRESH);
}

int LineEditor::State::read_char(EditLine* el, wchar_t* to) {
  State& self = of(el);
  for (;;) {
    std::array<pollfd, 2> ready{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{self.wake, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    if (ready[1].revents != 0) self.show_events();
    if (ready[0].revents == 0) continue;
    char byte = 0;
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return static_cast<int>(got);
    const std::size_t done = std::mbrtowc(to, &byte, 1, &self.decoding);
    if (done == static_cast<std::size_t>(-2)) continue;  // incomplete character
    if (done == static_cast<std::size_t>(-1)) {
      self.decoding = {};
      continue;
    }
    // A Ctrl-D that came while no line was edited; libedit would quote the next key.
    if (done == 0) continue;
    return 1;
  }
}

unsigned char LineEditor::State::on_tab(EditLine* el, int) { return of(el).complete_word(); }

unsigned char LineEditor::State::complete_word() {
  const LineInfo* line = el_line(el);
  const Completions found =
      options.complete(std::string_view(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer)));
  if (found.words.empty()) return CC_REFRESH_BEEP;
  const std::string rest = found.common_rest();
  if (!rest.empty()) {
    el_insertstr(el, rest.c_str());
    return CC_REFRESH;
  }
  if (found.words.size() == 1) return CC_REFRESH;
  std::fputs("\n", stdout);
  const std::string list = columns(found.words);
  std::fwrite(list.data(), 1, list.size(), stdout);
  std::fflush(stdout);
  return CC_REDISPLAY;
}

LineEditor::LineEditor(Output& output, LineEditorOptions options)
    : state_(std::make_unique<State>(output, std::move(options))) {
  state_->open();
}

LineEditor::~LineEditor() {
  State& state = *state_;
  if (!state.options.history_file.empty()) {
    // libedit sets the mode after creating the file; protect it until then.
    const ::mode_t before = ::umask(077);
    ::history(state.history, &state.last, H_SAVE, state.options.history_file.c_str());
    ::umask(before);
  }
  ::history_end(state.history);
  el_end(state.el);
  ::close(state.wake);
}

std::optional<std::string> LineEditor::read() {
  State& state = *state_;
  state.output.begin_line([wake = state.wake] {
    const std::uint64_t one = 1;
    (void)!::write(wake, &one, sizeof one);
  });
  // Set this before the prompt is drawn; otherwise the terminal takes an early Ctrl-D.
  el_set(state.el, EL_PREP_TERM, 1);
  int count = 0;
  const char* text = el_gets(state.el, &count);
  std::optional<std::string> line;
  if (text != nullptr && count > 0) line.emplace(text, static_cast<std::size_t>(count));
  state.output.end_line();
  if (!line) return std::nullopt;
  while (line->ends_with('\n') || line->ends_with('\r')) line->pop_back();
  if (belongs_into_history(*line)) ::history(state.history, &state.last, H_ENTER, line->c_str());
  return line;
}

bool belongs_into_history(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == 0 && !line.starts_with("addauth");
}

}  // namespace drover::cli
