// SPDX-License-Identifier: Apache-2.0
#include "base/secret.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace drover {
namespace {

static_assert(!std::is_convertible_v<Secret, std::string_view>);
static_assert(!std::is_convertible_v<std::string, Secret>);

// Every byte of the string's buffer, the unused ones included.
std::string_view whole_buffer(const std::string& text) { return {text.data(), text.capacity()}; }

TEST(Secret, WipingLeavesNothingOfALongOrAShortText) {
  for (std::string text : {std::string("short"), std::string(200, 'x')}) {
    wipe(text);
    EXPECT_TRUE(text.empty());
    EXPECT_EQ(whole_buffer(text).find_first_not_of('\0'), std::string_view::npos);
  }
}

TEST(Secret, TheStringThatASecretTookOverIsWiped) {
  std::string text = "sesame";
  const Secret secret(std::move(text));
  EXPECT_EQ(secret.reveal(), "sesame");
  EXPECT_EQ(whole_buffer(text).find("sesame"), std::string_view::npos);  // NOLINT(bugprone-use-after-move)
}

TEST(Secret, AMoveWipesItsSource) {
  Secret source("sesame");
  Secret target = std::move(source);
  EXPECT_EQ(whole_buffer(source.reveal()).find("sesame"),  // NOLINT(bugprone-use-after-move)
            std::string_view::npos);
  Secret third("other");
  third = std::move(target);
  EXPECT_EQ(third.reveal(), "sesame");
  EXPECT_TRUE(target.empty());  // NOLINT(bugprone-use-after-move)
}

TEST(Secret, ACopyIsIndependent) {
  Secret first("sesame");
  Secret second = first;
  first = Secret("changed");
  EXPECT_EQ(second.reveal(), "sesame");
  second = first;
  EXPECT_EQ(second.reveal(), "changed");
}

TEST(Secret, TheDestructorWipes) {
  // The short text lies in the object itself, whose bytes are still ours to read.
  alignas(Secret) unsigned char place[sizeof(Secret)];
  auto* secret = new (place) Secret("sesame");
  std::destroy_at(secret);
  const std::string_view bytes(reinterpret_cast<const char*>(place), sizeof place);
  EXPECT_EQ(bytes.find("sesame"), std::string_view::npos);
}

}  // namespace
}  // namespace drover
