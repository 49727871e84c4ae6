// SPDX-License-Identifier: Apache-2.0
#include "base/catch_bad_alloc.h"

#include <gtest/gtest.h>

#include "base/column.h"

namespace opscope {
namespace {

TEST(ShortMemory, NamesWhatWasAskedForWhereThatIsKnown) {
  const Status arrays = CatchBadAlloc("a.json", []() -> Status {
    Column<char>().reserve(size_t{1} << 60);
    return {};
  });
  EXPECT_EQ(arrays.error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(arrays.error().message, "a.json: out of memory: 1152921504606846976 bytes were requested");
  const Status objects = CatchBadAlloc("a.json", []() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(objects.error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(objects.error().message, "a.json: out of memory");
}

}  // namespace
}  // namespace opscope
