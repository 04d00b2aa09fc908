// SPDX-License-Identifier: Apache-2.0
//
// The logins that this server accepts from clients, as configured.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sasl.h"
#include "config/sasl_settings.h"

namespace drover::server {

// Null: none are configured. An error is one line that names the place in the JAAS file, or the package that
// is missing.
IoResult<std::unique_ptr<SaslFactory>> client_sasl(const SaslSettings& settings);

// Returns the SASL id for a user and password, by the same rules, for logins over HTTP; nullopt if the
// password is wrong. The function is null if there are no logins with passwords. `settings` must outlive it.
using PasswordCheck =
    std::function<std::optional<std::string>(std::string_view user, std::string_view password)>;
IoResult<PasswordCheck> password_check(const SaslSettings& settings);

// Tells Kerberos about java.security.krb5.conf, and tries whether the logins of clients and of other servers
// work. Changes the process's environment: call it before threads start.
IoResult<void> configure_sasl(const SaslSettings& settings);

}  // namespace drover::server
