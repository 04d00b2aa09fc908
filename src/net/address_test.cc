// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <gtest/gtest.h>

namespace drover::net {
namespace {

Address at(std::string_view ip, std::uint16_t port = 0) { return *Address::parse(ip, port); }

TEST(Address, PrintsAsJavaDoes) {
  EXPECT_EQ(at("127.0.0.1", 54321).to_text(), "/127.0.0.1:54321");
  EXPECT_EQ(at("::1", 5).to_text(), "/[0:0:0:0:0:0:0:1]:5");
  EXPECT_EQ(at("::1").ip_text(), "0:0:0:0:0:0:0:1");
  EXPECT_EQ(at("2001:db8::ff00:42:8329").ip_text(), "2001:db8:0:0:0:ff00:42:8329");
}

TEST(Address, AnIpv4AddressMappedIntoIpv6IsIpv4) {
  EXPECT_FALSE(at("::ffff:10.1.2.3").is_ipv6());
  EXPECT_EQ(at("::ffff:10.1.2.3", 7), at("10.1.2.3", 7));
}

TEST(Address, ALinkLocalAddressShowsItsScope) {
  sockaddr_storage storage;
  const socklen_t length = at("fe80::1", 9).to_sockaddr(storage);
  reinterpret_cast<sockaddr_in6&>(storage).sin6_scope_id = 2;
  const auto scoped = Address::from_sockaddr(reinterpret_cast<sockaddr*>(&storage), length);
  EXPECT_EQ(scoped.to_text(), "/[fe80:0:0:0:0:0:0:1%2]:9");
}

TEST(Address, RoundTripsThroughSockaddr) {
  for (const std::string_view ip : {"0.0.0.0", "10.0.0.255", "::", "2001:db8::1"}) {
    sockaddr_storage storage;
    const Address address = at(ip, 2181);
    const socklen_t length = address.to_sockaddr(storage);
    EXPECT_EQ(Address::from_sockaddr(reinterpret_cast<sockaddr*>(&storage), length), address);
  }
}

TEST(Address, RecognisesWildcardsAndLoopbacks) {
  EXPECT_TRUE(at("0.0.0.0").is_wildcard());
  EXPECT_TRUE(at("::").is_wildcard());
  EXPECT_FALSE(at("0.0.0.1").is_wildcard());
  EXPECT_TRUE(at("127.8.8.8").is_loopback());
  EXPECT_TRUE(at("::1").is_loopback());
  EXPECT_FALSE(at("::2").is_loopback());
}

TEST(Address, AHostNameIsNotALiteralAddress) {
  EXPECT_FALSE(Address::parse("localhost", 0));
  EXPECT_FALSE(Address::parse("1.2.3", 0));
  EXPECT_FALSE(Address::parse("", 0));
}

TEST(Address, ResolvingPrefersIpv4) {
  const auto found = resolve("localhost", 2181);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front().to_text(), "/127.0.0.1:2181");
}

TEST(Address, ALiteralAddressNeedsNoResolver) {
  EXPECT_EQ(resolve("10.9.8.7", 1)->front(), at("10.9.8.7", 1));
}

}  // namespace
}  // namespace drover::net
