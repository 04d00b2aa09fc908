// SPDX-License-Identifier: Apache-2.0
//
// The hash of tables that clients fill: it is SipHash, and knowing the source code does not help to find
// collisions.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

namespace drover {
namespace {

constexpr HashKey kKey{0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};

std::string counting(std::size_t length) {
  std::string bytes;
  for (std::size_t i = 0; i < length; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

TEST(Hash, IsSipHash) {
  // The paper's worked example (appendix A), and the first of its authors' SipHash-2-4 vectors.
  EXPECT_EQ((siphash<2, 4>(counting(15), kKey)), 0xa129ca6149be45e5ull);
  EXPECT_EQ((siphash<2, 4>(counting(0), kKey)), 0x726fdb47dd0e0e31ull);
  EXPECT_EQ((siphash<2, 4>(counting(8), kKey)), 0x93f5f5799a932462ull);
}

TEST(Hash, DependsOnEveryByteAndTheLength) {
  // Lengths around multiples of 8 bytes.
  for (std::size_t length = 0; length <= 40; ++length) {
    const std::string bytes(length, 'x');
    const std::uint64_t hash = hash_bytes(bytes, kKey);
    EXPECT_EQ(hash_bytes(std::string(length, 'x'), kKey), hash);
    EXPECT_NE(hash_bytes(bytes + '\0', kKey), hash) << length;
    for (std::size_t i = 0; i < length; ++i) {
      std::string changed = bytes;
      changed[i] = 'y';
      EXPECT_NE(hash_bytes(changed, kKey), hash) << "byte " << i << " of " << length;
    }
  }
}

TEST(Hash, DependsOnBothHalvesOfTheKey) {
  for (const HashKey& other : {HashKey{kKey.k0 ^ 1, kKey.k1}, HashKey{kKey.k0, kKey.k1 ^ 1}}) {
    int same_bucket = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::string path = "/app/node-" + std::to_string(i);
      if ((hash_bytes(path, kKey) >> 54) == (hash_bytes(path, other) >> 54)) ++same_bucket;
    }
    EXPECT_LT(same_bucket, 20);  // 1 expected with 1024 buckets
  }
}

TEST(Hash, SimilarPathsFillBucketsEvenly) {
  std::vector<int> buckets(256);
  for (int i = 0; i < 256 * 64; ++i) ++buckets[hash_bytes("/lock/n-" + std::to_string(i), kKey) >> 56];
  for (const int n : buckets) {
    EXPECT_GT(n, 20);
    EXPECT_LT(n, 130);
  }
}

TEST(Hash, TheHashOfEachPrefixOfAPathIsThatPathsHash) {
  for (const std::string& path :
       {std::string("/a"), std::string("/a/bb/ccc"), std::string("/1234567/1234567/8"),
        "/" + std::string(20, 'x') + "/y/z/" + std::string(9, 'w')}) {
    std::vector<std::string> levels;
    for_each_level(path, kKey, [&](const Hashed& level) {
      EXPECT_EQ(level.hash, hash_bytes(level.bytes, kKey)) << level.bytes;
      levels.emplace_back(level.bytes);
    });
    std::vector<std::string> expected;
    for (std::size_t i = 1; i < path.size(); ++i) {
      if (path[i] == '/') expected.push_back(path.substr(0, i));
    }
    expected.push_back(path);
    EXPECT_EQ(levels, expected);
  }
}

// The number of slots that a table with linear probing examines to insert all paths.
std::size_t probes(const std::vector<std::string>& paths, const HashKey& key) {
  std::vector<bool> taken(std::bit_ceil(paths.size() * 2));
  std::size_t looks = 1;
  for (const std::string& path : paths) {
    std::size_t at = hash_bytes(path, key) & (taken.size() - 1);
    for (; taken[at]; ++looks) at = (at + 1) & (taken.size() - 1);
    taken[at] = true;
    ++looks;
  }
  return looks;
}

TEST(Hash, BlocksThatWouldZeroAFactorAreHashedNormally) {
  // An earlier version of this hash, not fully keyed, multiplied (first half of a block ^ constant) with the
  // state. A block that began with the constant set the state to 0, whatever came before: 48,000 such paths
  // fell into one bucket.
  constexpr std::uint64_t kOldConstant = 0xE7037ED1A0B428DBull;
  std::string nullifier(8, '\0');
  std::memcpy(nullifier.data(), &kOldConstant, 8);
  nullifier += "behind it";
  std::vector<std::string> hostile;
  std::vector<std::string> ordinary;
  std::unordered_set<std::uint64_t> hashes;
  for (int i = 0; i < 48'000; ++i) {
    std::string number = std::to_string(i);
    number.insert(0, 8 - number.size(), '0');
    hostile.push_back("/watch-" + number + '/' + nullifier);
    ordinary.push_back("/watch-" + number + "/ordinary name of 17");
    hashes.insert(hash_bytes(hostile.back(), kKey));
  }
  EXPECT_EQ(hostile.front().size(), 33u) << "the constant begins the second block of 16 bytes";
  EXPECT_EQ(hashes.size(), hostile.size());
  EXPECT_LT(probes(hostile, kKey), 2 * probes(ordinary, kKey));
}

}  // namespace
}  // namespace drover
