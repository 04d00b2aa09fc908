// SPDX-License-Identifier: Apache-2.0
//
// The keys that control access: TLS, passwords, authentication schemes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"
#include "config/config_testing.h"

namespace drover::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(ConfigTls, ASecurePortNeedsAKey) {
  EXPECT_EQ(error_of(load_lines("secureClientPort=2281\n")),
            "zoo.cfg: secureClientPort needs ssl.keyStore.location");
  EXPECT_THAT(error_of(load_lines("client.portUnification=true\n")), HasSubstr("ssl.keyStore.location"));
}

TEST(ConfigTls, ClientCertificatesNeedATrustStore) {
  EXPECT_EQ(error_of(load_lines("secureClientPort=2281\nssl.keyStore.location=/k.pem\n")),
            "zoo.cfg: secureClientPort needs ssl.trustStore.location, or ssl.clientAuth=none");
  EXPECT_THAT(error_of(load_lines("client.portUnification=true\nssl.keyStore.location=/k.pem\n"
                                  "ssl.clientAuth=want\n")),
              HasSubstr("client.portUnification needs ssl.trustStore.location"));
  EXPECT_TRUE(load_lines("secureClientPort=2281\nssl.keyStore.location=/k.pem\nssl.clientAuth=none\n"));
}

TEST(ConfigTls, AllSslKeysAreRead) {
  const Loaded loaded = load_lines(
      "secureClientPort=2281\nsecureClientPortAddress=10.0.0.1\n"
      "ssl.keyStore.location=/k.pem\nssl.keyStore.password=pw1\nssl.keyStore.type=pem\n"
      "ssl.trustStore.location=/t.jks\nssl.trustStore.passwordPath=/pw\n"
      "ssl.enabledProtocols=TLSv1.2, TLSv1.3\nssl.clientAuth=want\nssl.crl=true\n"
      "ssl.quorum.keyStore.location=/q.p12\nssl.quorum.clientAuth=none\n");
  const ServerConfig c = config_of(loaded);
  EXPECT_EQ(c.secure_client, (Endpoint{"10.0.0.1", 2281}));
  EXPECT_EQ(c.tls.key_store.location, "/k.pem");
  EXPECT_EQ(c.tls.key_store.password.reveal(), "pw1");
  EXPECT_EQ(c.tls.key_store.type, StoreType::kPem);
  EXPECT_EQ(c.tls.trust_store.password_path, "/pw");
  EXPECT_THAT(c.tls.enabled_protocols, ElementsAre("TLSv1.2", "TLSv1.3"));
  EXPECT_EQ(c.tls.client_auth, net::ClientAuth::kWant);
  EXPECT_TRUE(c.tls.crl);
  EXPECT_EQ(c.quorum_tls.key_store.location, "/q.p12");
  EXPECT_EQ(c.quorum_tls.client_auth, net::ClientAuth::kNone);
  EXPECT_TRUE(c.quorum_tls.client_hostname_verification);
  EXPECT_FALSE(c.tls.client_hostname_verification);
  EXPECT_THAT(warnings_of(loaded), IsEmpty());
  EXPECT_EQ(error_of(load_lines("ssl.clientAuth=maybe\n")),
            "zoo.cfg:3: ssl.clientAuth=maybe: expected none, want or need");
}

TEST(ConfigTls, CertificatesOfServersAreCheckedOnlyIfTheyAreRequired) {
  EXPECT_EQ(config_of(load_lines("")).ensemble.certificate_check, std::nullopt);
  EXPECT_EQ(config_of(load_lines("quorum.peerCertificateCheck=false\n")).ensemble.certificate_check, false);
  EXPECT_EQ(error_of(load_lines("quorum.peerCertificateCheck=true\nssl.quorum.clientAuth=want\n")),
            "zoo.cfg: quorum.peerCertificateCheck=true needs ssl.quorum.clientAuth=need");
}

TEST(ConfigTls, AllSettingsReachTheTlsLibrary) {
  TlsSettings settings;
  settings.key_store = {
      .location = "/k", .password = Secret("pw"), .password_path = "/p", .type = StoreType::kPkcs12};
  settings.trust_store.location = "/t.pem";
  settings.client_auth = net::ClientAuth::kWant;
  settings.crl_location = "/crl";
  settings.handshake_timeout_ms = 7;
  const net::TlsOptions options = to_tls_options(settings, net::TlsRole::kServer);
  EXPECT_EQ(options.key_store.location, "/k");
  EXPECT_EQ(options.key_store.password, "pw");
  EXPECT_EQ(options.key_store.password_path, "/p");
  EXPECT_EQ(options.key_store.type, "PKCS12");
  EXPECT_EQ(options.trust_store.location, "/t.pem");
  EXPECT_EQ(options.trust_store.type, "");
  EXPECT_EQ(options.client_auth, net::ClientAuth::kWant);
  EXPECT_EQ(options.crl_location, "/crl");
  EXPECT_EQ(options.handshake_timeout_ms, 7);
}

TEST(ConfigSecrets, APasswordIsNeverShown) {
  const Loaded loaded =
      load_lines("", {"-Dzookeeper.ssl.keyStore.password=hunter2",
                      "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:hunter2"});
  EXPECT_EQ(config_of(loaded).auth.super_digest.reveal(), "super:hunter2");
  EXPECT_THAT(warnings_of(loaded), Contains(HasSubstr("every user of the machine")));
  EXPECT_THAT(warnings_of(loaded), Not(Contains(HasSubstr("hunter2"))));
}

TEST(ConfigSecrets, AWarningAboutASecretDoesNotContainIt) {
  EXPECT_THAT(
      warnings_of(load_lines("DigestAuthenticationProvider.superDigest=hunter2\n")),
      ElementsAre("zoo.cfg:3: DigestAuthenticationProvider.superDigest=***: no client can match it: expected "
                  "user:digest"));
}

TEST(ConfigSecrets, APasswordOfAKeyWithoutEffectIsNotShown) {
  EXPECT_THAT(warnings_of(load_lines("SASLAuthenticationProvider.superPassword=hunter2\n")),
              Not(Contains(HasSubstr("hunter2"))));
  EXPECT_THAT(error_of(load_lines("metricsProvider.ssl.keyStore.password=hunter2\n")),
              Not(HasSubstr("hunter2")));
}

TEST(ConfigAuth, ProvidersAreNamedByTheirJavaClass) {
  const Loaded loaded = load_lines(
      "enforce.auth.schemes=ensemble, digest\n"
      "authProvider.1=org.apache.zookeeper.server.auth.EnsembleAuthenticationProvider\n"
      "authProvider.2=org.apache.zookeeper.server.auth.X509AuthenticationProvider\n"
      "ensembleAuthName=one, two\n");
  const AuthSettings auth = config_of(loaded).auth;
  EXPECT_TRUE(auth.ensemble_provider);
  EXPECT_THAT(auth.ensemble_names, ElementsAre("one", "two"));
  EXPECT_THAT(auth.enforce_schemes, ElementsAre("ensemble", "digest"));
  EXPECT_THAT(warnings_of(loaded), IsEmpty());
  EXPECT_EQ(error_of(load_lines("authProvider.3=com.example.Mine\n")),
            "zoo.cfg:3: authProvider.3=com.example.Mine: a Java class cannot be loaded, so its scheme is not "
            "available");
  EXPECT_FALSE(config_of(load_lines("")).auth.ensemble_provider);
}

TEST(ConfigAuth, AnEnforcedSchemeMustBeAvailable) {
  const auto enforced = [](const std::string& lines) {
    return load_lines("enforce.auth.enabled=true\n" + lines);
  };
  EXPECT_EQ(error_of(enforced("")), "zoo.cfg: enforce.auth.enabled needs enforce.auth.schemes");
  for (const std::string scheme : {"world", "auth", "x509", "ensemble", "Digest"}) {
    EXPECT_EQ(error_of(enforced("enforce.auth.schemes=digest," + scheme + "\n")),
              "zoo.cfg: enforce.auth.schemes: " + scheme + " is not available");
  }
  EXPECT_FALSE(enforced("enforce.auth.schemes=digest\nDigestAuthenticationProvider.enabled=false\n"));
  EXPECT_THAT(warnings_of(enforced("enforce.auth.schemes=digest, ip\n")), IsEmpty());
  EXPECT_TRUE(load_lines("enforce.auth.schemes=nonsense\n")) << "not enforced";
}

}  // namespace
}  // namespace drover::server
