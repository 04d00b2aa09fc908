// SPDX-License-Identifier: Apache-2.0
//
// `edit`: opens a node's data in the user's editor.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "cli/commands/commands.h"
#include "cli/common/text.h"

namespace drover::cli {
namespace {

// A private temporary file. It is removed at the end, unless it is the only copy of the user's text.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& content) {
    const char* place = std::getenv("TMPDIR");
    name_ = std::string(place == nullptr || *place == '\0' ? "/tmp" : place) + "/drover-edit-XXXXXX";
    const int file = ::mkstemp(name_.data());  // readable only by the user
    if (file < 0) return;
    ok_ = ::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    ::close(file);
  }
  ~ScratchFile() {
    if (!kept_) std::remove(name_.c_str());
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  bool ok() const { return ok_; }
  const std::string& name() const { return name_; }
  void keep() { kept_ = true; }
  std::string content() const {
    std::ifstream file(name_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string name_;
  bool ok_ = false;
  bool kept_ = false;
};

std::string editor() {
  for (const char* variable : {"VISUAL", "EDITOR"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return value;
  }
  return "vi";
}

}  // namespace

Outcome edit_node(Context& context, const Flags& flags) {
  const std::string& path = flags.arguments()[0];
  CLI_TRY(check_path(path));
  CLI_GET(node, Context::ask(context.client().get(path, context.wait())));
  ScratchFile file(node.data);
  if (!file.ok()) return fail_with("cannot write " + file.name());
  context.output.flush();
  // The editor is a command line of the user's own, such as "code --wait".
  const int status = std::system((editor() + " '" + file.name() + "'").c_str());
  if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail_with("the editor failed and nothing was changed; set $VISUAL or $EDITOR");
  }
  std::string changed = file.content();
  // Editors add a final newline. Remove it if the node had none.
  if (changed.ends_with('\n') && !node.data.ends_with('\n')) changed.pop_back();
  if (changed == node.data) {
    context.output.err_line("Not changed");
    return {};
  }
  const auto written = Context::ask(context.client().set(path, changed, node.stat.version, context.wait()));
  if (written) return {};
  file.keep();
  Failure failure = fail_with(written.error()).error();
  failure.message += " (your text is in " + file.name() + ")";
  return fail_with(std::move(failure));
}

}  // namespace drover::cli
