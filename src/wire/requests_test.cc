// SPDX-License-Identifier: Apache-2.0
#include "wire/requests.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/random.h"
#include "wire/testing.h"

namespace drover::wire {
namespace {

using namespace testing;

// ---- docs/client-protocol.md, "Handshake" ----

TEST(ConnectRequest, GoldenBytes) {
  const std::string password(16, '\0');
  const ConnectRequest request{
      .timeout_ms = 30000, .password = password, .read_only = false, .has_read_only = true};
  std::string out;
  {
    Frame frame(out);
    Writer w(out);
    encode(w, request);
  }
  EXPECT_EQ(out, from_hex("0000002d 00000000 0000000000000000 00007530 0000000000000000 00000010") +
                     std::string(16, '\0') + std::string(1, '\0'));
}

TEST(ConnectRequest, TheReadOnlyByteIsOptional) {
  ConnectRequest request{.protocol_version = 7,
                         .last_zxid_seen = Zxid{-3},
                         .timeout_ms = -1,
                         .session = SessionId{5},
                         .password = "0123456789abcdef"};
  const std::string old_bytes = written([&](Writer& w) { encode(w, request); });
  const auto old_client = decode_connect_request(old_bytes);
  ASSERT_TRUE(old_client);
  EXPECT_FALSE(old_client->has_read_only);
  EXPECT_EQ(old_client->protocol_version, 7);
  EXPECT_EQ(old_client->last_zxid_seen, Zxid{-3});
  EXPECT_EQ(old_client->timeout_ms, -1);
  EXPECT_EQ(old_client->session, SessionId{5});

  request.has_read_only = request.read_only = true;
  const std::string bytes = written([&](Writer& w) { encode(w, request); }) + "trailing bytes are ignored";
  const auto client = decode_connect_request(bytes);
  ASSERT_TRUE(client);
  EXPECT_TRUE(client->has_read_only);
  EXPECT_TRUE(client->read_only);
  EXPECT_EQ(client->password, "0123456789abcdef");
}

TEST(ConnectRequest, ANullOrShortPasswordIsAcceptedAndAnImpossibleLengthIsNot) {
  const std::string head = from_hex("00000000 0000000000000000 00007530 0000000000000000");
  EXPECT_TRUE(decode_connect_request(head + from_hex("ffffffff 00")));
  EXPECT_TRUE(decode_connect_request(head + from_hex("00000003 616263 00")));
  EXPECT_FALSE(decode_connect_request(head + from_hex("fffffffe 00")));
  EXPECT_FALSE(decode_connect_request(head + from_hex("7fffffff 00")));
  EXPECT_FALSE(decode_connect_request(head));
  EXPECT_FALSE(decode_connect_request(""));
}

TEST(ConnectResponse, GoldenBytesWithAndWithoutTheReadOnlyByte) {
  const std::string password = from_hex("81701f067afef73bc7c1b1635394def1");
  ConnectResponse response{.timeout_ms = 10000,
                           .session = SessionId{0x0100000c11b50000},
                           .password = password,
                           .read_only = false,
                           .has_read_only = true};
  const std::string golden =
      from_hex("00000000 00002710 0100000c11b50000 00000010 81701f067afef73bc7c1b1635394def1 00");
  EXPECT_EQ(written([&](Writer& w) { encode(w, response); }), golden);
  EXPECT_EQ(golden.size(), 37u);
  const auto decoded = decode_connect_response(golden);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->session, response.session);
  EXPECT_EQ(decoded->timeout_ms, 10000);

  response.has_read_only = false;
  EXPECT_EQ(written([&](Writer& w) { encode(w, response); }).size(), 36u);
}

// ---- docs/client-protocol.md, "Operations" ----

TEST(Create, ReadsEveryField) {
  const std::string body = create_body("/a", {.data = "hi", .flags = kEphemeralSequential});
  Reader r(body);
  const auto create = decode_create(r, OpCode::kCreate);
  ASSERT_TRUE(create);
  EXPECT_EQ(create->path, "/a");
  EXPECT_EQ(create->data, "hi");
  EXPECT_EQ(create->acl, open_acl_bytes());
  EXPECT_EQ(create->flags, kEphemeralSequential);
  EXPECT_EQ(create->ttl_ms, -1) << "only createTTL has one";
}

TEST(Create, CreateTtlHasATtlAfterTheFlags) {
  const std::string body = create_ttl_body("/a", 5000);
  Reader r(body);
  const auto create = decode_create(r, OpCode::kCreateTtl);
  ASSERT_TRUE(create);
  EXPECT_EQ(create->flags, kPersistentTtl);
  EXPECT_EQ(create->ttl_ms, 5000);
  Reader without(std::string_view(body).substr(0, body.size() - 8));
  EXPECT_FALSE(decode_create(without, OpCode::kCreateTtl));
}

TEST(Create, NullPathAndNullDataAreKept) {
  const std::string body = create_body(std::nullopt, {.data = std::nullopt});
  Reader r(body);
  const auto create = decode_create(r, OpCode::kCreate2);
  ASSERT_TRUE(create);
  EXPECT_EQ(create->path, std::nullopt);
  EXPECT_EQ(create->data, std::nullopt);
}

TEST(Delete, ReadsPathAndVersionAndRequiresAPath) {
  const std::string body = path_version_body("/a/b", 7);
  Reader r(body);
  const auto request = decode_delete(r);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->path, "/a/b");
  EXPECT_EQ(request->version, 7);
  const std::string null_body = path_version_body(std::nullopt);
  Reader null_path(null_body);
  EXPECT_FALSE(decode_delete(null_path));
}

TEST(SetDataAndSetAcl, ANullPathReadsAsAnEmptyOneBecauseJavaCallsBothInvalid) {
  const std::string set_data = set_data_body(std::nullopt, std::nullopt, 3);
  Reader r(set_data);
  const auto data = decode_set_data(r);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->path, "");
  EXPECT_EQ(data->data, std::nullopt);
  EXPECT_EQ(data->version, 3);

  const std::string set_acl = set_acl_body(std::nullopt, open_acl_bytes(), 4);
  Reader r2(set_acl);
  const auto acl = decode_set_acl(r2);
  ASSERT_TRUE(acl);
  EXPECT_EQ(acl->path, "");
  EXPECT_EQ(acl->acl, open_acl_bytes());
  EXPECT_EQ(acl->version, 4);
}

TEST(PathWatch, ReadsTheWatchFlagAndRequiresAPath) {
  const std::string body = path_watch_body("", true);
  Reader r(body);
  const auto request = decode_path_watch(r);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->path, "");
  EXPECT_TRUE(request->watch);
  const std::string null_body = path_watch_body(std::nullopt);
  Reader null_path(null_body);
  EXPECT_FALSE(decode_path_watch(null_path));
}

TEST(PathType, KeepsNullPathsForTheOperationToCheck) {
  const std::string body = path_type_body(std::nullopt, 3);
  Reader r(body);
  const auto request = decode_path_type(r);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->path, std::nullopt);
  EXPECT_EQ(request->type, 3);
}

TEST(SetWatches, HasThreeListsAndSetWatches2Five) {
  const std::string body = set_watches_body(Zxid{9}, {{"/d1", "/d2"}, {"/e"}, {"/c"}, {"/p"}, {"/r"}});
  Reader r(body);
  const auto three = decode_set_watches(r, OpCode::kSetWatches);
  ASSERT_TRUE(three);
  EXPECT_EQ(three->relative_zxid, Zxid{9});
  EXPECT_EQ(three->data, (PathList{"/d1", "/d2"}));
  EXPECT_EQ(three->exist, PathList{"/e"});
  EXPECT_EQ(three->child, PathList{"/c"});
  EXPECT_TRUE(three->persistent.empty());

  Reader r2(body);
  const auto five = decode_set_watches(r2, OpCode::kSetWatches2);
  ASSERT_TRUE(five);
  EXPECT_EQ(five->persistent, PathList{"/p"});
  EXPECT_EQ(five->persistent_recursive, PathList{"/r"});

  const std::string short_body = set_watches_body(Zxid{9}, {{}, {}, {}});
  Reader r3(short_body);
  EXPECT_FALSE(decode_set_watches(r3, OpCode::kSetWatches2));
}

TEST(SetWatches, NullListsAndNullElementsAreErrorsButOtherNegativeCountsAreEmpty) {
  const auto decodes = [](const char* hex) {
    const std::string body = from_hex(hex);
    Reader r(body);
    return decode_set_watches(r, OpCode::kSetWatches).has_value();
  };
  EXPECT_TRUE(decodes("0000000000000001 00000000 00000000 00000000"));
  EXPECT_TRUE(decodes("0000000000000001 fffffffb fffffffb fffffffb"));
  EXPECT_FALSE(decodes("0000000000000001 ffffffff 00000000 00000000"));
  EXPECT_FALSE(decodes("0000000000000001 00000000 00000000 ffffffff"));
  EXPECT_FALSE(decodes("0000000000000001 00000001 ffffffff 00000000 00000000"));
  EXPECT_FALSE(decodes("0000000000000001 40000000 00000000 00000000"));
}

TEST(Auth, KeepsNullsForTheSchemeToCheck) {
  const std::string body = from_hex("00000007 ffffffff ffffffff");
  Reader r(body);
  const auto auth = decode_auth(r);
  ASSERT_TRUE(auth);
  EXPECT_EQ(auth->scheme, std::nullopt);
  EXPECT_EQ(auth->auth, std::nullopt);
  Reader truncated(std::string_view(body).substr(0, 8));
  EXPECT_FALSE(decode_auth(truncated));
}

TEST(Reconfig, DistinguishesNullFromEmptyStrings) {
  const std::string body = from_hex("ffffffff 00000000 00000001 63 0000000100000002");
  Reader r(body);
  const auto request = decode_reconfig(r);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->joining, std::nullopt);
  EXPECT_EQ(request->leaving, "");
  EXPECT_EQ(request->new_members, "c");
  EXPECT_EQ(request->config_version, 0x1'0000'0002);
}

// ---- all bodies ----

struct Decoder {
  const char* name;
  std::string body;
  std::function<bool(Reader&)> decode;
};

std::vector<Decoder> every_decoder() {
  return {
      {"create", create_body("/a", {.data = "x"}),
       [](Reader& r) { return bool(decode_create(r, OpCode::kCreate)); }},
      {"createTTL", create_ttl_body("/a", 1),
       [](Reader& r) { return bool(decode_create(r, OpCode::kCreateTtl)); }},
      {"delete", path_version_body("/a"), [](Reader& r) { return bool(decode_delete(r)); }},
      {"setData", set_data_body("/a", "x"), [](Reader& r) { return bool(decode_set_data(r)); }},
      {"setACL", set_acl_body("/a", open_acl_bytes()), [](Reader& r) { return bool(decode_set_acl(r)); }},
      {"check", path_version_body("/a"), [](Reader& r) { return bool(decode_check(r)); }},
      {"getData", path_watch_body("/a"), [](Reader& r) { return bool(decode_path_watch(r)); }},
      {"addWatch", path_type_body("/a", 1), [](Reader& r) { return bool(decode_path_type(r)); }},
      {"getACL", path_body("/a"), [](Reader& r) { return bool(decode_path(r)); }},
      {"setWatches2", set_watches_body(Zxid{1}, {{"/a"}, {"/b"}, {}, {}, {"/c"}}),
       [](Reader& r) { return bool(decode_set_watches(r, OpCode::kSetWatches2)); }},
      {"auth", from_hex("00000000 00000001 61 00000001 62"), [](Reader& r) { return bool(decode_auth(r)); }},
      {"reconfig", from_hex("00000001 61 00000001 62 00000001 63 0000000000000005"),
       [](Reader& r) { return bool(decode_reconfig(r)); }},
      {"multi",
       multi_body({{OpCode::kDelete, path_version_body("/a")}, {OpCode::kCheck, path_version_body("/b")}}),
       [](Reader& r) { return bool(decode_multi(r, 10)); }},
  };
}

TEST(EveryBody, IsRefusedWhenAnyOfItsBytesIsMissing) {
  for (const Decoder& d : every_decoder()) {
    for (std::size_t length = 0; length < d.body.size(); ++length) {
      Reader r(std::string_view(d.body).substr(0, length));
      EXPECT_FALSE(d.decode(r)) << d.name << " cut at " << length;
    }
  }
}

TEST(EveryBody, MayBeFollowedByBytesThatAreIgnored) {
  for (const Decoder& d : every_decoder()) {
    const std::string longer = d.body + "more";
    Reader r(longer);
    EXPECT_TRUE(d.decode(r)) << d.name;
    EXPECT_EQ(r.position(), d.body.size()) << d.name;
  }
}

TEST(EveryBody, SurvivesAnyDamage) {
  Random random(5);
  for (const Decoder& d : every_decoder()) {
    for (int round = 0; round < 500; ++round) {
      std::string bytes = d.body;
      for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
        bytes[random.below(bytes.size())] = static_cast<char>(random.below(2) == 0 ? 0xFF : random.next());
      }
      Reader r(bytes);
      d.decode(r);
      EXPECT_LE(r.position(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace drover::wire
