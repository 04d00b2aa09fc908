// SPDX-License-Identifier: Apache-2.0
//
// How Cyrus SASL gets the passwords of users: a plug-in of its "auxiliary properties", compiled in.
#pragma once

#include <sasl/sasl.h>

#include <string>

#include "base/secret.h"

namespace drover::sasl {

// The plug-in's name for the option `auxprop_plugin`.
constexpr char kPasswordLookup[] = "drover";

// Answers for one connection. Null: no such user.
class PasswordSource {
 public:
  virtual ~PasswordSource() = default;
  virtual const Secret* password_of(const std::string& user) const = 0;
};

// Registers the plug-in; once per process, after sasl_server_init().
int add_password_lookup();

// The entry of a server connection's callbacks that names its source, which must outlive the connection.
sasl_callback_t password_source(const PasswordSource& source);

}  // namespace drover::sasl
