// SPDX-License-Identifier: Apache-2.0
//
// Replies to writes, byte for byte (docs/client-protocol.md).
#include "replica/reply.h"

#include <gtest/gtest.h>

#include <string>

#include "state/testing.h"
#include "wire/testing.h"

namespace drover::replica {
namespace {

using state::testing::Leader;
using wire::OpCode;
using namespace wire::testing;

class WriteReply : public ::testing::Test {
 protected:
  // The frame without its length.
  std::string reply_to(OpCode op, const std::string& body) {
    leader_.prepare(op, body);
    const state::ApplyResult result = leader_.apply_next();
    std::string out;
    append_write_reply(out, op, 7, leader_.machine.last_zxid, result);
    wire::Reader r(out);
    return std::string(r.string());
  }
  std::string header(std::int32_t error = 0) const {
    return written([&](wire::Writer& w) {
      w.i32(7);
      w.i64(raw(leader_.machine.last_zxid));
      w.i32(error);
    });
  }
  std::string stat(std::string_view path) const {
    return written([&](wire::Writer& w) { wire::encode(w, leader_.stat(path)); });
  }

  Leader leader_{state::testing::with_extended_types()};
};

TEST_F(WriteReply, GoldenBytesOfACreate) {
  EXPECT_EQ(to_hex(reply_to(OpCode::kCreate, create_body("/a"))),
            "00000007"
            "0000000000000001"
            "00000000"
            "000000022f61");
}

TEST_F(WriteReply, TheOtherCreatesCarryAStat) {
  const std::string create2 = reply_to(OpCode::kCreate2, create_body("/a"));
  EXPECT_EQ(create2, header() + from_hex("00000002 2f61") + stat("/a"));
  const std::string container = reply_to(OpCode::kCreateContainer, create_body("/b", {.flags = 4}));
  EXPECT_EQ(container, header() + from_hex("00000002 2f62") + stat("/b"));
  const std::string ttl = reply_to(OpCode::kCreateTtl, create_ttl_body("/t", 5));
  EXPECT_EQ(ttl, header() + from_hex("00000002 2f74") + stat("/t"));
}

TEST_F(WriteReply, SetDataAndSetAclCarryAStatAndDeleteNothing) {
  leader_.create("/a");
  const std::string set_data = reply_to(OpCode::kSetData, set_data_body("/a", "x"));
  EXPECT_EQ(set_data, header() + stat("/a"));
  const std::string set_acl = reply_to(OpCode::kSetAcl, set_acl_body("/a", wire::open_acl_bytes()));
  EXPECT_EQ(set_acl, header() + stat("/a"));
  const std::string removed = reply_to(OpCode::kDelete, path_version_body("/a"));
  EXPECT_EQ(removed, header());
}

TEST_F(WriteReply, AnErrorHasNoBody) {
  const std::string no_node = reply_to(OpCode::kSetData, set_data_body("/none", "x"));
  EXPECT_EQ(no_node, header(-101));
  const std::string junk = reply_to(OpCode::kMulti, "junk");
  EXPECT_EQ(junk, header(-5)) << "a multi that could not be read at all";
}

TEST_F(WriteReply, AMultiThatSucceededHasOneResultPerPart) {
  const std::string body = multi_body({{OpCode::kCreate, create_body("/a")},
                                       {OpCode::kCreate2, create_body("/b")},
                                       {OpCode::kCreateTtl, create_ttl_body("/t", 5)},
                                       {OpCode::kCreateContainer, create_body("/c", {.flags = 4})},
                                       {OpCode::kSetData, set_data_body("/a", "x")},
                                       {OpCode::kCheck, path_version_body("/a", 1)},
                                       {OpCode::kDelete, path_version_body("/b")}});
  const std::string reply = reply_to(OpCode::kMulti, body);
  const std::string a_stat = stat("/a");
  EXPECT_EQ(
      to_hex(reply),
      to_hex(header() + from_hex("00000001 00 00000000 00000002 2f61") +
             from_hex("00000001 00 00000000 00000002 2f62") + from_hex("0000000f 00 00000000 00000002 2f74") +
             stat("/t") + from_hex("0000000f 00 00000000 00000002 2f63") + stat("/c") +
             from_hex("00000005 00 00000000") + a_stat + from_hex("0000000d 00 00000000") +
             from_hex("00000002 00 00000000") + from_hex("ffffffff 01 ffffffff")));
}

TEST_F(WriteReply, GoldenBytesOfAMultiThatFailed) {
  leader_.create("/a");
  const std::string reply =
      reply_to(OpCode::kMulti, multi_body({{OpCode::kCreate, create_body("/m9")},
                                           {OpCode::kDelete, path_version_body("/zzz")},
                                           {OpCode::kSetData, set_data_body("/a", "x")}}));
  EXPECT_EQ(to_hex(reply),
            to_hex(header() + from_hex("ffffffff00 00000000 00000000 | ffffffff00 ffffff9b ffffff9b |"
                                       "ffffffff00 fffffffe fffffffe | ffffffff01 ffffffff")));
}

TEST_F(WriteReply, AnEmptyMultiHasOnlyTheEndHeader) {
  const std::string reply = reply_to(OpCode::kMulti, multi_body({}));
  EXPECT_EQ(to_hex(reply), to_hex(header() + from_hex("ffffffff01 ffffffff")));
}

}  // namespace
}  // namespace drover::replica
