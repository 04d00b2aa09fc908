// SPDX-License-Identifier: Apache-2.0
//
// How the commands log in with SASL: by flags of our own, or by the properties of ZooKeeper's clients.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/properties.h"
#include "drover/sasl.h"

namespace drover::cli {

struct LoginFlag {
  std::string_view name;  // "--sasl-user"
  bool takes_value = false;
};
std::span<const LoginFlag> login_flags();

struct LoginMade {
  SaslLoginPtr login;  // null: no login is asked for
  std::vector<std::string> warnings;
};
// `flags` are the given ones, by name. A password is asked for at the terminal if no file is named. The error
// is a message for the user.
std::expected<LoginMade, std::string> make_login(const Properties& flags, const Properties& properties);

}  // namespace drover::cli
