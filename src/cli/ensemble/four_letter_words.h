// SPDX-License-Identifier: Apache-2.0
//
// Asking servers by four-letter words, several at once, and never for longer than one is willing to wait.
//
// Words go to the plain client port, whatever server it is, drover's or Apache's.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/options.h"

namespace drover::cli::observe {

enum class Heard : std::uint8_t {
  kText,
  kNotAllowed,  // the word is not in the server's 4lw.commands.whitelist
  kNotServing,  // the server is up, but has no leader
  kNothing,     // no connection, or no answer in time
};

struct Answer {
  Heard heard = Heard::kNothing;
  std::string text = {};  // of kNothing: why
  std::chrono::microseconds took{0};
};

struct Question {
  Address address;
  std::string word;
};

// In the order of the questions.
std::vector<Answer> ask(const std::vector<Question>& questions, std::chrono::milliseconds patience);

// Recognises the texts with which servers refuse a word.
Heard heard_in(std::string_view text);

// How to have a word answered, for people.
std::string how_to_allow(std::string_view word);

}  // namespace drover::cli::observe
