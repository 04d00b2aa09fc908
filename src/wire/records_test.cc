// SPDX-License-Identifier: Apache-2.0
#include "wire/records.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "wire/replies.h"
#include "wire/testing.h"

namespace drover::wire {
namespace {

using testing::acl_bytes;
using testing::from_hex;
using testing::to_hex;
using testing::written;

constexpr const char* kStatHex =
    "0000000000000001 0000000000000002 0000000000000003 0000000000000004"  // czxid mzxid ctime mtime
    "00000005 00000006 00000007"                                           // version cversion aversion
    "0000000000000008 00000009 0000000a 000000000000000b";                 // owner, length, children, pzxid

TEST(Stat, Is68BytesInZooKeepersOrder) {
  const Stat stat{Zxid{1}, Zxid{2}, 3, 4, 5, 6, 7, 8, 9, 10, Zxid{11}};
  const std::string bytes = written([&](Writer& w) { encode(w, stat); });
  EXPECT_EQ(bytes.size(), kStatBytes);
  EXPECT_EQ(bytes, from_hex(kStatHex));
  Reader r(bytes);
  EXPECT_EQ(decode_stat(r), stat);
  EXPECT_TRUE(r.ok() && r.at_end());
}

TEST(Stat, PersistedFormHasNoLengthAndNoChildren) {
  const StatPersisted stat{Zxid{1}, Zxid{2}, 3, 4, 5, 6, 7, -8, Zxid{9}};
  const std::string bytes = written([&](Writer& w) { encode(w, stat); });
  EXPECT_EQ(bytes.size(), kStatPersistedBytes);
  EXPECT_EQ(to_hex(bytes).substr(88), "fffffffffffffff80000000000000009");
  Reader r(bytes);
  EXPECT_EQ(decode_stat_persisted(r), stat);
  EXPECT_TRUE(r.ok() && r.at_end());
}

TEST(Stat, ATruncatedStatIsRejected) {
  const std::string bytes = from_hex(kStatHex);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Reader r(std::string_view(bytes).substr(0, length));
    decode_stat(r);
    EXPECT_FALSE(r.ok()) << length;
  }
}

TEST(AclList, TheOpenAclIsWorldAnyoneAll) {
  EXPECT_EQ(to_hex(open_acl_bytes()),
            "00000001"
            "0000001f"
            "00000005776f726c64"
            "00000006616e796f6e65");
}

TEST(AclList, RoundTrips) {
  const std::vector<Acl> list = {{1, {"digest", "u:p"}}, {-1, {"", ""}}, {kAll, {"ip", "1.2.3.4/8"}}};
  const std::string bytes = acl_bytes(list);
  Reader r(bytes);
  EXPECT_EQ(decode_acl_list(r), list);
  EXPECT_TRUE(r.ok() && r.at_end());
  Reader again(bytes);
  EXPECT_EQ(skip_acl_list(again), bytes);
  EXPECT_TRUE(again.at_end());
}

TEST(AclList, NullAndNegativeCountsAreEmpty) {
  for (const char* hex : {"ffffffff", "fffffffe", "00000000"}) {
    const std::string bytes = from_hex(hex);
    Reader r(bytes);
    EXPECT_EQ(skip_acl_list(r), bytes);
    EXPECT_TRUE(r.ok());
    Reader again(bytes);
    EXPECT_TRUE(decode_acl_list(again).empty());
  }
}

TEST(AclList, HostileCountsFailWithoutAllocating) {
  for (const char* hex :
       {"40000000 0000001f", "7fffffff", "00000001 0000001f", "00000001 0000001f 00000001 77 7fffffff"}) {
    const std::string bytes = from_hex(hex);
    Reader r(bytes);
    EXPECT_TRUE(skip_acl_list(r).empty());
    EXPECT_FALSE(r.ok()) << hex;
    Reader again(bytes);
    decode_acl_list(again);
    EXPECT_FALSE(again.ok()) << hex;
  }
}

TEST(AclList, DistinguishesNullSchemesFromNullIds) {
  const auto nulls = [](const char* hex) {
    const std::string bytes = from_hex(hex);
    return first_null_in_acl_list(Reader(bytes));
  };
  EXPECT_EQ(nulls("00000001 00000001 00000000 00000000"), AclNulls::kNone);
  EXPECT_EQ(nulls("00000001 00000001 ffffffff 00000000"), AclNulls::kScheme);
  EXPECT_EQ(nulls("00000001 00000001 00000002 6970 ffffffff"), AclNulls::kId);
  // The `auth` scheme ignores the id.
  EXPECT_EQ(nulls("00000001 00000001 00000004 61757468 ffffffff"), AclNulls::kNone);
  // The first null decides.
  EXPECT_EQ(nulls("00000002 00000001 00000002 6970 ffffffff 00000001 ffffffff 00000000"), AclNulls::kId);
}

TEST(OpCode, ShortNamesAreWhatConsPrints) {
  EXPECT_EQ(short_name_of(OpCode::kGetData), "GETD");
  EXPECT_EQ(short_name_of(OpCode::kCloseSession), "CLOS");
  EXPECT_EQ(short_name_of(static_cast<OpCode>(999)), "NA");
}

// docs/client-protocol.md, "Encoding"; captured from a live server.
TEST(Reply, GoldenBytesOfACreate) {
  std::string out;
  {
    Frame frame(out);
    Writer w(out);
    encode(w, ReplyHeader{1, Zxid{3}, ErrorCode::kOk});
    w.string("/a");
  }
  EXPECT_EQ(out, from_hex("00000016 00000001 0000000000000003 00000000 000000022f61"));
}

TEST(Reply, AnErrorIsOnlyAHeader) {
  std::string out;
  append_bare_reply(out, {7, Zxid{9}, ErrorCode::kNoNode});
  EXPECT_EQ(out, from_hex("00000010 00000007 0000000000000009 ffffff9b"));
  Reader r(std::string_view(out).substr(4));
  const ReplyHeader header = decode_reply_header(r);
  EXPECT_EQ(header.xid, 7);
  EXPECT_EQ(header.zxid, Zxid{9});
  EXPECT_EQ(header.error, ErrorCode::kNoNode);
}

TEST(Event, GoldenBytesOfANodeCreated) {
  std::string out;
  append_event(out, EventType::kNodeCreated, "/w", Zxid{-1});
  EXPECT_EQ(out, from_hex("0000001e ffffffff ffffffffffffffff 00000000 00000001 00000003 000000022f77"));
}

}  // namespace
}  // namespace drover::wire
