// SPDX-License-Identifier: Apache-2.0
#include "net/tls_context_holder.h"

#include <gtest/gtest.h>

#include "net/tls_test_support.h"

namespace drover::net {
namespace {

using testing::Identity;
using testing::make_identity;
using testing::pem_of;
using testing::TempDir;

std::string key_store(const std::string& common_name) {
  const Identity identity = make_identity({.common_name = common_name});
  return pem_of(identity.key) + pem_of(identity.certificate);
}

TlsOptions server_options(const std::string& location) {
  return {.key_store = {.location = location}, .client_auth = ClientAuth::kNone};
}

TEST(TlsContextHolder, KeepsTheContextWhileTheFilesAreTheSame) {
  const TempDir dir;
  auto holder = *TlsContextHolder::load(server_options(dir.write("k.pem", key_store("a"))));
  const auto before = holder->current();
  EXPECT_EQ(holder->poll_for_changes(), false);
  EXPECT_EQ(holder->current(), before);
}

TEST(TlsContextHolder, ChangedFilesApplyToNewConnectionsOnly) {
  const TempDir dir;
  auto holder = *TlsContextHolder::load(server_options(dir.write("k.pem", key_store("a"))));
  const auto before = holder->current();
  dir.write("k.pem", key_store("b"));
  EXPECT_EQ(holder->poll_for_changes(), true);
  EXPECT_NE(holder->current(), before);
  EXPECT_NE(before->native(), nullptr);
  EXPECT_EQ(holder->poll_for_changes(), false);
}

TEST(TlsContextHolder, BadFilesAreReportedOnceAndTheOldContextStays) {
  const TempDir dir;
  const std::string path = dir.write("k.pem", key_store("a"));
  auto holder = *TlsContextHolder::load(server_options(path));
  const auto before = holder->current();
  dir.write("k.pem", "half a fi");
  const auto result = holder->poll_for_changes();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, path + ": no private key in it");
  EXPECT_EQ(holder->current(), before);
  EXPECT_EQ(holder->poll_for_changes(), false) << "the same bad file is not reported again";

  dir.write("k.pem", key_store("c"));
  EXPECT_EQ(holder->poll_for_changes(), true);
  EXPECT_NE(holder->current(), before);
}

TEST(TlsContextHolder, ATemporarilyMissingFileIsTolerated) {
  const TempDir dir;
  const std::string path = dir.write("k.pem", key_store("a"));
  auto holder = *TlsContextHolder::load(server_options(path));
  std::filesystem::remove(path);
  EXPECT_FALSE(holder->poll_for_changes());
  EXPECT_NE(holder->current(), nullptr);
}

TEST(TlsContextHolder, TheFirstLoadMustSucceed) {
  const auto holder = TlsContextHolder::load(server_options("/nonexistent/k.pem"));
  ASSERT_FALSE(holder);
  EXPECT_EQ(holder.error().what, "cannot open /nonexistent/k.pem: No such file or directory");
}

}  // namespace
}  // namespace drover::net
