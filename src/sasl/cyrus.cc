// SPDX-License-Identifier: Apache-2.0
#include "sasl/cyrus.h"

#include <malloc.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <mutex>

#include "sasl/password_lookup.h"

namespace drover::sasl {
namespace {

constexpr std::size_t kTokenBytesMax = 65536;

// ---- memory --------------------------------------------------------------------------------------

void wiping_free(void* memory) {
  if (memory != nullptr) ::explicit_bzero(memory, ::malloc_usable_size(memory));
  std::free(memory);
}

// Not realloc(), which may leave the old bytes behind.
void* wiping_realloc(void* old, std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr || old == nullptr) return memory;
  ::memcpy(memory, old, std::min(size, ::malloc_usable_size(old)));
  wiping_free(old);
  return memory;
}

// ---- locks ---------------------------------------------------------------------------------------

void* make_mutex() { return new std::mutex; }
int lock_mutex(void* mutex) {
  static_cast<std::mutex*>(mutex)->lock();
  return SASL_OK;
}
int unlock_mutex(void* mutex) {
  static_cast<std::mutex*>(mutex)->unlock();
  return SASL_OK;
}
void free_mutex(void* mutex) { delete static_cast<std::mutex*>(mutex); }

// ---- callbacks of the process --------------------------------------------------------------------

int ignore_log(void*, int, const char*) { return SASL_OK; }

int get_option(void*, const char*, const char* option, const char** result, unsigned* length) {
  if (std::string_view(option) != "auxprop_plugin") return SASL_FAIL;
  *result = kPasswordLookup;
  if (length != nullptr) *length = static_cast<unsigned>(std::string_view(kPasswordLookup).size());
  return SASL_OK;
}

int copy_plain_name(sasl_conn_t*, void*, const char* in, unsigned length, unsigned, const char*, char* out,
                    unsigned out_max, unsigned* out_length) {
  const std::string_view name(in, length);
  if (name.empty() || name.size() >= out_max || name.contains('\0')) return SASL_BADPROT;
  if (std::isspace(static_cast<unsigned char>(name.front())) != 0) return SASL_BADPROT;
  if (std::isspace(static_cast<unsigned char>(name.back())) != 0) return SASL_BADPROT;
  ::memmove(out, in, length);
  out[length] = '\0';
  *out_length = length;
  return SASL_OK;
}

int allow(sasl_conn_t*, void*, const char*, unsigned, const char*, unsigned, const char*, unsigned,
          propctx*) {
  return SASL_OK;
}

// Other plug-ins, which read databases of users, are not even loaded.
int choose_file(void*, const char* file, sasl_verify_type_t type) {
  if (type != SASL_VRFY_PLUGIN) return SASL_CONTINUE;
  std::string_view name = file;
  name.remove_prefix(name.find_last_of('/') + 1);
  return name.starts_with("libdigestmd5.") || name.starts_with("libgssapiv2.") ? SASL_OK : SASL_CONTINUE;
}

// ---- start ---------------------------------------------------------------------------------------

// Another part of the process may have initialized the library; then its callbacks stay, and ours of each
// connection decide.
IoResult<void> initialize() {
  sasl_set_mutex(make_mutex, lock_mutex, unlock_mutex, free_mutex);
  sasl_set_alloc(std::malloc, std::calloc, wiping_realloc, wiping_free);
  static const std::array<sasl_callback_t, 4> callbacks = {
      silent_log(), no_options(), cyrus_callback(SASL_CB_VERIFYFILE, choose_file, nullptr),
      sasl_callback_t{SASL_CB_LIST_END, nullptr, nullptr}};
  // Without a name the library looks for no configuration file.
  int code = sasl_server_init(callbacks.data(), nullptr);
  if (code == SASL_OK) code = sasl_client_init(callbacks.data());
  if (code == SASL_OK) code = add_password_lookup();
  if (code != SASL_OK) return std::unexpected(data_error("Cyrus SASL: " + cyrus_failure(nullptr, code)));
  return {};
}

struct MechanismSearch {
  std::string_view name;
  bool found = false;
};

void find_on_server(server_sasl_mechanism_t* mechanism, sasl_info_callback_stage_t, void* search) {
  auto& wanted = *static_cast<MechanismSearch*>(search);
  if (mechanism != nullptr && mechanism->plug->mech_name == wanted.name) wanted.found = true;
}
void find_on_client(client_sasl_mechanism_t* mechanism, sasl_info_callback_stage_t, void* search) {
  auto& wanted = *static_cast<MechanismSearch*>(search);
  if (mechanism != nullptr && mechanism->plug->mech_name == wanted.name) wanted.found = true;
}

}  // namespace

sasl_callback_t silent_log() { return cyrus_callback(SASL_CB_LOG, ignore_log, nullptr); }
sasl_callback_t no_options() { return cyrus_callback(SASL_CB_GETOPT, get_option, nullptr); }

sasl_callback_t plain_names() { return cyrus_callback(SASL_CB_CANON_USER, copy_plain_name, nullptr); }
sasl_callback_t allow_every_id() { return cyrus_callback(SASL_CB_PROXY_POLICY, allow, nullptr); }

IoResult<void> require_mechanism(CyrusSide side, const CyrusMechanism& mechanism) {
  static const IoResult<void> initialized = initialize();
  if (!initialized) return initialized;
  MechanismSearch search{.name = mechanism.name};
  if (side == CyrusSide::kServer) {
    sasl_server_plugin_info(mechanism.name, find_on_server, &search);
  } else {
    sasl_client_plugin_info(mechanism.name, find_on_client, &search);
  }
  if (search.found) return {};
  return std::unexpected(data_error(std::string("SASL mechanism ") + mechanism.name +
                                    " is not installed; install the Debian package " + mechanism.package));
}

void forbid_security_layer(sasl_conn_t* connection) {
  sasl_security_properties_t properties = {};
  // GSSAPI refuses a size of 0. It is announced to the peer and never used.
  properties.maxbufsize = kTokenBytesMax;
  properties.security_flags = SASL_SEC_NOANONYMOUS | SASL_SEC_NOPLAINTEXT | SASL_SEC_MUTUAL_AUTH;
  sasl_setprop(connection, SASL_SEC_PROPS, &properties);
}

std::string one_line(std::string text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  std::ranges::replace_if(text, is_control, '?');
  return text;
}

std::string cyrus_failure(sasl_conn_t* connection, int code) {
  return one_line(connection != nullptr ? sasl_errdetail(connection)
                                        : sasl_errstring(code, nullptr, nullptr));
}

std::string quoted_name(std::string_view name) {
  constexpr std::size_t kShown = 64;
  return "\"" + one_line(std::string(name.substr(0, kShown))) + (name.size() > kShown ? "…\"" : "\"");
}

SaslStep BoundedConversation::failed(std::string reason) {
  return {.status = SaslStep::Status::kFailed, .reason = std::move(reason)};
}

SaslStep BoundedConversation::step(std::string_view token) {
  if (over_) return failed("a SASL token came after the end of the exchange");
  SaslStep result =
      token.size() > kTokenBytesMax ? failed("the SASL token is longer than 64 KiB") : advance(token);
  over_ = result.status != SaslStep::Status::kContinue;
  return result;
}

}  // namespace drover::sasl
