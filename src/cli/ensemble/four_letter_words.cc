// SPDX-License-Identifier: Apache-2.0
#include "cli/ensemble/four_letter_words.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace drover::cli::observe {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kAnswerBytesMax = 64 << 20;  // `cons` of very many connections

// One request: connects, sends the word, and reads until the server closes.
class WordQuery {
 public:
  explicit WordQuery(const Question& question) : word_(question.word) { begin(question.address); }
  ~WordQuery() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  WordQuery(const WordQuery&) = delete;
  WordQuery& operator=(const WordQuery&) = delete;

  void begin(const Address& address) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(address.port);
    if (const int error = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found); error != 0) {
      return end(gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
    descriptor_ = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor_ < 0) return end(std::strerror(errno));
    if (::connect(descriptor_, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS) {
      end(std::strerror(errno));
    }
  }
  bool is_over() const { return over_; }
  pollfd wanted() const { return {descriptor_, static_cast<short>(said_ ? POLLIN : POLLOUT), 0}; }
  void go_on() {
    if (said_) {
      listen();
    } else {
      say();
    }
  }
  void end(std::string_view why) {
    over_ = true;
    answer_.took = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - begun_);
    if (answer_.heard == Heard::kNothing) answer_.text = why;
  }
  Answer answer() && { return std::move(answer_); }

 private:
  void say() {
    // A failed connection is reported by the first write.
    const ssize_t sent = send(descriptor_, word_.data(), word_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return;
    if (sent != static_cast<ssize_t>(word_.size())) return end(std::strerror(errno));
    said_ = true;
  }
  void listen() {
    std::array<char, 65536> bytes;
    const ssize_t got = recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0 && answer_.text.size() < kAnswerBytesMax) {
      answer_.text.append(bytes.data(), static_cast<std::size_t>(got));
      return;
    }
    // A server may reset the connection after its last byte; keep what was received.
    if (!answer_.text.empty()) answer_.heard = heard_in(answer_.text);
    end("it closed the connection without a reply");
  }

  std::string word_;
  Steady::time_point begun_ = Steady::now();
  int descriptor_ = -1;
  bool said_ = false;
  bool over_ = false;
  Answer answer_;
};

void wait_for_some(const std::vector<std::unique_ptr<WordQuery>>& all, int timeout_ms) {
  std::vector<pollfd> polled;
  std::vector<WordQuery*> who;
  for (const auto& one : all) {
    if (one->is_over()) continue;
    polled.push_back(one->wanted());
    who.push_back(one.get());
  }
  if (poll(polled.data(), polled.size(), timeout_ms) <= 0) return;
  for (std::size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents != 0) who[i]->go_on();
  }
}

}  // namespace

Heard heard_in(std::string_view text) {
  if (text.find("is not executed because it is not in the whitelist") != std::string_view::npos) {
    return Heard::kNotAllowed;
  }
  if (text.starts_with("This ZooKeeper instance is not currently serving requests"))
    return Heard::kNotServing;
  return Heard::kText;
}

std::vector<Answer> ask(const std::vector<Question>& questions, std::chrono::milliseconds patience) {
  const auto begun = Steady::now();
  std::vector<std::unique_ptr<WordQuery>> all;
  for (const Question& question : questions) all.push_back(std::make_unique<WordQuery>(question));
  const auto is_over = [](const auto& one) { return one->is_over(); };
  while (!std::all_of(all.begin(), all.end(), is_over)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(begun + patience - Steady::now());
    if (left.count() <= 0) break;
    wait_for_some(all, static_cast<int>(left.count()));
  }
  std::vector<Answer> answers;
  for (const auto& one : all) {
    if (!one->is_over()) one->end("no answer in time");
    answers.push_back(std::move(*one).answer());
  }
  return answers;
}

std::string how_to_allow(std::string_view word) {
  return fmt::format(
      "`{0}` is not allowed there; 4lw.commands.whitelist=srvr,mntr,cons,conf (or *) in its zoo.cfg "
      "allows it",
      word);
}

}  // namespace drover::cli::observe
