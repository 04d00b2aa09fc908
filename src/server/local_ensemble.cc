// SPDX-License-Identifier: Apache-2.0
//
// Every server is a separate process, started as `drover server`, with its configuration and its log beside
// its data. So it behaves as in production. This process only watches the servers, shows the leader, and
// stops all of them.
#include "server/local_ensemble.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/number.h"

namespace drover::server {

const char* const kEnsembleHelp =
    R"(drover ensemble: an ensemble of servers on this machine, for trying things out

usage: drover ensemble N [--dir DIRECTORY] [--port PORT] [--tick MILLISECONDS]

  N                 number of servers, 1 to 9; 3 survive the loss of one, 5 of two
  --dir DIRECTORY   configuration, data and logs (./drover-ensemble); kept for the next start
  --port PORT       client port of the first server (2181); the others follow. The ports between servers are
                    1000 and 2000 higher, the HTTP port is 3000 higher
  --tick MS         tickTime (500); a lost leader is noticed within a few ticks

Prints the connect string, each server's role, and every change of roles. Ctrl-C or SIGTERM stops all servers.
Try this: kill -9 the leader (its process id is shown) and see another one lead. Then start it again with
`drover server DIRECTORY/server-N/zoo.cfg`.
)";

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int kServersMax = 9;
constexpr auto kLookEvery = 200ms;
constexpr auto kStartWithin = 30s;
constexpr auto kStopWithin = 10s;

volatile std::sig_atomic_t stop_asked = 0;

struct Options {
  int servers = 0;
  fs::path directory = "drover-ensemble";
  int port = 2181;
  int tick_ms = 500;
};

struct Process {
  int id = 0;
  fs::path directory;
  int port = 0;
  pid_t process = 0;  // 0: not running
  std::string role = "starting";
};

int complain(const std::string& sentence) {
  std::fprintf(stderr, "drover ensemble: %s\n", sentence.c_str());
  return 2;
}

std::optional<int> number(std::string_view text, int least, int most) {
  const auto value = parse_number<int>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

// Returns one sentence if the arguments are wrong.
std::optional<std::string> parse(const std::vector<std::string>& arguments, Options& options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with("--")) {
      const auto n = number(word, 1, kServersMax);
      if (!n || options.servers != 0) return "expected one number of servers from 1 to 9, not '" + word + "'";
      options.servers = *n;
      continue;
    }
    if (i + 1 == arguments.size()) return word + " needs a value";
    const std::string& value = arguments[++i];
    if (word == "--dir") {
      options.directory = value;
    } else if (const bool port = word == "--port"; port || word == "--tick") {
      const auto n = number(value, port ? 1 : 10, port ? 62'000 : 600'000);
      if (!n) return word + ": '" + value + "' is not a number in its range; see --help";
      (port ? options.port : options.tick_ms) = *n;
    } else {
      return "unknown option '" + word + "'; see --help";
    }
  }
  if (options.servers == 0) return "how many servers? For example: drover ensemble 3";
  return std::nullopt;
}

bool write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

// An ensemble of a different size must not be started in this directory: its servers would vote with each
// other.
std::optional<std::string> check_directory(const Options& options) {
  const auto extra = options.directory / ("server-" + std::to_string(options.servers + 1));
  const auto first = options.directory / "server-1";
  const auto last = options.directory / ("server-" + std::to_string(options.servers));
  if (fs::exists(extra) || (fs::exists(first) && !fs::exists(last))) {
    return options.directory.string() + " holds an ensemble of another size; use another --dir";
  }
  return std::nullopt;
}

int http_port(const Process& member) { return member.port + 3000; }

std::string configuration(const Options& options, const Process& member) {
  std::string text = "# Written by `drover ensemble`.\n";
  text += "tickTime=" + std::to_string(options.tick_ms) + "\ninitLimit=20\nsyncLimit=5\n";
  text += "dataDir=" + member.directory.string() + "\n";
  text += "clientPort=" + std::to_string(member.port) + "\nclientPortAddress=127.0.0.1\n";
  text += "admin.serverPort=" + std::to_string(http_port(member)) + "\nstandaloneEnabled=false\n";
  for (int i = 1; i <= options.servers; ++i) {
    const int base = options.port + i - 1;
    text += "server." + std::to_string(i) + "=127.0.0.1:" + std::to_string(base + 1000) + ":" +
            std::to_string(base + 2000) + ";127.0.0.1:" + std::to_string(base) + "\n";
  }
  return text;
}

std::optional<std::string> prepare(const Options& options, Process& member) {
  std::error_code error;
  const bool is_new = !fs::exists(member.directory / "myid");
  fs::create_directories(member.directory, error);
  if (error) return member.directory.string() + ": " + error.message();
  bool written = write_file(member.directory / "zoo.cfg", configuration(options, member)) &&
                 write_file(member.directory / "myid", std::to_string(member.id) + "\n");
  // This server is known to be new, so its empty disk is correct.
  if (is_new) written = written && write_file(member.directory / "initialize", "");
  if (!written) return "cannot write to " + member.directory.string();
  return std::nullopt;
}

void start(Process& member) {
  const pid_t child = fork();
  if (child != 0) {
    member.process = child;
    return;
  }
  setpgid(0, 0);  // Ctrl-C goes only to this process, which stops the servers in order.
  const std::string log = (member.directory / "drover.log").string();
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd >= 0) {
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
  }
  const std::string config = (member.directory / "zoo.cfg").string();
  execl("/proc/self/exe", "drover", "server", config.c_str(), nullptr);
  _exit(127);
}

// The answer to `srvr`; empty: no answer.
std::string ask(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  const timeval patience{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
      send(fd, "srvr", 4, MSG_NOSIGNAL) == 4) {
    std::array<char, 4096> bytes{};
    for (ssize_t n = 0; (n = recv(fd, bytes.data(), bytes.size(), 0)) > 0;) {
      answer.append(bytes.data(), static_cast<std::size_t>(n));
    }
  }
  close(fd);
  return answer;
}

std::string role_of(const Process& member) {
  if (member.process == 0) return "stopped";
  const std::string answer = ask(member.port);
  const auto at = answer.find("Mode: ");
  if (at == std::string::npos) return answer.empty() ? "starting" : "looking for a leader";
  return answer.substr(at + 6, answer.find('\n', at) - at - 6);
}

void print_roles(const std::vector<Process>& members) {
  for (const Process& m : members) {
    std::printf("  server %d   127.0.0.1:%-5d   pid %-7d   http://127.0.0.1:%-5d   %s\n", m.id, m.port,
                static_cast<int>(m.process), http_port(m), m.role.c_str());
  }
}

// Reaps ended processes; true if there were any.
bool reap(std::vector<Process>& members) {
  bool any = false;
  int status = 0;
  for (Process& m : members) {
    if (m.process == 0 || waitpid(m.process, &status, WNOHANG) != m.process) continue;
    any = true;
    m.process = 0;
    const std::string how = WIFSIGNALED(status) ? "was killed by signal " + std::to_string(WTERMSIG(status))
                                                : "exited with code " + std::to_string(WEXITSTATUS(status));
    std::printf("server %d %s; its log is %s\n", m.id, how.c_str(), (m.directory / "drover.log").c_str());
  }
  return any;
}

bool look(std::vector<Process>& members) {
  bool changed = reap(members);
  for (Process& m : members) {
    const std::string role = role_of(m);
    changed = changed || role != m.role;
    m.role = role;
  }
  return changed;
}

bool all_serve(const std::vector<Process>& members) {
  for (const Process& m : members) {
    if (m.role != "leader" && m.role != "follower") return false;
  }
  return true;
}

bool any_runs(const std::vector<Process>& members) {
  for (const Process& m : members) {
    if (m.process != 0) return true;
  }
  return false;
}

void stop_all(std::vector<Process>& members) {
  for (const Process& m : members) {
    if (m.process != 0) kill(m.process, SIGTERM);
  }
  const auto give_up = Clock::now() + kStopWithin;
  while (any_runs(members) && Clock::now() < give_up) {
    for (Process& m : members) {
      if (m.process != 0 && waitpid(m.process, nullptr, WNOHANG) == m.process) m.process = 0;
    }
    poll(nullptr, 0, 20);
  }
  for (const Process& m : members) {
    if (m.process != 0) kill(m.process, SIGKILL);
  }
}

std::string connect_string(const std::vector<Process>& members) {
  std::string text;
  for (const Process& m : members) {
    if (!text.empty()) text += ',';
    text += "127.0.0.1:" + std::to_string(m.port);
  }
  return text;
}

int watch(const Options& options, std::vector<Process>& members) {
  const auto give_up = Clock::now() + kStartWithin;
  while (!stop_asked && any_runs(members) && !all_serve(members) && Clock::now() < give_up) {
    look(members);
    poll(nullptr, 0, 20);
  }
  if (stop_asked) return 0;
  if (!all_serve(members)) {
    print_roles(members);
    std::fprintf(stderr,
                 "drover ensemble: not all servers are serving; the logs are in %s/server-*/drover.log\n",
                 options.directory.c_str());
    return 1;
  }
  std::printf("an ensemble of %d in %s\n", options.servers, options.directory.c_str());
  print_roles(members);
  std::printf("connect with   %s\nCtrl-C stops it\n", connect_string(members).c_str());
  std::fflush(stdout);
  while (!stop_asked && any_runs(members)) {
    poll(nullptr, 0, static_cast<int>(std::chrono::milliseconds(kLookEvery).count()));
    if (stop_asked || !look(members)) continue;
    std::printf("now:\n");
    print_roles(members);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int run_ensemble(const std::vector<std::string>& arguments) {
  Options options;
  if (const auto wrong = parse(arguments, options)) return complain(*wrong);
  std::error_code ignored;
  options.directory = fs::absolute(options.directory, ignored);
  if (const auto wrong = check_directory(options)) return complain(*wrong);
  std::vector<Process> members;
  for (int i = 1; i <= options.servers; ++i) {
    members.push_back({i, options.directory / ("server-" + std::to_string(i)), options.port + i - 1});
    if (!ask(members.back().port).empty())
      return complain("port " + std::to_string(members.back().port) + " is in use; choose another --port");
    if (const auto wrong = prepare(options, members.back())) return complain(*wrong);
  }
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  for (Process& member : members) start(member);
  const int code = watch(options, members);
  stop_all(members);
  std::printf("stopped\n");
  return code;
}

}  // namespace drover::server
