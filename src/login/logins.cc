// SPDX-License-Identifier: Apache-2.0
#include "login/logins.h"

#include <netdb.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include "client/sasl_login.h"
#include "net/address.h"
#include "sasl/mechanisms.h"

namespace drover {
namespace {

// The reason why there is no conversation.
class NoConversation final : public SaslConversation {
 public:
  explicit NoConversation(std::string reason) : reason_(std::move(reason)) {}
  SaslStep step(std::string_view) override {
    return {.status = SaslStep::Status::kFailed, .token = {}, .reason = reason_};
  }
  const std::string& authorization_id() const override { return nobody_; }

 private:
  std::string reason_;
  std::string nobody_;
};

class PasswordLogin final : public SaslLogin {
 public:
  explicit PasswordLogin(std::unique_ptr<SaslFactory> factory) : factory_(std::move(factory)) {}
  std::unique_ptr<SaslConversation> start(const Server&) const override { return factory_->start(); }

 private:
  std::unique_ptr<SaslFactory> factory_;
};

// Empty: the address has no name.
std::string name_of_address(const std::string& ip) {
  const auto address = net::Address::parse(ip, 0);
  if (!address) return {};
  char name[NI_MAXHOST];
  sockaddr_storage storage{};
  const socklen_t size = address->to_sockaddr(storage);
  const int error = ::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), size, name, sizeof name,
                                  nullptr, 0, NI_NAMEREQD);
  return error == 0 ? name : "";
}

class KerberosLogin final : public SaslLogin {
 public:
  KerberosLogin(sasl::KerberosInitiator initiator, SaslService service)
      : initiator_(std::move(initiator)), service_(std::move(service)) {}

  std::unique_ptr<SaslConversation> start(const Server& server) const override {
    auto factory = sasl::gssapi_client(initiator_, name_of(server));
    if (!factory) return std::make_unique<NoConversation>(factory.error().what);
    return (*factory)->start();
  }

 private:
  sasl::ServiceName name_of(const Server& server) const {
    if (!service_.principal.empty()) return login::service_of(service_.principal);
    std::string host = service_.canonicalize_host_name ? name_of_address(server.ip) : "";
    return {.protocol = service_.name, .host = host.empty() ? server.host : std::move(host)};
  }

  sasl::KerberosInitiator initiator_;
  SaslService service_;
};

}  // namespace

sasl::ServiceName login::service_of(const std::string& principal) {
  const std::string name = principal.substr(0, principal.find('@'));
  const std::size_t slash = name.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == name.size()) return {};
  return {.protocol = name.substr(0, slash), .host = name.substr(slash + 1)};
}

Result<SaslLoginPtr> sasl_password(std::string user, std::string password) {
  Secret secret(std::move(password));
  if (user.empty()) return fail(Errc::kBadConfig, {}, "a login needs a user");
  if (secret.empty()) return fail(Errc::kBadConfig, {}, "the login of user " + user + " has no password");
  auto factory = sasl::digest_md5_client(std::move(user), std::move(secret), sasl::kClientPortDigest);
  if (!factory) return fail(Errc::kBadConfig, {}, factory.error().what);
  return std::make_shared<PasswordLogin>(*std::move(factory));
}

Result<SaslLoginPtr> sasl_kerberos(KerberosIdentity identity, SaslService service) {
  if (!service.principal.empty() && login::service_of(service.principal).host.empty()) {
    return fail(Errc::kBadConfig, {},
                "principal of the servers: expected SERVICE/HOST, not \"" + service.principal + "\"");
  }
  if (service.name.empty()) return fail(Errc::kBadConfig, {}, "the servers' service has no name");
  const sasl::KerberosInitiator initiator{.principal = std::move(identity.principal),
                                          .keytab = std::move(identity.keytab),
                                          .ticket_cache = std::move(identity.ticket_cache)};
  // A missing plug-in or keytab is found now, not at the first connection.
  const auto tried = sasl::gssapi_client(initiator, {.protocol = service.name, .host = "localhost"});
  if (!tried) return fail(Errc::kBadConfig, {}, tried.error().what);
  return std::make_shared<KerberosLogin>(initiator, std::move(service));
}

}  // namespace drover
