// SPDX-License-Identifier: Apache-2.0
#include "cli/subtree/transfer.h"

#include <gtest/gtest.h>

namespace drover::cli {
namespace {

NodeCopy node(std::string path, std::string data) {
  NodeCopy copy;
  copy.path = std::move(path);
  copy.node.data = std::move(data);
  copy.acl = {Acl{Permission::kRead | Permission::kAdmin, "digest", "ann:x="}};
  return copy;
}

TEST(Exports, LineRoundTrips) {
  for (const std::string data : {"", "text \"я\"\n", "\xff\x01"}) {
    const auto back = parse_export_line(export_line(node("/app/sub", data), "/app"));
    ASSERT_TRUE(back) << back.error();
    EXPECT_EQ(back->path, "/sub");
    EXPECT_EQ(back->node.data, data);
    EXPECT_EQ(back->acl, node("", "").acl);
  }
}

TEST(Exports, RootHasAnEmptyPathAndNullDataIsKept) {
  NodeCopy root = node("/app", "");
  root.node.is_without_data = true;
  const auto back = parse_export_line(export_line(root, "/app"));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->path, "");
  EXPECT_TRUE(back->node.is_without_data);
  EXPECT_EQ(parse_export_line(export_line(node("/a", ""), "/"))->path, "/a");
  EXPECT_EQ(parse_export_line(export_line(node("/", ""), "/"))->path, "");
}

TEST(Exports, MalformedLinesAreRefused) {
  EXPECT_TRUE(check_export_header(export_header("/app", 1, 2)));
  EXPECT_FALSE(check_export_header("{}"));
  EXPECT_FALSE(check_export_header("{\"drover_export\":2}"));
  for (const char* line :
       {"", "[]", "{}", "{\"path\":\"x\",\"data\":\"\"}", "{\"path\":\"/x\"}", "{\"path\":\"/x\",\"data\":1}",
        "{\"path\":\"/x\",\"data_base64\":\"?\"}", "{\"path\":\"/x\",\"data\":\"\",\"acl\":[{}]}",
        "{\"path\":\"/x\",\"data\":\"\",\"acl\":[{\"scheme\":\"a\",\"id\":\"b\",\"permissions\":\"q\"}]}"}) {
    EXPECT_FALSE(parse_export_line(line)) << line;
  }
}

}  // namespace
}  // namespace drover::cli
