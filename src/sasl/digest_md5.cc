// SPDX-License-Identifier: Apache-2.0
#include <sasl/sasl.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "sasl/cyrus.h"
#include "sasl/digest_directives.h"
#include "sasl/mechanisms.h"
#include "sasl/password_lookup.h"

namespace drover::sasl {
namespace {

using Status = SaslStep::Status;

constexpr CyrusMechanism kDigestMd5 = {"DIGEST-MD5", "libsasl2-modules"};

// ---- server --------------------------------------------------------------------------------------

struct DigestServerSettings {
  Users users;
  ServiceName service;
  AuthorizationRule rule;
};

class DigestServer final : public BoundedConversation, private PasswordSource {
 public:
  explicit DigestServer(std::shared_ptr<const DigestServerSettings> settings)
      : settings_(std::move(settings)), callbacks_{silent_log(),     no_options(),  password_source(*this),
                                                   allow_every_id(), plain_names(), kNoMoreCallbacks} {}

 private:
  SaslStep advance(std::string_view token) override {
    return connection_ == nullptr ? challenge() : verify(token);
  }
  SaslStep challenge();
  SaslStep verify(std::string_view token);
  SaslStep authorize(std::string_view answer);
  const Secret* password_of(const std::string& user) const override;

  std::shared_ptr<const DigestServerSettings> settings_;
  std::array<sasl_callback_t, 6> callbacks_;
  CyrusConnection connection_;
};

const Secret* DigestServer::password_of(const std::string& user) const {
  const auto found = settings_->users.find(user);
  return found == settings_->users.end() ? nullptr : &found->second;
}

// The first token is not read, as in Java: a client of Cyrus SASL that reconnects begins with an answer to
// its last nonce, and needs a new one.
SaslStep DigestServer::challenge() {
  const ServiceName& service = settings_->service;
  sasl_conn_t* connection = nullptr;
  // The realm is the host's name unless one is given; a given one would become a part of each user's name.
  int code = sasl_server_new(service.protocol.c_str(), service.host.c_str(), nullptr, nullptr, nullptr,
                             callbacks_.data(), SASL_SUCCESS_DATA, &connection);
  if (code != SASL_OK) return failed(cyrus_failure(nullptr, code));
  connection_.reset(connection);
  forbid_security_layer(connection);
  const char* out = nullptr;
  unsigned length = 0;
  code = sasl_server_start(connection, kDigestMd5.name, nullptr, 0, &out, &length);
  if (code != SASL_CONTINUE) return failed(cyrus_failure(connection, code));
  return {.status = Status::kContinue, .token = std::string(out, length)};
}

SaslStep DigestServer::verify(std::string_view token) {
  const ServiceName& service = settings_->service;
  const std::string uri = service.protocol + "/" + service.host;
  if (const auto fine = check_digest_response(token, {.service = uri, .realm = service.host}); !fine) {
    return failed("DIGEST-MD5 response: " + fine.error());
  }
  const char* out = nullptr;
  unsigned length = 0;
  const int code =
      sasl_server_step(connection_.get(), token.data(), static_cast<unsigned>(token.size()), &out, &length);
  if (code != SASL_OK) {
    const auto directives = parse_directives(token);
    return failed("user " + quoted_name(*find_directive(*directives, "username")) + ": " +
                  cyrus_failure(connection_.get(), code));
  }
  return authorize({out, length});
}

SaslStep DigestServer::authorize(std::string_view answer) {
  const void* user = nullptr;
  const void* requested = nullptr;
  sasl_getprop(connection_.get(), SASL_AUTHUSER, &user);
  sasl_getprop(connection_.get(), SASL_USERNAME, &requested);
  if (user == nullptr || requested == nullptr) return failed("DIGEST-MD5 names no user");
  const ProvenPeer peer{.authentication_id = static_cast<const char*>(user),
                        .requested_id = static_cast<const char*>(requested)};
  auto id = settings_->rule(peer);
  if (!id) return failed("user " + quoted_name(peer.authentication_id) + ": " + id.error());
  authorization_id_ = *std::move(id);
  return {.status = Status::kDone, .token = std::string(answer)};
}

// ---- client --------------------------------------------------------------------------------------

struct DigestClientSettings {
  std::string user;
  Secret password;
  ServiceName service;
};

int give_user(void* settings, int, const char** result, unsigned* length) {
  const std::string& user = static_cast<const DigestClientSettings*>(settings)->user;
  *result = user.c_str();
  if (length != nullptr) *length = static_cast<unsigned>(user.size());
  return SASL_OK;
}

// The library's form of a password, wiped at the end.
class CyrusSecret {
 public:
  explicit CyrusSecret(const std::string& text)
      : size_(sizeof(sasl_secret_t) + text.size()),
        secret_(static_cast<sasl_secret_t*>(std::calloc(1, size_))) {
    if (secret_ == nullptr) return;
    secret_->len = text.size();
    std::memcpy(secret_->data, text.data(), text.size());
  }
  CyrusSecret(const CyrusSecret&) = delete;
  CyrusSecret& operator=(const CyrusSecret&) = delete;
  ~CyrusSecret() {
    if (secret_ != nullptr) ::explicit_bzero(secret_, size_);
    std::free(secret_);
  }
  sasl_secret_t* get() const { return secret_; }

 private:
  std::size_t size_;
  sasl_secret_t* secret_;
};

int give_password(sasl_conn_t*, void* secret, int, sasl_secret_t** result) {
  *result = static_cast<const CyrusSecret*>(secret)->get();
  return *result != nullptr ? SASL_OK : SASL_NOMEM;
}

class DigestClient final : public BoundedConversation {
 public:
  explicit DigestClient(std::shared_ptr<const DigestClientSettings> settings)
      : settings_(std::move(settings)),
        password_(settings_->password.reveal()),
        callbacks_{silent_log(),
                   no_options(),
                   cyrus_callback(SASL_CB_AUTHNAME, give_user, context()),
                   cyrus_callback(SASL_CB_USER, give_user, context()),
                   cyrus_callback(SASL_CB_PASS, give_password, &password_),
                   kNoMoreCallbacks} {}

 private:
  enum class Next { kStart, kChallenge, kProof };

  SaslStep advance(std::string_view token) override;
  SaslStep begin();
  SaslStep respond(std::string_view challenge);
  SaslStep verify(std::string_view proof);
  void* context() const { return const_cast<DigestClientSettings*>(settings_.get()); }

  std::shared_ptr<const DigestClientSettings> settings_;
  CyrusSecret password_;
  std::array<sasl_callback_t, 6> callbacks_;
  CyrusConnection connection_;
  Next next_ = Next::kStart;
};

SaslStep DigestClient::advance(std::string_view token) {
  switch (std::exchange(next_, next_ == Next::kStart ? Next::kChallenge : Next::kProof)) {
    case Next::kStart: return begin();
    case Next::kChallenge: return respond(token);
    case Next::kProof: return verify(token);
  }
  return failed("not a step of DIGEST-MD5");
}

SaslStep DigestClient::begin() {
  const ServiceName& service = settings_->service;
  sasl_conn_t* connection = nullptr;
  int code = sasl_client_new(service.protocol.c_str(), service.host.c_str(), nullptr, nullptr,
                             callbacks_.data(), SASL_SUCCESS_DATA, &connection);
  if (code != SASL_OK) return failed(cyrus_failure(nullptr, code));
  connection_.reset(connection);
  forbid_security_layer(connection);
  // No place for a first token: the library would reuse the nonce of an earlier connection ("fast
  // reauthentication"), which Java's server refuses.
  code = sasl_client_start(connection, kDigestMd5.name, nullptr, nullptr, nullptr, nullptr);
  if (code != SASL_CONTINUE) return failed(cyrus_failure(connection, code));
  return {.status = Status::kContinue, .token = std::string()};
}

SaslStep DigestClient::respond(std::string_view challenge) {
  if (const auto fine = check_digest_challenge(challenge); !fine) {
    return failed("DIGEST-MD5 challenge: " + fine.error());
  }
  const char* out = nullptr;
  unsigned length = 0;
  const int code = sasl_client_step(connection_.get(), challenge.data(),
                                    static_cast<unsigned>(challenge.size()), nullptr, &out, &length);
  if (code != SASL_CONTINUE) return failed(cyrus_failure(connection_.get(), code));
  return {.status = Status::kContinue, .token = std::string(out, length)};
}

SaslStep DigestClient::verify(std::string_view proof) {
  const char* out = nullptr;
  unsigned length = 0;
  const int code = sasl_client_step(connection_.get(), proof.data(), static_cast<unsigned>(proof.size()),
                                    nullptr, &out, &length);
  if (code != SASL_OK) return failed("the server's proof: " + cyrus_failure(connection_.get(), code));
  authorization_id_ = settings_->user;
  return {.status = Status::kDone};
}

}  // namespace

AuthorizationRule as_authenticated() {
  return [](const ProvenPeer& peer) -> std::expected<std::string, std::string> {
    if (peer.requested_id != peer.authentication_id) {
      return std::unexpected("may not act as " + quoted_name(peer.requested_id));
    }
    return std::string(peer.authentication_id);
  };
}

IoResult<std::unique_ptr<SaslFactory>> digest_md5_server(Users users, const ServiceName& service,
                                                         AuthorizationRule rule) {
  TRY(require_mechanism(CyrusSide::kServer, kDigestMd5));
  return std::make_unique<SaslFactoryOf<DigestServer, DigestServerSettings>>(
      DigestServerSettings{.users = std::move(users), .service = service, .rule = std::move(rule)});
}

IoResult<std::unique_ptr<SaslFactory>> digest_md5_client(std::string user, Secret password,
                                                         const ServiceName& service) {
  TRY(require_mechanism(CyrusSide::kClient, kDigestMd5));
  return std::make_unique<SaslFactoryOf<DigestClient, DigestClientSettings>>(
      DigestClientSettings{.user = std::move(user), .password = std::move(password), .service = service});
}

}  // namespace drover::sasl
