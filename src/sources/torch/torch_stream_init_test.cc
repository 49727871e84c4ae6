// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <iomanip>
#include <locale>
#include <ostream>
#include <sstream>
#include <string>

#include "sources/torch/stream_init.h"

namespace opscope {
namespace {

// A stream that its library has begun, or ours.
std::string Written(drop_in::InitStream init) {
  std::stringbuf buffer;
  std::ostream stream(nullptr);
  if (init != nullptr) {
    init(&stream, &buffer);
  } else {
    stream.rdbuf(&buffer);
  }
  stream << "text " << std::setw(12) << 1234567 << ' ' << std::setfill('*') << std::setw(8) << std::left << -12.5 << ' '
         << std::hex << 48879 << ' ' << std::boolalpha << true << ' ' << std::string("more") << std::endl;
  EXPECT_TRUE(stream.good());
  EXPECT_EQ(stream.fill(), '*');
  EXPECT_EQ(stream.tie(), nullptr);
  return buffer.str();
}

TEST(TorchStreamInit, MakesStreamsThatWriteAsTheLibrarys) {
  const drop_in::InitStream init = drop_in::FindInitStream();
  ASSERT_NE(init, nullptr);
  EXPECT_EQ(Written(init), Written(nullptr));
}

TEST(TorchStreamInit, FollowsTheLocaleOfTheProgram) {
  const drop_in::InitStream init = drop_in::FindInitStream();
  ASSERT_NE(init, nullptr);
  struct Grouped : std::numpunct<char> {
    char do_thousands_sep() const override { return '\''; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::string before = Written(init);
  const std::locale old = std::locale::global(std::locale(std::locale(), new Grouped));
  const std::string ours = Written(init), theirs = Written(nullptr);
  std::locale::global(old);
  EXPECT_EQ(ours, theirs);
  EXPECT_NE(ours.find("1'234'567"), std::string::npos) << ours;
  EXPECT_EQ(Written(init), before);
}

TEST(TorchStreamInit, MakesAStreamWithoutABufferBad) {
  const drop_in::InitStream init = drop_in::FindInitStream();
  ASSERT_NE(init, nullptr);
  std::stringbuf buffer;
  std::ostream stream(&buffer);
  init(&stream, nullptr);
  EXPECT_TRUE(stream.bad());
}

}  // namespace
}  // namespace opscope
