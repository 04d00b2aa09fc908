// SPDX-License-Identifier: Apache-2.0
//
// Keys that are not in a table: families of names, and properties of a JVM.
#include <algorithm>
#include <array>

#include "config/keys.h"

namespace drover::server {
namespace {

using namespace std::string_view_literals;

Verdict set_auth_provider(ServerConfig& config, std::string_view class_name) {
  const std::string_view simple = class_name.substr(class_name.rfind('.') + 1);
  if (simple == "SASLAuthenticationProvider") {
    config.sasl.provider = true;
  } else if (simple == "EnsembleAuthenticationProvider") {
    config.auth.ensemble_provider = true;
  } else if (simple != "X509AuthenticationProvider" && simple != "DigestAuthenticationProvider" &&
             simple != "IPAuthenticationProvider") {
    return Verdict::rejected("a Java class cannot be loaded, so its scheme is not available");
  }
  return Verdict::accepted();
}

constexpr std::array kJvmPropertyFamilies{"java."sv,    "javax."sv, "jdk."sv,      "sun."sv,
                                          "com.sun."sv, "org."sv,   "log4j"sv,     "logback"sv,
                                          "user."sv,    "file."sv,  "io.netty."sv, "line.separator"sv};

bool is_of(std::string_view key, const auto& families) {
  return std::ranges::any_of(families, [key](std::string_view family) { return key.starts_with(family); });
}

}  // namespace

std::optional<Verdict> set_family_key(ServerConfig& config, std::string_view key, std::string_view value) {
  if (key.starts_with("authProvider.")) return set_auth_provider(config, value);
  if (key.starts_with("superUser.")) {
    config.sasl.super_users.emplace_back(value);
    return Verdict::accepted();
  }
  return std::nullopt;
}

bool is_jvm_property(std::string_view written_key) {
  // An operator who sets these expects a login.
  constexpr std::array kAboutLogins{"java.security.auth.login."sv, "java.security.krb5."sv,
                                    "sun.security.krb5."sv};
  return is_of(written_key, kJvmPropertyFamilies) && !is_of(written_key, kAboutLogins);
}

}  // namespace drover::server
