// SPDX-License-Identifier: Apache-2.0
//
// SipHash-1-3: the keyed hash of every table whose keys clients choose (paths, ACL lists, addresses).
//
// Collisions make a table slow, and clients may try to cause them. SipHash is a pseudorandom function:
// without the 128-bit key, nobody can find two inputs that collide, however many they try. (Aumasson,
// Bernstein: "SipHash: a fast short-input PRF", 2012. One round per block and three at the end, as in Rust's
// and Python's tables.) The server takes its key from the random device when it starts; the simulator derives
// it from the seed.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace drover {

// The product of two numbers, folded to 64 bits. Mixes well, but a factor of 0 determines the result. Do not
// use it for keys from outside.
inline std::uint64_t mix64(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

struct HashKey {
  std::uint64_t k0 = 0;
  std::uint64_t k1 = 0;
};

namespace detail {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  template <int kRounds>
  void rounds() {
    for (int i = 0; i < kRounds; ++i) round();
  }
  template <int kRounds>
  void absorb(std::uint64_t block) {
    v3 ^= block;
    rounds<kRounds>();
    v0 ^= block;
  }
  template <int kBlockRounds, int kFinalRounds>
  std::uint64_t finish(std::uint64_t last_block) {
    absorb<kBlockRounds>(last_block);
    v2 ^= 0xff;
    rounds<kFinalRounds>();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

inline SipState sip_start(const HashKey& key) {
  return {key.k0 ^ 0x736f6d6570736575ull, key.k1 ^ 0x646f72616e646f6dull, key.k0 ^ 0x6c7967656e657261ull,
          key.k1 ^ 0x7465646279746573ull};
}

inline std::uint64_t load_le64(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t v;
  std::memcpy(&v, at, 8);
  return v;
}

// The bytes after the last whole block, with the length in the highest byte.
inline std::uint64_t sip_last_block(std::string_view bytes) {
  const std::size_t n = bytes.size() % 8;
  const std::uint64_t length = static_cast<std::uint64_t>(bytes.size()) << 56;
  if (n == 0) return length;
  // One load that overlaps the previous block is cheaper than a copy of an unknown number of bytes.
  const char* end = bytes.data() + bytes.size();
  if (bytes.size() >= 8) return length | (load_le64(end - 8) >> (64 - 8 * n));
  std::uint64_t rest = 0;
  std::memcpy(&rest, end - n, n);
  return length | rest;
}

}  // namespace detail

template <int kBlockRounds, int kFinalRounds>
std::uint64_t siphash(std::string_view bytes, const HashKey& key) {
  detail::SipState s = detail::sip_start(key);
  const char* p = bytes.data();
  for (const char* end = p + bytes.size() / 8 * 8; p != end; p += 8) {
    s.absorb<kBlockRounds>(detail::load_le64(p));
  }
  return s.finish<kBlockRounds, kFinalRounds>(detail::sip_last_block(bytes));
}

inline std::uint64_t hash_bytes(std::string_view bytes, const HashKey& key) {
  return siphash<1, 3>(bytes, key);
}

// A key whose hash is already known.
struct Hashed {
  std::string_view bytes;
  std::uint64_t hash = 0;
  friend bool operator==(const Hashed& a, std::string_view b) { return a.bytes == b; }
};

// Visits the path of every ancestor of `path` except the root, then `path` itself, shortest first. All hashes
// together cost one hash of the whole path plus a little per level. A path may have thousands of levels, and
// hashing each from the start would take seconds.
template <class Visit>
void for_each_level(std::string_view path, const HashKey& key, Visit visit) {
  detail::SipState s = detail::sip_start(key);
  std::size_t absorbed = 0;
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string_view level = path.substr(0, end);
    for (; absorbed + 8 <= level.size(); absorbed += 8)
      s.absorb<1>(detail::load_le64(path.data() + absorbed));
    detail::SipState last = s;
    visit(Hashed{level, last.finish<1, 3>(detail::sip_last_block(level))});
    if (end == std::string_view::npos) return;
  }
}

// The hash function of tables with string keys. It mixes well, so boost's tables need not mix again.
struct KeyedHash {
  using is_transparent = void;
  using is_avalanching = void;
  HashKey key{};
  std::size_t operator()(std::string_view bytes) const { return hash_bytes(bytes, key); }
  std::size_t operator()(const Hashed& known) const { return known.hash; }
};

}  // namespace drover
