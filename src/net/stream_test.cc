// SPDX-License-Identifier: Apache-2.0
#include "net/stream.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <string>

#include "net/tls_test_support.h"

namespace drover::net {
namespace {

using namespace std::string_view_literals;
using testing::connected_pair;
using testing::receive;
using testing::StreamPair;

TEST(PlainStream, CarriesBytesAndEndOfFile) {
  StreamPair pair = connected_pair();
  EXPECT_EQ(pair.client.handshake(), IoStatus::kOk);
  EXPECT_EQ(pair.client.write("ruok").bytes, 4u);
  EXPECT_EQ(receive(pair.server), "ruok");
  char byte;
  EXPECT_EQ(pair.server.read(&byte, 1).status, IoStatus::kAgain);
  pair.client.shutdown();
  EXPECT_EQ(pair.server.read(&byte, 1).status, IoStatus::kClosed);
  // The other half is still open.
  EXPECT_EQ(pair.server.write("imok").status, IoStatus::kOk);
  EXPECT_EQ(receive(pair.client), "imok");
}

TEST(PlainStream, PeekingConsumesNothing) {
  StreamPair pair = connected_pair();
  pair.client.write("abc");
  char buffer[2];
  EXPECT_EQ(pair.server.peek(buffer, 2).bytes, 2u);
  EXPECT_EQ(std::string_view(buffer, 2), "ab");
  EXPECT_EQ(receive(pair.server), "abc");
}

TEST(PlainStream, AFullBufferReturnsAgainAndALostPeerIsAnErrorNotASignal) {
  StreamPair pair = connected_pair();
  const std::string chunk(1 << 16, 'x');
  IoCount count{IoStatus::kOk};
  while (count.status == IoStatus::kOk) count = pair.server.write(chunk);
  EXPECT_EQ(count.status, IoStatus::kAgain);
  pair.client.close();
  EXPECT_EQ(pair.server.write(chunk).status, IoStatus::kError);  // SIGPIPE would end this program.
  EXPECT_EQ(pair.server.error_text(), "connection failed: Broken pipe");
}

TEST(PlainStream, EventsMatchTheRequestedInterest) {
  StreamPair pair = connected_pair();
  EXPECT_EQ(pair.server.events_for({.read = true}), std::uint32_t{EPOLLIN});
  EXPECT_EQ(pair.server.events_for({.write = true}), std::uint32_t{EPOLLOUT});
  EXPECT_EQ(pair.server.events_for({}), 0u);
  EXPECT_FALSE(pair.server.has_buffered());
  EXPECT_FALSE(pair.server.peer_subject());
}

TEST(LooksLikeTls, DetectedByTheFirstByteAndConfirmedByTheSecond) {
  EXPECT_TRUE(looks_like_tls("\x16"sv));
  EXPECT_TRUE(looks_like_tls("\x16\x03\x01\x02\x00"sv));
  EXPECT_FALSE(looks_like_tls("\x16\x02\x01"sv));
  EXPECT_FALSE(looks_like_tls(""sv));
  EXPECT_FALSE(looks_like_tls("ruok"sv));
  EXPECT_FALSE(looks_like_tls("\0\0\0\x2d"sv));
}

}  // namespace
}  // namespace drover::net
