// SPDX-License-Identifier: Apache-2.0
#include "base/system_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace opscope {
namespace {

TEST(SystemErrorFor, NamesThePathAndKeepsTheNumber) {
  const Error missing = SystemErrorFor("/a", ENOENT), refused = SystemErrorFor("/a", EACCES);
  EXPECT_EQ(missing.code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.message, "/a: No such file or directory");
  EXPECT_EQ(missing.system_errno, ENOENT);
  EXPECT_EQ(refused.code, ErrorCode::kIo);
  EXPECT_EQ(refused.message, "/a: Permission denied");
  EXPECT_EQ(SystemErrorFor("/a", ENOENT, ErrorCode::kIo).code, ErrorCode::kIo);
}

}  // namespace
}  // namespace opscope
