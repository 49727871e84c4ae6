// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/cupti_errors.h"

#include <gtest/gtest.h>

namespace opscope::cuda {
namespace {

TEST(CuptiVerdict, HasAWordForEachCodeThatMeansNoDevice) {
  for (const uint32_t code : {15u, 999u})
    EXPECT_EQ(ReasonOf(cupti::Result{code}, ""), "no driver");
  for (const uint32_t code : {35u, 40u})
    EXPECT_EQ(ReasonOf(cupti::Result{code}, ""), "permission");
  for (const uint32_t code : {27u, 33u, 41u, 42u, 43u, 44u, 45u})
    EXPECT_EQ(ReasonOf(cupti::Result{code}, ""), "not supported");
  for (const uint32_t code : {39u, 23u})
    EXPECT_EQ(ReasonOf(cupti::Result{code}, ""), "in use");
  EXPECT_EQ(ReasonOf(cupti::Result{8}, "CUPTI_ERROR_OUT_OF_MEMORY"), "CUPTI_ERROR_OUT_OF_MEMORY");
}

TEST(CuptiVerdict, NamesCodesThatCuptiDoesNotName) {
  EXPECT_EQ(NameOfCode(cupti::Result{8}, "CUPTI_ERROR_OUT_OF_MEMORY"), "CUPTI_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(NameOfCode(cupti::Result{999}, nullptr), "CUPTI_ERROR_UNKNOWN");
  EXPECT_EQ(NameOfCode(cupti::Result{77}, nullptr), "CUPTI_ERROR_77");
}

}  // namespace
}  // namespace opscope::cuda
