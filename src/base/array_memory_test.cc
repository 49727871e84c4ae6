// SPDX-License-Identifier: Apache-2.0
#include "base/array_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace opscope {
namespace {

uint8_t Expected(size_t at) {
  return static_cast<uint8_t>(at * 31 >> 3);
}

TEST(ArrayMemory, KeepsTheBytesAcrossEveryChangeOfSize) {
  uint8_t* array = nullptr;
  size_t bytes = 0;
  for (const size_t next : {size_t{100}, size_t{5000}, size_t{300'000}, size_t{9'000'001}, size_t{400'000}, size_t{50},
                            size_t{1} << 20, size_t{1}}) {
    void* moved = ReallocateArray(array, bytes, next);
    ASSERT_NE(moved, nullptr);
    array = static_cast<uint8_t*>(moved);
    for (size_t at = 0; at < std::min(bytes, next); ++at)
      ASSERT_EQ(array[at], Expected(at)) << next;
    for (size_t at = 0; at < next; ++at)
      array[at] = Expected(at);
    bytes = next;
  }
  FreeArray(array, bytes);
}

TEST(ArrayMemory, RefusesWhatNoMachineHasAndLeavesTheArray) {
  for (const size_t bytes : {size_t{1000}, size_t{1} << 20}) {
    auto* array = static_cast<uint8_t*>(ReallocateArray(nullptr, 0, bytes));
    ASSERT_NE(array, nullptr);
    array[999] = 42;
    for (const size_t absurd : {size_t{1} << 60, SIZE_MAX - 10})
      EXPECT_EQ(ReallocateArray(array, bytes, absurd), nullptr);
    EXPECT_EQ(array[999], 42);
    FreeArray(array, bytes);
  }
}

}  // namespace
}  // namespace opscope
