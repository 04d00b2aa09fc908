// SPDX-License-Identifier: Apache-2.0
#include "net/tls_ciphers.h"

#include <gtest/gtest.h>

namespace drover::net {
namespace {

std::string error_of(const TlsOptions& options) {
  const auto selection = select_protocols_and_ciphers(options);
  return selection ? "no error" : selection.error().what;
}

TEST(TlsCiphers, BothSafeProtocolsAreOnUnlessOneIsNamed) {
  const auto both = select_protocols_and_ciphers({});
  EXPECT_TRUE(both->tls12 && both->tls13);
  const auto one = select_protocols_and_ciphers({.protocol = "TLSv1.2"});
  EXPECT_TRUE(one->tls12 && !one->tls13);
}

TEST(TlsCiphers, EnabledProtocolsWinOverProtocol) {
  const auto selection =
      select_protocols_and_ciphers({.protocol = "TLSv1.2", .enabled_protocols = {"TLSv1.3"}});
  EXPECT_TRUE(!selection->tls12 && selection->tls13);
}

TEST(TlsCiphers, OldProtocolsAreIgnoredAndRefusedIfNoOtherIsEnabled) {
  EXPECT_TRUE(select_protocols_and_ciphers({.enabled_protocols = {"TLSv1", "TLSv1.1", "TLSv1.2"}})->tls12);
  EXPECT_EQ(error_of({.enabled_protocols = {"TLSv1", "SSLv3"}}),
            "neither TLSv1.2 nor TLSv1.3 is enabled; older protocols are not safe");
  EXPECT_EQ(error_of({.protocol = "TLSv9"}), "unknown TLS protocol TLSv9");
}

TEST(TlsCiphers, JavaNamesBecomeOpensslNames) {
  const auto selection = select_protocols_and_ciphers(
      {.cipher_suites = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256",
                         "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384", "TLS_EMPTY_RENEGOTIATION_INFO_SCSV"}});
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->tls12_ciphers, "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA384");
  EXPECT_EQ(selection->tls13_ciphers, "TLS_AES_128_GCM_SHA256");
}

TEST(TlsCiphers, AProtocolWithoutACipherSuiteIsSwitchedOff) {
  const auto selection =
      select_protocols_and_ciphers({.cipher_suites = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}});
  EXPECT_TRUE(selection->tls12 && !selection->tls13);
  EXPECT_EQ(error_of({.protocol = "TLSv1.2", .cipher_suites = {"TLS_AES_128_GCM_SHA256"}}),
            "no cipher suite fits the enabled TLS protocols");
  EXPECT_EQ(error_of({.cipher_suites = {"TLS_NO_SUCH"}}), "unknown or unsafe cipher suite TLS_NO_SUCH");
}

}  // namespace
}  // namespace drover::net
