// SPDX-License-Identifier: Apache-2.0
#include "runtime/peer_sasl.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>
#include <utility>

#include "log/log.h"
#include "sasl/kerberos_name.h"
#include "sasl/mechanisms.h"

namespace drover::server {
namespace {

using HostLookup = std::function<bool(std::string_view host)>;

std::string realm_of(const std::string& principal) {
  const std::size_t at = principal.rfind('@');
  return at == std::string::npos ? sasl::default_kerberos_realm() : principal.substr(at + 1);
}

IoResult<std::unique_ptr<SaslFactory>> with_source(IoResult<std::unique_ptr<SaslFactory>> factory,
                                                   const std::string& source) {
  if (!factory) factory.error().what = source + ": " + factory.error().what;
  return factory;
}

IoResult<std::unique_ptr<SaslFactory>> acceptor_of(const QuorumSaslSettings& settings, HostLookup is_member) {
  const sasl::Login& login = *settings.server_login;
  if (const auto& kerberos = login.kerberos) {
    return with_source(sasl::gssapi_server({.keytab = kerberos->key_tab, .principal = kerberos->principal},
                                           sasl::quorum_rule({.realm = realm_of(kerberos->principal),
                                                              .is_member = std::move(is_member)})),
                       settings.server_source);
  }
  return with_source(sasl::digest_md5_server(login.users, sasl::kQuorumDigest), settings.server_source);
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// "zkquorum/_HOST": each server has a principal of its own.
sasl::ServiceName service_of(const std::string& principal, const std::string& host) {
  const std::size_t slash = principal.find('/');
  std::string instance = principal.substr(slash + 1);
  if (instance == kHostPattern) instance = lower_case(host);
  return {.protocol = principal.substr(0, slash), .host = std::move(instance)};
}

IoResult<std::unique_ptr<SaslFactory>> connector_of(const QuorumSaslSettings& settings,
                                                    const std::string& host) {
  const sasl::Login& login = *settings.learner_login;
  if (const auto& kerberos = login.kerberos) {
    const sasl::KerberosInitiator initiator{.principal = kerberos->principal,
                                            .keytab = kerberos->use_key_tab ? kerberos->key_tab : "",
                                            .ticket_cache = kerberos->ticket_cache};
    return with_source(sasl::gssapi_client(initiator, service_of(settings.service_principal, host)),
                       settings.learner_source);
  }
  return with_source(sasl::digest_md5_client(login.username, login.password, sasl::kQuorumDigest),
                     settings.learner_source);
}

// The factory is made in the thread, too: it reads the keytab.
using SharedSettings = std::shared_ptr<const QuorumSaslSettings>;
net::SaslStarter::Start start_with(const SharedSettings& settings, std::string host) {
  return [settings, host = std::move(host)]() -> IoResult<std::unique_ptr<SaslConversation>> {
    TRY_ASSIGN(const std::unique_ptr<SaslFactory> factory, connector_of(*settings, host));
    return factory->start();
  };
}

std::string described(const sasl::Login& login, bool accepts) {
  if (login.kerberos) return "Kerberos as " + escaped(login.kerberos->principal);
  return accepts ? "DIGEST-MD5" : "DIGEST-MD5 as " + escaped(login.username);
}

}  // namespace

IoResult<std::unique_ptr<PeerSasl>> PeerSasl::create(net::EventLoop& loop,
                                                     const QuorumSaslSettings& settings) {
  std::unique_ptr<PeerSasl> made(new PeerSasl);
  TRY(made->open(loop, settings));
  return made;
}

IoResult<void> PeerSasl::open(net::EventLoop& loop, const QuorumSaslSettings& settings) {
  const auto is_member = [this](std::string_view host) { return hosts_.all.contains(host); };
  TRY_ASSIGN(acceptor_, acceptor_of(settings, is_member));
  TRY_ASSIGN(starter_, net::SaslStarter::create(loop));
  auth_.acceptor = acceptor_.get();
  auth_.required = settings.server_requires;
  auth_.starter = starter_.get();
  log_info(
      "sasl", "other servers log in with {}; {}", described(*settings.server_login, true),
      settings.server_requires ? "those that do not are refused" : "those that do not are accepted, too");
  if (!settings.learner_requires) {
    log_info("sasl", "this server does not log in to others (quorum.auth.learnerRequireSasl)");
    return {};
  }
  log_info("sasl", "this server logs in to others with {}", described(*settings.learner_login, false));
  auth_.connector = [this, shared = std::make_shared<const QuorumSaslSettings>(settings)](
                        ServerId server, const std::string& host) {
    const auto found = hosts_.of_server.find(server);
    return start_with(shared, found == hosts_.of_server.end() ? host : found->second);
  };
  return {};
}

IoResult<void> check_peer_sasl(const QuorumSaslSettings& settings) {
  if (!settings.enabled) return {};
  TRY(acceptor_of(settings, [](std::string_view) { return false; }));
  TRY(connector_of(settings, "localhost"));
  return {};
}

}  // namespace drover::server
