// Tests of the CUDA source on a libcupti with a simulated GPU behind it (tests/fake_cupti). After each nothing of CUPTI
// is enabled or subscribed to, and no rule of CUPTI's was broken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "tests/fake_cupti/fake_cuda.h"
#include "tests/fake_cupti/fake_cupti.h"

namespace opscope {

inline constexpr uint32_t kFirstStream = 7;  // the first of the device's

class SimulatedCuptiTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("OPSCOPE_CUPTI_LIB", OPSCOPE_FAKE_CUPTI_LIB, 1); }
  void SetUp() override { fake_cupti_scenario(""); }
  void TearDown() override {
    EXPECT_EQ(fake_cupti_enabled_kinds(), 0u);
    EXPECT_EQ(fake_cupti_subscribed(), 0u);
    EXPECT_STREQ(fake_cupti_violation_text(), "");
  }
};

}  // namespace opscope
