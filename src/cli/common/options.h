// SPDX-License-Identifier: Apache-2.0
//
// Arguments of `drover locks`, `drover top` and `drover bench`, and the client they need.
//
// Options may be anywhere: "-server HOST:PORT", "--seconds 5" or "--seconds=5". The first error is stored as
// one sentence, so that a command reads all its options and checks for an error once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/properties.h"
#include "drover/client.h"
#include "drover/error.h"

namespace drover::cli::observe {

inline constexpr int kFailedExit = 1;
inline constexpr int kUsageExit = 2;

struct Option {
  std::string_view name;  // with its dashes: "--json"
  bool takes_value = false;
};

// Options of every command that talks to servers: -server, -timeout, --auth, -client-configuration, -r, and
// those of logins.
std::vector<Option> with_server_options(std::vector<Option> own);

class Arguments {
 public:
  Arguments(std::span<const Option> known, const std::vector<std::string>& words);

  bool has(std::string_view name) const { return values_.contains(name); }
  std::string value(std::string_view name, std::string_view otherwise) const;
  struct Range {
    double min;
    double max;
  };
  // A number out of range, or no number, is an error.
  double number(std::string_view name, double otherwise, Range range);
  std::int64_t integer(std::string_view name, std::int64_t otherwise, Range range);

  const std::vector<std::string>& words() const { return words_; }  // arguments that are not options
  const Properties& properties() const { return properties_; }      // of -DKEY=VALUE
  // The first error; empty: none.
  const std::string& problem() const { return problem_; }
  void complain(std::string text);

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> words_;
  Properties properties_;
  std::string problem_;
};

struct Address {
  std::string host;
  std::uint16_t port = 2181;
  std::string to_text() const;  // "[::1]:2181"
  friend bool operator==(const Address&, const Address&) = default;
};

// "zk1:2181,[::1]:2182/app", as -server takes it, without the chroot.
std::vector<Address> addresses_of(std::string_view servers);

std::string servers_of(const Arguments& arguments);  // of -server, or the default
Options client_options(Arguments& arguments);
// Waits a limited time for a session. The error's detail says what to do next.
Result<Client> connect(const Options& options);
// One line that includes what to do next: "drover: cannot reach ...".
void print_error(const Error& error);

}  // namespace drover::cli::observe
