// SPDX-License-Identifier: Apache-2.0
//
// Transactions as they are logged (docs/storage-format.md, "Transaction log").
#include "wire/txns.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "wire/testing.h"

namespace drover::wire {
namespace {

using namespace testing;

TxnHeader header_of(OpCode type) { return {SessionId{0x1234}, 7, Zxid{0x500000002}, 1700000000000, type}; }

template <class Txn>
std::string entry_of(OpCode type, const Txn& txn) {
  return written([&](Writer& w) {
    encode(w, header_of(type));
    if constexpr (std::is_same_v<Txn, CreateTxn>) {
      encode(w, type, txn);
    } else {
      encode(w, txn);
    }
  });
}

// Decodes the record of an entry, with and without a digest after it. Fails if it does not decode.
template <class Txn>
Txn round_trip(OpCode type, std::string& entry) {
  const auto bare = decode_entry(entry);
  EXPECT_TRUE(bare) << static_cast<int>(type);
  EXPECT_FALSE(bare && bare->digest);
  entry += written([](Writer& w) { encode(w, TxnDigest{2, 0xFEDCBA9876543210}); });
  const auto sealed = decode_entry(entry);
  if (!sealed) {
    ADD_FAILURE() << "with a digest, type " << static_cast<int>(type);
    return {};
  }
  EXPECT_EQ(sealed->header.type, type);
  EXPECT_EQ(sealed->header.session, SessionId{0x1234});
  EXPECT_EQ(sealed->header.cxid, 7);
  EXPECT_EQ(sealed->header.zxid, Zxid{0x500000002});
  EXPECT_EQ(sealed->header.time_ms, 1700000000000);
  EXPECT_EQ(sealed->digest.value_or(TxnDigest{}).tree_digest, 0xFEDCBA9876543210u);
  return std::get<Txn>(sealed->record);
}

TEST(TxnHeader, Is32BytesAndTheZxidIsFoundWithoutDecoding) {
  const std::string bytes = written([](Writer& w) { encode(w, header_of(OpCode::kDelete)); });
  EXPECT_EQ(to_hex(bytes),
            "0000000000001234"
            "00000007"
            "0000000500000002"
            "0000018bcfe56800"
            "00000002");
  EXPECT_EQ(zxid_of_entry(bytes), Zxid{0x500000002});
}

TEST(LikelyPathOfEntry, IsThePathAtTheStartOfTheRecord) {
  EXPECT_EQ(likely_path_of_entry(entry_of(OpCode::kDelete, DeleteTxn{"/a/b"})), "/a/b");
  EXPECT_EQ(likely_path_of_entry(entry_of(OpCode::kCreate, CreateTxn{"/c", "d", open_acl_bytes()})), "/c");
  EXPECT_EQ(likely_path_of_entry(entry_of(OpCode::kCreateSession, CreateSessionTxn{30'000})), "");
}

TEST(LikelyPathOfEntry, IsEmptyIfTheEntryIsTruncated) {
  const std::string entry = entry_of(OpCode::kDelete, DeleteTxn{"/a/b"});
  for (std::size_t n = 0; n < entry.size(); ++n)
    EXPECT_EQ(likely_path_of_entry(std::string_view(entry).substr(0, n)), "") << n;
}

TEST(CreateTxn, RoundTripsForEveryKind) {
  for (const OpCode type :
       {OpCode::kCreate, OpCode::kCreate2, OpCode::kCreateContainer, OpCode::kCreateTtl}) {
    const CreateTxn txn{"/a/b", "data", open_acl_bytes(), true, 42, 5000};
    std::string entry = entry_of(type, txn);
    const auto back = round_trip<CreateTxn>(type, entry);
    EXPECT_EQ(back.path, "/a/b");
    EXPECT_EQ(back.data, "data");
    EXPECT_EQ(back.acl, open_acl_bytes());
    EXPECT_EQ(back.parent_cversion, 42);
    const bool plain = type == OpCode::kCreate || type == OpCode::kCreate2;
    EXPECT_EQ(back.ephemeral, plain) << "containers and TTL nodes have no such field";
    EXPECT_EQ(back.ttl_ms, type == OpCode::kCreateTtl ? 5000 : 0);
  }
}

TEST(CreateTxn, NullDataStaysNull) {
  std::string entry = entry_of(OpCode::kCreate, CreateTxn{"/a", std::nullopt, open_acl_bytes(), false, 1, 0});
  EXPECT_EQ(round_trip<CreateTxn>(OpCode::kCreate, entry).data, std::nullopt);
}

TEST(CreateTxn, FromBefore34HasNoParentVersion) {
  const std::string full = entry_of(OpCode::kCreate, CreateTxn{"/a", "x", open_acl_bytes(), true, 9, 0});
  const auto old = decode_entry(std::string_view(full).substr(0, full.size() - 4));
  ASSERT_TRUE(old);
  const auto& txn = std::get<CreateTxn>(old->record);
  EXPECT_EQ(txn.parent_cversion, -1);
  EXPECT_TRUE(txn.ephemeral);
  // create2 came later and always had the field.
  const std::string create2 = entry_of(OpCode::kCreate2, CreateTxn{"/a", "x", open_acl_bytes(), true, 9, 0});
  EXPECT_FALSE(decode_entry(std::string_view(create2).substr(0, create2.size() - 4)));
}

TEST(DeleteTxn, RoundTripsAlsoForContainers) {
  for (const OpCode type : {OpCode::kDelete, OpCode::kDeleteContainer}) {
    std::string entry = entry_of(type, DeleteTxn{"/gone"});
    EXPECT_EQ(round_trip<DeleteTxn>(type, entry).path, "/gone");
  }
}

TEST(SetDataTxn, RoundTripsAlsoForReconfig) {
  for (const OpCode type : {OpCode::kSetData, OpCode::kReconfig}) {
    std::string entry = entry_of(type, SetDataTxn{"/a", "new", -1});
    const auto back = round_trip<SetDataTxn>(type, entry);
    EXPECT_EQ(back.path, "/a");
    EXPECT_EQ(back.data, "new");
    EXPECT_EQ(back.version, -1);
  }
}

TEST(SetAclTxn, RoundTrips) {
  const std::string acl = acl_bytes({{kRead, {"ip", "10.0.0.0/8"}}});
  std::string entry = entry_of(OpCode::kSetAcl, SetAclTxn{"/a", acl, 6});
  const auto back = round_trip<SetAclTxn>(OpCode::kSetAcl, entry);
  EXPECT_EQ(back.acl, acl);
  EXPECT_EQ(back.version, 6);
}

TEST(SessionTxns, RoundTrip) {
  std::string create = entry_of(OpCode::kCreateSession, CreateSessionTxn{30000});
  EXPECT_EQ(round_trip<CreateSessionTxn>(OpCode::kCreateSession, create).timeout_ms, 30000);

  const std::vector<std::string> paths = {"/e1", "/e2"};
  std::string close = written([&](Writer& w) {
    encode(w, header_of(OpCode::kCloseSession));
    encode_paths(w, paths);
  });
  EXPECT_EQ(round_trip<CloseSessionTxn>(OpCode::kCloseSession, close).paths, (PathList{"/e1", "/e2"}));
}

TEST(SessionTxns, ACloseSessionFromBefore36HasNoRecord) {
  const std::string entry = written([](Writer& w) { encode(w, header_of(OpCode::kCloseSession)); });
  const auto decoded = decode_entry(entry);
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(std::get<CloseSessionTxn>(decoded->record).paths.empty());
  EXPECT_FALSE(decoded->digest);
}

TEST(SessionTxns, ACloseSessionWithoutRecordMayHaveADigest) {
  for (const std::uint64_t digest : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    const std::string entry = written([&](Writer& w) {
      encode(w, header_of(OpCode::kCloseSession));
      encode(w, TxnDigest{kDigestVersion, digest});
    });
    const auto decoded = decode_entry(entry);
    ASSERT_TRUE(decoded) << digest;
    EXPECT_TRUE(std::get<CloseSessionTxn>(decoded->record).paths.empty());
    ASSERT_TRUE(decoded->digest);
    EXPECT_EQ(decoded->digest->tree_digest, digest);
  }
}

TEST(SessionTxns, APathAsLongAsADigestStaysAPath) {
  const std::string entry = written([](Writer& w) {
    encode(w, header_of(OpCode::kCloseSession));
    encode_paths(w, std::vector<std::string>{"/abc"});
  });
  const auto decoded = decode_entry(entry);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<CloseSessionTxn>(decoded->record).paths, (PathList{"/abc"}));
  EXPECT_FALSE(decoded->digest);
}

TEST(ErrorTxn, RoundTrips) {
  std::string entry = entry_of(OpCode::kError, ErrorTxn{ErrorCode::kNoNode});
  EXPECT_EQ(round_trip<ErrorTxn>(OpCode::kError, entry).error, ErrorCode::kNoNode);
}

TEST(MultiTxn, KeepsItsPartsAsBytes) {
  const std::string first = written([](Writer& w) { encode(w, DeleteTxn{"/a"}); });
  const std::string second = written([](Writer& w) { encode(w, CheckTxn{"/b", 3}); });
  std::string entry = written([&](Writer& w) {
    encode(w, header_of(OpCode::kMulti));
    w.i32(2);
    w.i32(static_cast<std::int32_t>(OpCode::kDelete));
    w.string(first);
    w.i32(static_cast<std::int32_t>(OpCode::kCheck));
    w.string(second);
  });
  const auto multi = round_trip<MultiTxn>(OpCode::kMulti, entry);
  ASSERT_EQ(multi.txns.size(), 2u);
  EXPECT_EQ(multi.txns[0].type, OpCode::kDelete);
  Reader r(multi.txns[1].record);
  const auto check = decode_txn_record(r, OpCode::kCheck, /*in_multi=*/true);
  ASSERT_TRUE(check);
  EXPECT_EQ(std::get<CheckTxn>(*check).version, 3);
}

TEST(TxnRecord, CheckExistsOnlyInsideAMultiAndAMultiHoldsOnlyTreeChanges) {
  const std::string record = path_version_body("/a", 1);
  const auto decodes = [&](OpCode type, bool in_multi) {
    Reader r(record);
    return decode_txn_record(r, type, in_multi).has_value();
  };
  EXPECT_TRUE(decodes(OpCode::kCheck, true));
  EXPECT_FALSE(decodes(OpCode::kCheck, false));
  for (const OpCode type : {OpCode::kMulti, OpCode::kCreateSession, OpCode::kCloseSession}) {
    EXPECT_FALSE(decodes(type, true)) << static_cast<int>(type);
  }
}

TEST(TxnRecord, UnknownTypesAndNullPathsAreRefused) {
  for (const int type : {0, 3, 4, 11, 22, 100, -12, 99}) {
    EXPECT_FALSE(decode_entry(entry_of(static_cast<OpCode>(type), DeleteTxn{"/a"}))) << type;
  }
  const std::string null_path =
      written([](Writer& w) { encode(w, header_of(OpCode::kDelete)); }) + from_hex("ffffffff");
  EXPECT_FALSE(decode_entry(null_path));
}

TEST(TxnEntry, SurvivesAnyDamage) {
  const std::string originals[] = {
      entry_of(OpCode::kCreate, CreateTxn{"/a/b", "data", open_acl_bytes(), true, 42, 0}),
      entry_of(OpCode::kSetAcl, SetAclTxn{"/a", open_acl_bytes(), 6}),
      written([](Writer& w) {
        encode(w, header_of(OpCode::kCloseSession));
        encode_paths(w, std::vector<std::string>{"/e1", "/e2"});
      }),
  };
  Random random(8);
  for (const std::string& original : originals) {
    for (int round = 0; round < 1000; ++round) {
      std::string bytes = original.substr(0, 1 + random.below(original.size()));
      for (std::uint64_t n = random.below(4); n > 0; --n) {
        bytes[random.below(bytes.size())] = static_cast<char>(random.below(2) == 0 ? 0xFF : random.next());
      }
      decode_entry(bytes);
    }
  }
}

}  // namespace
}  // namespace drover::wire
