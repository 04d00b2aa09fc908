// SPDX-License-Identifier: Apache-2.0
//
// Certificates whose issuer cannot be found by its name alone. tests/compat/tls_test.py shows that Java
// accepts and refuses the same ones.
#include "net/tls_issuer.h"

#include <gtest/gtest.h>

#include "net/tls_world_testing.h"

namespace drover::net {
namespace {

using namespace testing;

// As ZooKeeper's C client makes them for its tests.
struct OneName {
  Identity root = make_identity({.common_name = "zk.example", .version_1 = true});
  Identity server = make_identity({.common_name = "zk.example", .issuer = &root, .version_1 = true});
  Identity client = make_identity({.common_name = "zk.example", .issuer = &root, .version_1 = true});

  TlsOptions server_options() const {
    TlsOptions options = world().server_options();
    options.key_store = world().key(server, "one-server");
    options.trust_store = world().trust(root, "one-root");
    return options;
  }
  TlsOptions client_options(const Identity& who) const {
    TlsOptions options = world().client_options();
    options.key_store = world().key(who, "one-client");
    options.trust_store = world().trust(root, "one-root");
    return options;
  }
};

TEST(TlsIssuer, CertificatesMayHaveTheNameOfTheirAuthority) {
  const OneName w;
  const Outcome outcome = meet(w.server_options(), w.client_options(w.client));
  EXPECT_TRUE(outcome.done) << outcome.pair.server.error_text() << outcome.pair.client.error_text();
  EXPECT_EQ(outcome.pair.server.peer_subject(), "CN=zk.example");
}

TEST(TlsIssuer, TheNameOfAnAuthorityAloneIsNotTrusted) {
  const OneName w;
  const OneName others;
  for (const Identity* who : {&others.client, &others.root}) {
    const Outcome outcome = meet(w.server_options(), w.client_options(*who));
    EXPECT_FALSE(outcome.done);
    EXPECT_TRUE(outcome.pair.server.error_text().contains("self-signed certificate"))
        << outcome.pair.server.error_text();
  }
}

TEST(TlsIssuer, ACertificateWithTheNameOfItsAuthorityIsNoAuthority) {
  const OneName w;
  const Identity guest = make_identity({.common_name = "guest", .issuer = &w.client});
  EXPECT_FALSE(meet(w.server_options(), w.client_options(guest)).done);
  const Identity namesake = make_identity({.common_name = "zk.example", .issuer = &w.client});
  EXPECT_FALSE(meet(w.server_options(), w.client_options(namesake)).done);
}

TEST(TlsIssuer, ACertificateWithTheNameOfItsAuthorityPassesAllOtherChecks) {
  const OneName w;
  const Identity late =
      make_identity({.common_name = "zk.example", .issuer = &w.root, .version_1 = true, .valid_for_s = -60});
  const Outcome expired = meet(w.server_options(), w.client_options(late));
  EXPECT_FALSE(expired.done);
  EXPECT_TRUE(expired.pair.server.error_text().contains("expired")) << expired.pair.server.error_text();

  const Identity weak =
      make_identity({.common_name = "zk.example", .issuer = &w.root, .version_1 = true, .sha1 = true});
  EXPECT_FALSE(meet(w.server_options(), w.client_options(weak)).done);

  const Outcome elsewhere =
      meet(w.server_options(), w.client_options(w.client), {.host = "elsewhere.example"});
  EXPECT_FALSE(elsewhere.done);
  EXPECT_TRUE(elsewhere.pair.client.error_text().contains("hostname mismatch"))
      << elsewhere.pair.client.error_text();

  TlsOptions with_lists = w.server_options();
  with_lists.crl = true;
  with_lists.crl_location = world().dir.write("one.crl", crl_pem(w.root, nullptr));
  EXPECT_FALSE(meet(with_lists, w.client_options(w.client)).done);
}

TEST(TlsIssuer, OfTwoAuthoritiesWithOneNameEachIsTried) {
  const TlsWorld& w = world();
  const Identity first = make_identity({.common_name = "renewed", .is_authority = true});
  const Identity second =
      make_identity({.common_name = "renewed", .is_authority = true, .valid_for_s = 7200});
  TlsOptions server = w.server_options();
  server.trust_store.location =
      w.dir.write("renewed.pem", pem_of(first.certificate) + pem_of(second.certificate));
  for (const Identity* authority : {&first, &second}) {
    const Identity client = make_identity({.common_name = "client", .issuer = authority});
    TlsOptions options = w.client_options();
    options.key_store = w.key(client, "of-renewed");
    const Outcome outcome = meet(server, options);
    EXPECT_TRUE(outcome.done) << outcome.pair.server.error_text();
  }
}

}  // namespace
}  // namespace drover::net
