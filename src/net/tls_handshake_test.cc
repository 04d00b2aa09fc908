// SPDX-License-Identifier: Apache-2.0
//
// Which peers are accepted: handshakes between two streams in one thread, with every kind of store.
#include <gtest/gtest.h>

#include <functional>

#include "net/tls_context.h"
#include "net/tls_world_testing.h"

namespace drover::net {
namespace {

using namespace testing;

std::string load_error(const TlsOptions& options) {
  const auto context = TlsContext::load(options);
  return context ? "no error" : context.error().what;
}

TEST(TlsHandshake, TheClientIsIdentifiedByItsCertificate) {
  const Outcome outcome = meet(world().server_options(), world().client_options());
  ASSERT_TRUE(outcome.done) << outcome.pair.server.error_text() << outcome.pair.client.error_text();
  EXPECT_EQ(outcome.pair.server.peer_subject(), "CN=client");
  EXPECT_EQ(outcome.pair.client.peer_subject(), "CN=server");
  EXPECT_TRUE(outcome.pair.server.peer_certificate_names("10.0.0.7"));
  EXPECT_FALSE(outcome.pair.server.peer_certificate_names("10.0.0.8"));
  EXPECT_TRUE(outcome.pair.client.peer_certificate_names("zk.example"));
  EXPECT_FALSE(outcome.pair.client.peer_certificate_names("zk2.example"));
  EXPECT_EQ(outcome.pair.server.tls_version(), "TLSv1.3");
  EXPECT_EQ(outcome.pair.server.tls_cipher(), "TLS_AES_256_GCM_SHA384");
}

TEST(TlsHandshake, WorksWithEveryKindOfStore) {
  const TlsWorld& w = world();
  const std::string password(kPassword);
  const auto store = [&](const std::string& name, const std::string& bytes) {
    return StoreOptions{.location = w.dir.write(name, bytes), .password = password};
  };
  const struct {
    StoreOptions server, client, trust;
  } kinds[] = {
      {store("s.p12", pkcs12_of(&w.server, {})), store("c.p12", pkcs12_of(&w.client, {})),
       store("t.p12", pkcs12_of(nullptr, {&w.authority}))},
      {store("s.jks", JksWriter().key(w.server).bytes()), store("c.jks", JksWriter().key(w.client).bytes()),
       store("t.jks", JksWriter().trust(w.authority.certificate).bytes())},
      {store("s1.jks", JksWriter(1).key(w.server).bytes()),
       store("c1.jks", JksWriter(1).key(w.client).bytes()),
       store("t1.jks", JksWriter(1).trust(w.authority.certificate).bytes())},
      {store("s.pem", pem_of(w.server.certificate) + pem_of(w.server.key, kPassword)),
       store("c.pem", pem_of(w.client.key, kPassword) + pem_of(w.client.certificate)),
       store("t.pem", pem_of(w.authority.certificate))},
  };
  for (const auto& kind : kinds) {
    const Outcome outcome =
        meet({.key_store = kind.server, .trust_store = kind.trust},
             {.role = TlsRole::kClient, .key_store = kind.client, .trust_store = kind.trust});
    EXPECT_TRUE(outcome.done) << kind.server.location;
    EXPECT_EQ(outcome.pair.server.peer_subject(), "CN=client") << kind.server.location;
  }
}

TEST(TlsHandshake, AClientWithoutACertificateIsAcceptedUnlessOneIsRequired) {
  TlsOptions server = world().server_options();
  TlsOptions client = world().client_options();
  client.key_store = {};
  for (const ClientAuth lenient : {ClientAuth::kNone, ClientAuth::kWant}) {
    server.client_auth = lenient;
    const Outcome outcome = meet(server, client);
    EXPECT_TRUE(outcome.done);
    EXPECT_EQ(outcome.pair.server.peer_subject(), std::nullopt);
  }
  server.client_auth = ClientAuth::kNeed;
  const Outcome outcome = meet(server, client);
  EXPECT_FALSE(outcome.done);
  EXPECT_EQ(outcome.pair.server.error_text(), "TLS handshake failed: peer did not return a certificate");
}

TEST(TlsHandshake, AServerThatDoesNotRequestCertificatesSeesNoName) {
  TlsOptions server = world().server_options();
  server.client_auth = ClientAuth::kNone;
  const Outcome outcome = meet(server, world().client_options());
  EXPECT_TRUE(outcome.done);
  EXPECT_EQ(outcome.pair.server.peer_subject(), std::nullopt);
}

TEST(TlsHandshake, AnUntrustedCertificateIsRefusedEvenIfNoneIsRequired) {
  TlsOptions server = world().server_options();
  TlsOptions client = world().client_options();
  client.key_store = world().key(world().stranger, "stranger");
  for (const ClientAuth asking : {ClientAuth::kWant, ClientAuth::kNeed}) {
    server.client_auth = asking;
    const Outcome outcome = meet(server, client);
    EXPECT_FALSE(outcome.done);
    EXPECT_EQ(outcome.pair.server.error_text(),
              "TLS handshake failed: certificate verify failed (unable to get local issuer certificate)");
    EXPECT_EQ(outcome.pair.server.peer_subject(), std::nullopt);
  }
}

TEST(TlsHandshake, AClientRefusesAServerOfAnotherAuthority) {
  TlsOptions server = world().server_options();
  server.key_store = world().key(world().stranger, "stranger");
  const Outcome outcome = meet(server, world().client_options());
  EXPECT_FALSE(outcome.done);
  EXPECT_TRUE(outcome.pair.client.error_text().contains("certificate verify failed"));
}

TEST(TlsHandshake, AnExpiredCertificateIsRefused) {
  const Identity late =
      make_identity({.common_name = "late", .issuer = &world().authority, .valid_for_s = -60});
  TlsOptions client = world().client_options();
  client.key_store = world().key(late, "late");
  const Outcome outcome = meet(world().server_options(), client);
  EXPECT_FALSE(outcome.done);
  EXPECT_TRUE(outcome.pair.server.error_text().contains("certificate has expired"));
}

TEST(TlsHandshake, TheKeyStoresChainLeadsToTheTrustedRoot) {
  const TlsWorld& w = world();
  const Identity middle =
      make_identity({.common_name = "middle", .issuer = &w.authority, .is_authority = true});
  const Identity leaf = make_identity({.common_name = "leaf", .issuer = &middle});
  TlsOptions client = w.client_options();
  client.key_store.location =
      w.dir.write("leaf.pem", pem_of(middle.certificate) + pem_of(leaf.certificate) + pem_of(leaf.key));
  EXPECT_EQ(meet(w.server_options(), client).pair.server.peer_subject(), "CN=leaf");
}

TEST(TlsHandshake, ACertificateInTheTrustStoreIsTrustedWithoutItsIssuer) {
  TlsOptions server = world().server_options();
  server.trust_store = world().trust(world().stranger, "pinned");
  TlsOptions client = world().client_options();
  client.key_store = world().key(world().stranger, "stranger");
  EXPECT_EQ(meet(server, client).pair.server.peer_subject(), "CN=stranger");
}

TEST(TlsHandshake, TheChainOfAKeyInATrustStoreIsNotTrusted) {
  // Often one file serves as key store and trust store. Java then trusts only the key's own certificate.
  const TlsWorld& w = world();
  TlsOptions server = w.server_options();
  server.trust_store = {.location = w.dir.write("both.p12", pkcs12_of(&w.server, {&w.authority})),
                        .password = std::string(kPassword)};
  EXPECT_FALSE(meet(server, w.client_options()).done);
}

TEST(TlsHandshake, OnlyEnabledProtocolsAreUsed) {
  TlsOptions server = world().server_options();
  TlsOptions client = world().client_options();
  server.protocol = "TLSv1.2";
  EXPECT_EQ(meet(server, client).pair.server.tls_version(), "TLSv1.2");
  client.enabled_protocols = {"TLSv1.3"};
  const Outcome outcome = meet(server, client);
  EXPECT_FALSE(outcome.done);
  EXPECT_EQ(outcome.pair.server.error_text(), "TLS handshake failed: unsupported protocol");
}

TEST(TlsHandshake, OnlyEnabledCipherSuitesAreUsed) {
  TlsOptions server = world().server_options();
  for (const char* suite : {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                            "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384", "TLS_AES_128_GCM_SHA256"}) {
    server.cipher_suites = {suite};
    EXPECT_EQ(meet(server, world().client_options()).pair.server.tls_cipher(), suite);
  }
}

TEST(TlsHandshake, OneKeyOfEachAlgorithmIsInUse) {
  const TlsWorld& w = world();
  const Identity rsa = make_identity(
      {.common_name = "rsa", .issuer = &w.authority, .alt_names = "DNS:zk.example", .rsa = true});
  TlsOptions server = w.server_options();
  server.key_store = {.location = w.dir.write("two.jks", JksWriter().key(w.server).key(rsa).bytes()),
                      .password = std::string(kPassword)};
  server.protocol = "TLSv1.2";
  server.cipher_suites = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"};
  EXPECT_EQ(meet(server, w.client_options()).pair.client.peer_subject(), "CN=rsa");
  server.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"};
  EXPECT_EQ(meet(server, w.client_options()).pair.client.peer_subject(), "CN=server");
}

TEST(TlsHandshake, AClientVerifiesTheServersNameOrAddress) {
  const TlsOptions server = world().server_options();
  TlsOptions client = world().client_options();
  const Address right = *Address::parse("127.0.0.1", 0);
  const Address wrong = *Address::parse("127.0.0.2", 0);
  EXPECT_TRUE(meet(server, client, {.host = "zk.example", .address = wrong}).done);
  EXPECT_TRUE(meet(server, client, {.host = "elsewhere", .address = right}).done);
  EXPECT_TRUE(meet(server, client, {.address = right}).done);
  const Outcome outcome = meet(server, client, {.host = "server", .address = wrong});
  EXPECT_FALSE(outcome.done) << "the common name does not count beside alternative names";
  EXPECT_EQ(outcome.pair.client.error_text(),
            "TLS handshake failed: certificate verify failed (hostname mismatch)");
  client.hostname_verification = false;
  EXPECT_TRUE(meet(server, client, {.host = "elsewhere", .address = wrong}).done);
}

TEST(TlsHandshake, WithoutAlternativeNamesTheCommonNameIsUsed) {
  const TlsWorld& w = world();
  const Identity by_name = make_identity({.common_name = "old.example", .issuer = &w.authority});
  const Identity by_address = make_identity({.common_name = "127.0.0.9", .issuer = &w.authority});
  TlsOptions server = w.server_options();
  server.key_store = w.key(by_name, "by_name");
  EXPECT_TRUE(meet(server, w.client_options(), {.host = "old.example"}).done);
  EXPECT_FALSE(meet(server, w.client_options(), {.host = "new.example"}).done);
  server.key_store = w.key(by_address, "by_address");
  EXPECT_TRUE(meet(server, w.client_options(), {.address = *Address::parse("127.0.0.9", 0)}).done);
}

TEST(TlsHandshake, AServerMayVerifyTheAddressesOfClients) {
  TlsOptions server = world().server_options();
  const TlsPeer right{.address = *Address::parse("10.0.0.7", 5)};
  const TlsPeer wrong{.address = *Address::parse("10.0.0.8", 5)};
  EXPECT_TRUE(meet(server, world().client_options(), kServerByName, wrong).done) << "off by default";
  server.client_hostname_verification = true;
  EXPECT_TRUE(meet(server, world().client_options(), kServerByName, right).done);
  const Outcome outcome = meet(server, world().client_options(), kServerByName, wrong);
  EXPECT_FALSE(outcome.done);
  EXPECT_TRUE(outcome.pair.server.error_text().contains("hostname mismatch"));
}

TEST(TlsHandshake, ARevokedCertificateIsRefused) {
  const TlsWorld& w = world();
  TlsOptions server = w.server_options();
  server.crl = true;
  server.crl_location = w.dir.write("none.crl", crl_pem(w.authority, nullptr));
  EXPECT_TRUE(meet(server, w.client_options()).done);
  server.crl_location = w.dir.write("some.crl", crl_pem(w.authority, &w.client));
  const Outcome outcome = meet(server, w.client_options());
  EXPECT_FALSE(outcome.done);
  EXPECT_TRUE(outcome.pair.server.error_text().contains("certificate revoked"));
}

TEST(TlsHandshake, RevocationListsMayBeInAPemTrustStore) {
  const TlsWorld& w = world();
  TlsOptions server = w.server_options();
  server.crl = true;
  server.trust_store.location =
      w.dir.write("ca-crl.pem", pem_of(w.authority.certificate) + crl_pem(w.authority, &w.client));
  EXPECT_FALSE(meet(server, w.client_options()).done);
}

TEST(TlsContext, UnsupportedOrIncompleteOptionsAreErrors) {
  TlsOptions options = world().server_options();
  options.ocsp = true;
  EXPECT_EQ(load_error(options), "ssl.ocsp is not supported; use ssl.crl with revocation lists in a file");
  options = world().server_options();
  options.crl = true;
  EXPECT_TRUE(load_error(options).starts_with("ssl.crl is on, but there is no revocation list"));
  options = world().server_options();
  options.key_store = {};
  EXPECT_EQ(load_error(options), "ssl.keyStore.location is not set: a TLS server needs a key");
  options = world().server_options();
  options.trust_store = {};
  EXPECT_EQ(load_error(options),
            "ssl.trustStore.location is not set, but ssl.clientAuth asks for client certificates");
}

TEST(TlsContext, AKeyStoreWithoutAKeyAndATrustStoreWithoutCertificatesAreRefused) {
  const TlsWorld& w = world();
  TlsOptions options = w.server_options();
  options.key_store = w.trust(w.authority, "ca");
  EXPECT_EQ(load_error(options), options.key_store.location + ": no private key in it");
  options = w.server_options();
  options.trust_store.location = w.dir.write("empty.pem", "");
  EXPECT_EQ(load_error(options), options.trust_store.location + ": no trusted certificate in it");
}

}  // namespace
}  // namespace drover::net
