// SPDX-License-Identifier: Apache-2.0
#include "http/router.h"

#include <gtest/gtest.h>

namespace drover::server {
namespace {

HttpHandler says(std::string text) {
  return [text](const HttpRequest&) { return text_response(200, text); };
}

class Router : public ::testing::Test {
 protected:
  Router() {
    router_.get("/commands/*", says("any command"));
    router_.get("/commands/snapshot", says("snapshot"));
    router_.get("/both", says("got"));
    router_.post("/both", says("posted"));
  }
  std::string find(HttpMethod method, std::string_view path) {
    const auto match = router_.find(method, path);
    return match.route ? match.route->handle({}).body : match.allowed;
  }
  HttpRouter router_;
};

TEST_F(Router, PrefersTheExactPath) {
  EXPECT_EQ(find(HttpMethod::kGet, "/commands/snapshot"), "snapshot");
  EXPECT_EQ(find(HttpMethod::kGet, "/commands/ruok"), "any command");
  EXPECT_EQ(find(HttpMethod::kGet, "/commands/"), "any command");
  EXPECT_EQ(find(HttpMethod::kGet, "/commands"), "any command");
}

TEST_F(Router, DoesNotTreatALongerNameAsASubpath) {
  EXPECT_EQ(find(HttpMethod::kGet, "/commandsX"), "");
  EXPECT_EQ(find(HttpMethod::kGet, "/both/x"), "");
  EXPECT_EQ(find(HttpMethod::kGet, ""), "");
}

TEST_F(Router, ListsTheMethodsOfAPath) {
  EXPECT_EQ(find(HttpMethod::kGet, "/both"), "got");
  EXPECT_EQ(find(HttpMethod::kPost, "/both"), "posted");
  EXPECT_EQ(find(HttpMethod::kDelete, "/both"), "GET, HEAD, POST");
}

TEST(RouterAtTheRoot, CoversEverything) {
  HttpRouter router;
  router.get("/*", says("page"));
  EXPECT_NE(router.find(HttpMethod::kGet, "/").route, nullptr);
  EXPECT_NE(router.find(HttpMethod::kGet, "/app.js").route, nullptr);
}

}  // namespace
}  // namespace drover::server
