// SPDX-License-Identifier: Apache-2.0
#include <sasl/sasl.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "sasl/cyrus.h"
#include "sasl/gss.h"
#include "sasl/mechanisms.h"

namespace drover::sasl {
namespace {

using Status = SaslStep::Status;

constexpr CyrusMechanism kGssapi = {"GSSAPI", "libsasl2-modules-gssapi-mit"};

// Kerberos says why only in a log line of the library ("Clock skew too great").
int keep_failure(void* kept, int level, const char* message) {
  if (level <= SASL_LOG_FAIL) *static_cast<std::string*>(kept) = message;
  return SASL_OK;
}

class GssapiConversation : public BoundedConversation {
 protected:
  sasl_callback_t kept_log() { return cyrus_callback(SASL_CB_LOG, keep_failure, &detail_); }
  SaslStep refused(int code) const {
    return failed(detail_.empty() ? cyrus_failure(connection_.get(), code) : one_line(detail_));
  }

  std::string detail_;
  CyrusConnection connection_;
};

// ---- server --------------------------------------------------------------------------------------

struct AcceptorSettings {
  GssCredential credential;
  ServiceName service;
  AuthorizationRule rule;
};

class GssapiServer final : public GssapiConversation {
 public:
  explicit GssapiServer(std::shared_ptr<const AcceptorSettings> settings)
      : settings_(std::move(settings)),
        callbacks_{kept_log(), no_options(), allow_every_id(), plain_names(), kNoMoreCallbacks} {}

 private:
  SaslStep advance(std::string_view token) override;
  int open();
  SaslStep authorize();

  std::shared_ptr<const AcceptorSettings> settings_;
  std::array<sasl_callback_t, 5> callbacks_;
};

int GssapiServer::open() {
  const ServiceName& service = settings_->service;
  sasl_conn_t* connection = nullptr;
  const int code = sasl_server_new(service.protocol.c_str(), service.host.c_str(), nullptr, nullptr, nullptr,
                                   callbacks_.data(), SASL_SUCCESS_DATA, &connection);
  if (code != SASL_OK) return code;
  connection_.reset(connection);
  forbid_security_layer(connection);
  return sasl_setprop(connection, SASL_GSS_CREDS, settings_->credential.get());
}

SaslStep GssapiServer::advance(std::string_view token) {
  const bool first = connection_ == nullptr;
  if (first) {
    if (token.empty()) return failed("the first token of GSSAPI is empty");
    if (const int code = open(); code != SASL_OK) return refused(code);
  }
  const char* out = nullptr;
  unsigned length = 0;
  const auto size = static_cast<unsigned>(token.size());
  const int code = first
                       ? sasl_server_start(connection_.get(), kGssapi.name, token.data(), size, &out, &length)
                       : sasl_server_step(connection_.get(), token.data(), size, &out, &length);
  if (code == SASL_CONTINUE) return {.status = Status::kContinue, .token = std::string(out, length)};
  return code == SASL_OK ? authorize() : refused(code);
}

SaslStep GssapiServer::authorize() {
  const void* name = nullptr;
  const void* requested = nullptr;
  sasl_getprop(connection_.get(), SASL_AUTHUSER, &name);
  sasl_getprop(connection_.get(), SASL_USERNAME, &requested);
  if (name == nullptr || requested == nullptr) return failed("GSSAPI names no principal");
  const auto principal = with_realm(static_cast<const char*>(name));
  if (!principal) return failed(principal.error().what);
  // A client that asks for nothing acts as itself.
  const std::string_view wanted = static_cast<const char*>(requested);
  const ProvenPeer peer{.authentication_id = *principal,
                        .requested_id = wanted == static_cast<const char*>(name) ? *principal : wanted};
  auto id = settings_->rule(peer);
  if (!id) return failed("principal " + quoted_name(*principal) + ": " + id.error());
  authorization_id_ = *std::move(id);
  return {.status = Status::kDone};
}

// ---- client --------------------------------------------------------------------------------------

struct InitiatorSettings {
  KerberosInitiator initiator;
  ServiceName service;
};

// The server takes the principal if no other id is asked for.
int ask_for_no_other_id(void*, int, const char** result, unsigned* length) {
  *result = "";
  if (length != nullptr) *length = 0;
  return SASL_OK;
}

class GssapiClient final : public GssapiConversation {
 public:
  explicit GssapiClient(std::shared_ptr<const InitiatorSettings> settings)
      : settings_(std::move(settings)),
        callbacks_{kept_log(), no_options(), plain_names(),
                   cyrus_callback(SASL_CB_USER, ask_for_no_other_id, nullptr), kNoMoreCallbacks} {}

 private:
  SaslStep advance(std::string_view token) override;
  int open();

  std::shared_ptr<const InitiatorSettings> settings_;
  std::array<sasl_callback_t, 5> callbacks_;
  GssCredential credential_;  // used until the connection is gone
};

int GssapiClient::open() {
  const ServiceName& service = settings_->service;
  sasl_conn_t* connection = nullptr;
  const int code = sasl_client_new(service.protocol.c_str(), service.host.c_str(), nullptr, nullptr,
                                   callbacks_.data(), SASL_SUCCESS_DATA, &connection);
  if (code != SASL_OK) return code;
  connection_.reset(connection);
  forbid_security_layer(connection);
  return sasl_setprop(connection, SASL_GSS_CREDS, credential_.get());
}

SaslStep GssapiClient::advance(std::string_view token) {
  const bool first = connection_ == nullptr;
  if (first) {
    auto credential = acquire_initiator(settings_->initiator);
    if (!credential) return failed(credential.error().what);
    credential_ = *std::move(credential);
    if (const int code = open(); code != SASL_OK) return refused(code);
  }
  const char* out = nullptr;
  unsigned length = 0;
  const int code = first ? sasl_client_start(connection_.get(), kGssapi.name, nullptr, &out, &length, nullptr)
                         : sasl_client_step(connection_.get(), token.data(),
                                            static_cast<unsigned>(token.size()), nullptr, &out, &length);
  if (code == SASL_CONTINUE) return {.status = Status::kContinue, .token = std::string(out, length)};
  if (code != SASL_OK) return refused(code);
  authorization_id_ = settings_->initiator.principal;
  return {.status = Status::kDone, .token = std::string(out, length)};
}

// ---- factories -----------------------------------------------------------------------------------

// "zookeeper/node1@EXAMPLE.COM"; what is missing has no part in accepting a ticket, but must not be empty.
ServiceName service_of(const std::string& principal) {
  const std::string name = principal.substr(0, principal.find('@'));
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {.protocol = name.empty() ? "*" : name, .host = "localhost"};
  return {.protocol = name.substr(0, slash), .host = name.substr(slash + 1)};
}

// Kerberos reports a missing file only when a ticket is wanted.
IoResult<void> require_readable(const std::string& keytab) {
  const std::string path = keytab.starts_with("FILE:") ? keytab.substr(5) : keytab;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::unexpected(io_error(errno, "keytab " + path));
  ::close(file);
  return {};
}

}  // namespace

IoResult<std::unique_ptr<SaslFactory>> gssapi_server(const KerberosAcceptor& acceptor,
                                                     AuthorizationRule rule) {
  TRY(require_mechanism(CyrusSide::kServer, kGssapi));
  TRY(require_readable(acceptor.keytab));
  TRY_ASSIGN(GssCredential credential, acquire_acceptor(acceptor));
  return std::make_unique<SaslFactoryOf<GssapiServer, AcceptorSettings>>(
      AcceptorSettings{.credential = std::move(credential),
                       .service = service_of(acceptor.principal),
                       .rule = std::move(rule)});
}

IoResult<std::unique_ptr<SaslFactory>> gssapi_client(const KerberosInitiator& initiator,
                                                     const ServiceName& service) {
  TRY(require_mechanism(CyrusSide::kClient, kGssapi));
  if (!initiator.keytab.empty()) TRY(require_readable(initiator.keytab));
  return std::make_unique<SaslFactoryOf<GssapiClient, InitiatorSettings>>(
      InitiatorSettings{.initiator = initiator, .service = service});
}

}  // namespace drover::sasl
