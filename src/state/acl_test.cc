// SPDX-License-Identifier: Apache-2.0
//
// ACL checks and ACL validation (docs/client-protocol.md, "Authentication and ACLs").
#include "state/acl.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "wire/testing.h"

namespace drover::state {
namespace {

using wire::Acl;
using wire::testing::acl_bytes;
using wire::testing::from_hex;

AclList list_of(const std::vector<Acl>& entries) { return {entries, acl_bytes(entries)}; }

bool allowed(const std::vector<Acl>& acl, std::int32_t perms, const Identities& who,
             const Options& options = {}) {
  return is_allowed(list_of(acl), perms, who, options);
}

ErrorCode resolve_error(const std::vector<Acl>& asked, const Identities& who = {},
                        const Options& options = {}) {
  const auto resolved = resolve_acl(acl_bytes(asked), who, options);
  return resolved ? ErrorCode::kOk : resolved.error();
}

std::vector<Acl> resolved(const std::vector<Acl>& asked, const Identities& who, const Options& options = {}) {
  const auto bytes = resolve_acl(acl_bytes(asked), who, options);
  if (!bytes) return {};
  wire::Reader r(*bytes);
  return wire::decode_acl_list(r);
}

// ---- the check ----

TEST(IsAllowed, WorldAnyoneNeedsNoIdentity) {
  EXPECT_TRUE(allowed({{wire::kRead, {"world", "anyone"}}}, wire::kRead, {}));
  EXPECT_FALSE(allowed({{wire::kRead, {"world", "anyone"}}}, wire::kWrite, {}));
  EXPECT_FALSE(allowed({{wire::kAll, {"world", "bob"}}}, wire::kRead, {{"world", "bob"}}));
}

TEST(IsAllowed, AnyMatchingPermissionBitIsEnough) {
  EXPECT_TRUE(allowed({{wire::kAdmin, {"world", "anyone"}}}, wire::kRead | wire::kAdmin, {}));
  EXPECT_FALSE(allowed({{wire::kWrite, {"world", "anyone"}}}, wire::kRead | wire::kAdmin, {}));
  EXPECT_TRUE(allowed({{-1, {"world", "anyone"}}}, wire::kDelete, {}));
}

TEST(IsAllowed, AnEmptyListAndSkipAclAllowEverybody) {
  EXPECT_TRUE(allowed({}, wire::kWrite, {}));
  Options options;
  options.skip_acl = true;
  EXPECT_TRUE(allowed({{0, {"world", "anyone"}}}, wire::kWrite, {}, options));
}

TEST(IsAllowed, AnyIdentityOfTheCallerCanGrantAccess) {
  Options options;
  options.x509_scheme = true;
  options.x509_super_user = "CN=2";
  Random random(7);
  const auto somebody = [&]() -> wire::Identity {
    const std::string n = std::to_string(random.below(30));
    switch (random.below(4)) {
      case 0: return {"ip", "10.0.0." + n};
      case 1: return {"x509", "CN=" + n};
      case 2: return {"unknown", n};
      default: return {"digest", "user" + n + ":hash"};
    }
  };
  int yes = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Acl> acl;
    Identities who;
    while (acl.size() < 8) acl.push_back({random.below(2) == 0 ? wire::kRead : wire::kWrite, somebody()});
    while (who.size() < 6) who.push_back(somebody());
    bool one_may = false;
    for (const wire::Identity& id : who) one_may |= allowed(acl, wire::kRead, {id}, options);
    EXPECT_EQ(allowed(acl, wire::kRead, who, options), one_may);
    yes += one_may ? 1 : 0;
  }
  EXPECT_GT(yes, 200);
  EXPECT_LT(yes, 1800);
}

TEST(IsAllowed, SuperMayDoEverything) {
  EXPECT_TRUE(allowed({{0, {"world", "anyone"}}}, wire::kAdmin, {{"super", ""}}));
}

TEST(IsAllowed, DigestsMatchWhenEqual) {
  const Acl entry{wire::kWrite, {"digest", "u:hash"}};
  EXPECT_TRUE(allowed({entry}, wire::kWrite, {{"ip", "1.1.1.1"}, {"digest", "u:hash"}}));
  EXPECT_FALSE(allowed({entry}, wire::kWrite, {{"digest", "u:other"}}));
  EXPECT_FALSE(allowed({entry}, wire::kWrite, {{"ip", "u:hash"}}));
  Options off;
  off.digest_scheme = false;
  EXPECT_FALSE(allowed({entry}, wire::kWrite, {{"digest", "u:hash"}}, off))
      << "a scheme that is off matches nobody";
}

TEST(IsAllowed, TheX509SuperUserMatchesEveryX509Entry) {
  Options options;
  options.x509_scheme = true;
  options.x509_super_user = "CN=root";
  EXPECT_TRUE(allowed({{1, {"x509", "CN=alice"}}}, 1, {{"x509", "CN=alice"}}, options));
  EXPECT_FALSE(allowed({{1, {"x509", "CN=alice"}}}, 1, {{"x509", "CN=bob"}}, options));
  EXPECT_TRUE(allowed({{1, {"x509", "CN=alice"}}}, 1, {{"x509", "CN=root"}}, options));
}

Options sasl_options() {
  Options options;
  options.sasl_scheme = true;
  return options;
}

// The same decision for few and for many identities: many are sorted first.
void expect_allowed(bool expected, const wire::Identity& entry, const wire::Identity& who,
                    const Options& options) {
  std::vector<Acl> acl{{wire::kRead, entry}};
  Identities identities{who};
  EXPECT_EQ(allowed(acl, wire::kRead, identities, options), expected) << who.id << " " << entry.id;
  for (int i = 0; i < 10; ++i) {
    acl.push_back({wire::kRead, {"digest", "nobody:" + std::to_string(i)}});
    identities.push_back({"digest", "somebody:" + std::to_string(i)});
  }
  EXPECT_EQ(allowed(acl, wire::kRead, identities, options), expected)
      << who.id << " " << entry.id << ", sorted";
}

TEST(IsAllowed, SaslUsersMatchByName) {
  const Options options = sasl_options();
  expect_allowed(true, {"sasl", "bob@R"}, {"sasl", "bob@R"}, options);
  expect_allowed(false, {"sasl", "bob@R"}, {"sasl", "bob"}, options);
  expect_allowed(false, {"sasl", "bob"}, {"digest", "bob"}, options);
  expect_allowed(false, {"sasl", "bob"}, {"sasl", "bob"}, {});  // the scheme is not configured
}

// He is not the super user: other schemes do not know him.
TEST(IsAllowed, TheSaslUserSuperMatchesEverySaslEntry) {
  const Options options = sasl_options();
  expect_allowed(true, {"sasl", "bob"}, {"sasl", "super"}, options);
  expect_allowed(false, {"digest", "bob:x"}, {"sasl", "super"}, options);
  expect_allowed(false, {"sasl", "super"}, {"sasl", "bob"}, options);
}

TEST(IsAllowed, OneConfiguredNameMeansEverySaslUser) {
  Options options = sasl_options();
  options.any_sasl_user = "everyone";
  expect_allowed(true, {"sasl", "everyone"}, {"sasl", "bob"}, options);
  expect_allowed(false, {"sasl", "everyone"}, {"digest", "bob:x"}, options);
  expect_allowed(false, {"sasl", "ann"}, {"sasl", "bob"}, options);
  options.any_sasl_user.clear();
  expect_allowed(false, {"sasl", ""}, {"sasl", "bob"}, options);
}

TEST(IsAllowed, EveryIdentityOfAConnectionCounts) {
  Options options = sasl_options();
  options.x509_scheme = true;
  const Identities who{{"ip", "10.1.2.3"}, {"x509", "CN=app"}, {"digest", "ann:h"}, {"sasl", "bob@R"}};
  for (const wire::Identity& entry : {wire::Identity{"ip", "10.0.0.0/8"},
                                      {"x509", "CN=app"},
                                      {"digest", "ann:h"},
                                      {"sasl", "bob@R"},
                                      {"world", "anyone"}}) {
    EXPECT_TRUE(allowed({{wire::kRead, entry}}, wire::kRead, who, options)) << entry.scheme;
  }
  for (const wire::Identity& entry :
       {wire::Identity{"ip", "11.0.0.0/8"}, {"x509", "CN=other"}, {"sasl", "ann:h"}, {"super", ""}}) {
    EXPECT_FALSE(allowed({{wire::kRead, entry}}, wire::kRead, who, options)) << entry.scheme;
  }
  EXPECT_EQ(resolved({{wire::kRead, {"auth", ""}}}, who, options),
            (std::vector<Acl>{{wire::kRead, {"x509", "CN=app"}},
                              {wire::kRead, {"digest", "ann:h"}},
                              {wire::kRead, {"sasl", "bob@R"}}}));
}

TEST(IsAllowed, SchemesWithoutAProviderMatchNobody) {
  EXPECT_FALSE(allowed({{wire::kAll, {"sasl", "bob"}}}, wire::kRead, {{"sasl", "bob"}}));
  EXPECT_FALSE(allowed({{wire::kAll, {"x509", "CN=a"}}}, wire::kRead, {{"x509", "CN=a"}}));
}

// ---- ip ----

Options no_acls() {
  Options options;
  options.skip_acl = true;
  return options;
}

TEST(PermissionsByName, CountOnlyEntriesThatNameTheCaller) {
  const AclList acl = list_of({{wire::kAll, {"world", "anyone"}},
                               {wire::kRead, {"digest", "ann:1"}},
                               {wire::kAdmin | wire::kWrite, {"digest", "ann:1"}},
                               {wire::kCreate, {"ip", "10.0.0.0/8"}}});
  EXPECT_EQ(permissions_by_name(acl, {{"digest", "ann:1"}}, {}), wire::kRead | wire::kAdmin | wire::kWrite);
  EXPECT_EQ(permissions_by_name(acl, {{"digest", "bob:1"}}, {}), 0);
  EXPECT_EQ(permissions_by_name(acl, {{"ip", "10.1.2.3"}}, {}), wire::kCreate);
  EXPECT_EQ(permissions_by_name(acl, {}, no_acls()), 0);
  EXPECT_EQ(permissions_by_name(list_of({}), {{"digest", "ann:1"}}, {}), 0);
}

TEST(AnybodyMayChange, AListThatGrantsWorldAdminOrIsEmpty) {
  EXPECT_TRUE(anybody_may_change(list_of({{wire::kAdmin, {"world", "anyone"}}}), {}));
  EXPECT_TRUE(anybody_may_change(list_of({}), {}));
  EXPECT_TRUE(anybody_may_change(list_of({{wire::kAll, {"digest", "ann:1"}}}), no_acls()));
  EXPECT_FALSE(anybody_may_change(
      list_of({{wire::kAll, {"digest", "ann:1"}}, {wire::kRead, {"world", "anyone"}}}), {}));
}

TEST(IpAcl, MatchesByMask) {
  EXPECT_TRUE(ip_matches("10.1.2.3", "10.1.2.3"));
  EXPECT_TRUE(ip_matches("10.1.2.3", "10.1.2.3/32"));
  EXPECT_FALSE(ip_matches("10.1.2.4", "10.1.2.3"));
  EXPECT_TRUE(ip_matches("10.200.2.4", "10.1.2.3/8"));
  EXPECT_FALSE(ip_matches("11.1.2.3", "10.1.2.3/8"));
  EXPECT_TRUE(ip_matches("10.1.2.127", "10.1.2.0/25"));
  EXPECT_FALSE(ip_matches("10.1.2.128", "10.1.2.0/25"));
  EXPECT_TRUE(ip_matches("255.255.255.255", "1.2.3.4/0"));
}

TEST(IpAcl, MatchesEveryNotationOfAnIpv6Address) {
  EXPECT_TRUE(ip_matches("0:0:0:0:0:0:0:1", "::1"));
  EXPECT_TRUE(ip_matches("2001:db8:0:0:0:0:0:1", "2001:db8::/32"));
  EXPECT_FALSE(ip_matches("2001:db9:0:0:0:0:0:1", "2001:db8::/32"));
  EXPECT_TRUE(ip_matches("2001:db8::7fff:1", "2001:db8::7000:0/97")) << "a border inside a byte";
  EXPECT_FALSE(ip_matches("2001:db8::8000:1", "2001:db8::7000:0/97"));
}

TEST(IpAcl, FamiliesNeverMatchEachOther) {
  EXPECT_FALSE(ip_matches("127.0.0.1", "::/0"));
  EXPECT_FALSE(ip_matches("::1", "0.0.0.0/0"));
}

TEST(IpAcl, AcceptsTheIdsThatJavaAccepts) {
  for (const char* id : {"1.2.3.4", "1.2.3.4/24", "1.2.3.4/0", "01.2.3.4", "1.2.3.4/32"}) {
    EXPECT_EQ(resolve_error({{31, {"ip", id}}}), ErrorCode::kOk) << id;
  }
  for (const char* id : {"1.2.3.4/33", "1.2.3.4/-1", "1.2.3.4/", "1.2.3.4/ab", "1.2.3", "1.2.3.256", "",
                         "1.2.3.4.5", "a.b.c.d", "1..2.3", "/8", "1.2.3.4/8/8", ":::", "1:2:3",
                         "::1::", "12345::", "1:2:3:4:5:6:7:8:9", "::1/129"}) {
    EXPECT_EQ(resolve_error({{31, {"ip", id}}}), ErrorCode::kInvalidAcl) << id;
  }
}

// ---- validation of requested lists ----

TEST(ResolveAcl, AcceptsTheDigestsThatJavaAccepts) {
  for (const char* id : {"u:p", ":p", "a:b:"}) {
    EXPECT_EQ(resolve_error({{31, {"digest", id}}}), ErrorCode::kOk) << id;
  }
  for (const char* id : {"u", "u:", ":", "", "a:b:c"}) {
    EXPECT_EQ(resolve_error({{31, {"digest", id}}}), ErrorCode::kInvalidAcl) << id;
  }
}

TEST(ResolveAcl, AcceptsTheSaslNamesThatJavaAccepts) {
  const auto error = [](const char* name) {
    return resolve_error({{wire::kAll, {"sasl", name}}}, {}, sasl_options());
  };
  for (const char* name : {"bob", "", "a/b", "a/b/c", "a@R", "a/b@R", "@", "/@", "a@", "a\nb@c"}) {
    EXPECT_EQ(error(name), ErrorCode::kOk) << name;
  }
  for (const char* name : {"a@b@c", "a/b/c@R", "a@R/S", "@@"}) {
    EXPECT_EQ(error(name), ErrorCode::kInvalidAcl) << name;
  }
  EXPECT_EQ(resolve_error({{wire::kAll, {"sasl", "bob"}}}), ErrorCode::kInvalidAcl) << "not configured";
}

TEST(ResolveAcl, RefusesUnknownSchemesAndWorldIdsOtherThanAnyone) {
  const wire::Identity refused[] = {{"world", "bob"}, {"", ""},           {"nosuch", "x"},
                                    {"super", "x"},   {"sasl", "anyone"}, {"x509", "CN=a"}};
  for (const wire::Identity& id : refused) {
    EXPECT_EQ(resolve_error({{31, id}}), ErrorCode::kInvalidAcl) << id.scheme << ":" << id.id;
    EXPECT_EQ(resolve_error({{31, {"world", "anyone"}}, {31, id}}), ErrorCode::kInvalidAcl)
        << "one bad entry is enough";
  }
}

TEST(ResolveAcl, KeepsAnyPermsAndTheOrderOfEntries) {
  const std::vector<Acl> asked = {{0, {"ip", "1.2.3.4"}}, {-1, {"world", "anyone"}}, {31, {"digest", "u:p"}}};
  EXPECT_EQ(resolved(asked, {}), asked);
}

TEST(ResolveAcl, DropsDuplicatesAndKeepsTheFirst) {
  const Acl a{1, {"ip", "1.2.3.4"}};
  const Acl b{2, {"ip", "1.2.3.4"}};
  EXPECT_EQ(resolved({a, b, a, b, a}, {}), (std::vector<Acl>{a, b}));
}

TEST(ResolveAcl, EmptyListsAndNullSchemesAreInvalid) {
  for (const char* hex : {"ffffffff", "fffffffe", "00000000", "00000001 0000001f ffffffff 00000000"}) {
    const auto result = resolve_acl(from_hex(hex), {}, {});
    ASSERT_FALSE(result) << hex;
    EXPECT_EQ(result.error(), ErrorCode::kInvalidAcl) << hex;
  }
}

TEST(ResolveAcl, ANullIdIsAMarshallingErrorUnlessTheSchemeIsAuth) {
  const auto error_of = [](const char* hex) {
    const auto result = resolve_acl(from_hex(hex), {}, {});
    return result ? ErrorCode::kOk : result.error();
  };
  EXPECT_EQ(error_of("00000001 0000001f 00000005 776f726c64 ffffffff"),
            ErrorCode::kMarshallingError);                                                        // world
  EXPECT_EQ(error_of("00000001 0000001f 00000002 6970 ffffffff"), ErrorCode::kMarshallingError);  // ip
  EXPECT_EQ(error_of("00000001 0000001f 00000004 61757468 ffffffff"),
            ErrorCode::kInvalidAcl);  // auth, nobody
}

TEST(ResolveAcl, AuthBecomesTheCallersAuthenticatedIdentities) {
  const Identities who = {{"ip", "127.0.0.1"}, {"super", ""}, {"digest", "u:h"}, {"digest", "v:h"}};
  EXPECT_EQ(resolved({{5, {"auth", "ignored"}}, {1, {"world", "anyone"}}}, who),
            (std::vector<Acl>{{5, {"digest", "u:h"}}, {5, {"digest", "v:h"}}, {1, {"world", "anyone"}}}));
  EXPECT_EQ(resolve_error({{5, {"auth", ""}}}, {{"ip", "127.0.0.1"}, {"super", ""}}), ErrorCode::kInvalidAcl);
}

TEST(ResolveAcl, ExpandingAuthCannotExceedTheEntryLimit) {
  Options options;
  options.acl_entries_max = 10;
  std::vector<Acl> asked;
  for (int i = 0; i < 11; ++i) asked.push_back({i, {"world", "anyone"}});
  EXPECT_EQ(resolve_error(asked, {}, options), ErrorCode::kInvalidAcl);

  const Identities who(4, {"digest", "u:h"});
  const std::vector<Acl> expanding = {{1, {"auth", ""}}, {2, {"auth", ""}}, {3, {"auth", ""}}};
  EXPECT_EQ(resolve_error(expanding, who, options), ErrorCode::kInvalidAcl)
      << "3 entries for 4 identities are 12";
  EXPECT_EQ(resolve_error({expanding[0], expanding[1]}, who, options), ErrorCode::kOk);
}

TEST(ResolveAcl, AListMustFitInATransaction) {
  // Otherwise a few entries and long user names could turn one small request into any amount of memory.
  Options options;
  options.acl_bytes_max = 10'000;
  const Identities who(4, {"digest", std::string(1000, 'u') + ":h"});
  EXPECT_EQ(resolve_error({{1, {"auth", ""}}}, who, options), ErrorCode::kOk);
  EXPECT_EQ(resolve_error({{1, {"auth", ""}}, {2, {"auth", ""}}, {3, {"auth", ""}}}, who, options),
            ErrorCode::kInvalidAcl);
}

// ---- authentication ----

TEST(Authenticate, DigestsMatchKnownVectors) {
  EXPECT_EQ(digest_identity("super:admin"), "super:xQJmxLMiHGwaqBvst5y6rkB6HQs=");
  EXPECT_EQ(digest_identity("user:password"), "user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY=");
  EXPECT_EQ(digest_identity("a:b:c").substr(0, 2), "a:");
  EXPECT_EQ(digest_identity("nocolon").substr(0, 8), "nocolon:");
}

TEST(Authenticate, DigestAcceptsAnyTextAndIpAddsTheAddress) {
  for (const char* auth : {"", "u", ":", "a:b:c"}) {
    const auto proven = authenticate("digest", auth, "9.9.9.9", {});
    ASSERT_TRUE(proven) << auth;
    EXPECT_EQ(proven->size(), 1u);
    EXPECT_EQ(proven->front().scheme, "digest");
  }
  const auto ip = authenticate("ip", "whatever", "9.9.9.9", {});
  ASSERT_TRUE(ip);
  EXPECT_EQ(*ip, (Identities{{"ip", "9.9.9.9"}}));
}

TEST(Authenticate, OtherSchemesFail) {
  for (const char* scheme : {"world", "super", "auth", "sasl", "x509", "", "nosuch", "DIGEST"}) {
    EXPECT_FALSE(authenticate(scheme, "u:p", "9.9.9.9", {})) << scheme;
  }
  Options off;
  off.digest_scheme = false;
  EXPECT_FALSE(authenticate("digest", "u:p", "9.9.9.9", off));
}

TEST(Authenticate, TheSuperDigestAddsSuperToItsOwnIdentity) {
  Options options;
  options.super_digest = "super:xQJmxLMiHGwaqBvst5y6rkB6HQs=";
  const auto proven = authenticate("digest", "super:admin", "9.9.9.9", options);
  ASSERT_TRUE(proven);
  EXPECT_EQ(*proven, (Identities{{"super", ""}, {"digest", options.super_digest}}));
  EXPECT_EQ(authenticate("digest", "super:wrong", "9.9.9.9", options)->size(), 1u);
  // If no super digest is configured, nobody is super, not even with an empty digest.
  EXPECT_EQ(authenticate("digest", "", "9.9.9.9", {})->size(), 1u);
}

TEST(Authenticate, ASaslSuperUserIsAlsoSuper) {
  Options options = sasl_options();
  EXPECT_EQ(sasl_identities("bob", options), (Identities{{"sasl", "bob"}}));
  options.sasl_super_users = {"root", "bob", ""};
  EXPECT_EQ(sasl_identities("bob", options), (Identities{{"sasl", "bob"}, {"super", ""}}));
  EXPECT_EQ(sasl_identities("", options), (Identities{{"sasl", ""}}));
  EXPECT_EQ(sasl_identities("super", options), (Identities{{"sasl", "super"}}));
  EXPECT_FALSE(authenticate("sasl", "bob", "127.0.0.1", options)) << "an auth packet proves nothing";
}

TEST(WhoAmI, ASaslUserIsShownIfTheSchemeIsConfigured) {
  EXPECT_EQ(user_name({"sasl", "bob@R"}, sasl_options()), "bob@R");
  EXPECT_EQ(user_name({"sasl", "bob@R"}, {}), "");
}

TEST(WhoAmI, ShowsTheUserBeforeTheColon) {
  EXPECT_EQ(user_name({"digest", "bob:hash"}, {}), "bob");
  EXPECT_EQ(user_name({"ip", "1.2.3.4"}, {}), "1.2.3.4");
  EXPECT_EQ(user_name({"super", ""}, {}), "");
}

}  // namespace
}  // namespace drover::state
