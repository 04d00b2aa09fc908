// SPDX-License-Identifier: Apache-2.0
#include "sasl/password_lookup.h"

#include <sasl/saslplug.h>

#include "sasl/cyrus.h"

namespace drover::sasl {
namespace {

// An id of ours, which the library only hands through.
constexpr unsigned long kSourceCallback = 0xD401;

int no_function() { return SASL_FAIL; }

// The library asks for the password by this name; the star marks the user who logs in.
constexpr char kRequested[] = SASL_AUX_PASSWORD;

int look_up(void*, sasl_server_params_t* params, unsigned flags, const char* user, unsigned length) {
  // The user as whom the peer wants to act needs no password.
  if ((flags & SASL_AUXPROP_AUTHZID) != 0) return SASL_OK;
  int (*function)() = nullptr;
  void* context = nullptr;
  const int code = params->utils->getcallback(params->utils->conn, kSourceCallback, &function, &context);
  if (code != SASL_OK || context == nullptr) return SASL_NOUSER;
  const Secret* password =
      static_cast<const PasswordSource*>(context)->password_of(std::string(user, length));
  if (password == nullptr) return SASL_NOUSER;
  const std::string& text = password->reveal();
  return params->utils->prop_set(params->propctx, kRequested, text.data(), static_cast<int>(text.size()));
}

int initialize_plugin(const sasl_utils_t*, int, int* version, sasl_auxprop_plug_t** plugin, const char*) {
  static char name[] = "drover";
  static sasl_auxprop_plug_t table = {
      .features = 0,
      .spare_int1 = 0,
      .glob_context = nullptr,
      .auxprop_free = nullptr,
      .auxprop_lookup = look_up,
      .name = name,
      .auxprop_store = nullptr,
  };
  *version = SASL_AUXPROP_PLUG_VERSION;
  *plugin = &table;
  return SASL_OK;
}

}  // namespace

int add_password_lookup() { return sasl_auxprop_add_plugin(kPasswordLookup, initialize_plugin); }

sasl_callback_t password_source(const PasswordSource& source) {
  return cyrus_callback(kSourceCallback, no_function, const_cast<PasswordSource*>(&source));
}

}  // namespace drover::sasl
