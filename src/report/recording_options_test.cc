// SPDX-License-Identifier: Apache-2.0
#include "report/recording_options.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

TEST(DescribeOptions, HaveNoJsonInThem) {
  EXPECT_EQ(
      DescribeOptions(R"({"abi":2,"tsc":true,"max_bytes":1073741824,"at_cap":"keep_newest","broken_invariants":0,)"
                      R"("own_cost":{"scope":{"inside_ns":9.25}},"torch_route":"hooks"})"),
      "recorder interface 2, clock: time-stamp counter, at most 1.00 GiB, at the cap: keep newest, "
      "broken invariants: 0, torch by hooks");
  EXPECT_EQ(
      DescribeOptions(
          R"({"tsc":false,"record_shapes":true,"with_stack":false,"interval_ns":1500,"n":[1,2],"of":{"a_b":"c"}})"),
      "clock: of the system, record shapes, no with stack, interval ns 1.500 us, n [1,2], of (a b c)");
}

TEST(DescribeOptions, KeepTextsAsTheyAre) {
  EXPECT_EQ(DescribeOptions(R"({"paddle_route":"drain: OPSCOPE_PADDLE_ROUTE=drain"})"),
            "Paddle by drain: OPSCOPE_PADDLE_ROUTE=drain");
}

TEST(DescribeOptions, AreWhatCanBeReadOfADamagedObject) {
  for (const char* empty : {"", "{}", "[1]", "{", "null", R"({"own_cost":{}})"})
    EXPECT_EQ(DescribeOptions(empty), "") << empty;
  EXPECT_EQ(DescribeOptions(R"({"a":1,"b})"), "a 1");
}

TEST(DescribeOptions, MayLieInEachOtherAsDeepAsTheyLike) {
  std::string options = "1";
  for (int depth = 0; depth < 2000; ++depth)
    options = "{\"a\":" + options + "}";
  EXPECT_EQ(DescribeOptions(options).substr(0, 10), "a (a (a (a");
  EXPECT_NE(DescribeOptions(options).find("a (...)"), std::string::npos);
  constexpr size_t kDeep = 1'000'000;
  std::string deep(kDeep * 5, ' ');
  for (size_t i = 0; i < kDeep; ++i)
    deep.replace(i * 5, 5, "{\"a\":");
  EXPECT_NE(DescribeOptions(deep + "1" + std::string(kDeep, '}')).find("a (...)"), std::string::npos);
}

}  // namespace
}  // namespace opscope
