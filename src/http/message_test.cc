// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

#include <gtest/gtest.h>

namespace drover::server {
namespace {

TEST(HttpHead, ShowsTheLengthOfTheBody) {
  HttpResponse response = text_response(404, "");
  response.headers.push_back({"Allow", "GET"});
  EXPECT_EQ(
      head_text(response, {.length = 9}),
      "HTTP/1.1 404 Not Found\r\nServer: drover\r\nContent-Type: text/plain; charset=utf-8\r\nAllow: GET\r\n"
      "Content-Length: 9\r\n\r\n");
}

TEST(HttpHead, ShowsThatChunksFollow) {
  const HttpResponse response = json_response(200, "");
  EXPECT_EQ(head_text(response, {.body = HttpBodyEnd::kChunks}),
            "HTTP/1.1 200 OK\r\nServer: drover\r\nContent-Type: application/json\r\nTransfer-Encoding: "
            "chunked\r\n\r\n");
}

TEST(HttpHead, SaysWhatHappensToTheConnectionIfItIsNotTheDefault) {
  HttpResponse response;
  response.content_type = "";
  const std::string ok = "OK\r\nServer: drover\r\n";
  EXPECT_EQ(head_text(response, {.keep_alive = false, .body = HttpBodyEnd::kClose}),
            "HTTP/1.1 200 " + ok + "Connection: close\r\n\r\n");
  EXPECT_EQ(head_text(response, {.version = 10, .keep_alive = false, .body = HttpBodyEnd::kClose}),
            "HTTP/1.0 200 " + ok + "\r\n");
  EXPECT_EQ(head_text(response, {.version = 10, .keep_alive = true, .body = HttpBodyEnd::kLength}),
            "HTTP/1.0 200 " + ok + "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n");
}

}  // namespace
}  // namespace drover::server
