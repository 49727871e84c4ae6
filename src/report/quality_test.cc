// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/quality.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

TEST(FormatQuality, IsOneLineWithEveryReason) {
  EXPECT_EQ(FormatQuality({}), "");
  EXPECT_EQ(FormatQuality({Verdict::kUsable, {"2 spans cross others"}}), "usable: 2 spans cross others");
  EXPECT_EQ(FormatQuality({Verdict::kDoubtful, {"a", "b\n\x1b"}}), "doubtful: a; b\\x0a\\x1b");
}

TEST(QualityJson, HasVerdictAndReasons) {
  EXPECT_EQ(QualityJson({}), R"({"verdict":"good","reasons":[]})");
  EXPECT_EQ(QualityJson({Verdict::kDoubtful, {"a \"b\"", "c"}}),
            R"({"verdict":"doubtful","reasons":["a \"b\"", "c"]})");
}

}  // namespace
}  // namespace opscope
