// SPDX-License-Identifier: Apache-2.0
#include "wire/string_block.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/trace_info.h"

namespace opscope {
namespace {

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string EncodeStrings(const StringBlock& block) {
  std::string payload;
  ColumnEncoder encoder;
  AppendStrings(block, &encoder, &payload);
  return payload;
}

TEST(StringBlock, WritesTheExampleOfTheFormatDescription) {
  EXPECT_EQ(Hex(EncodeStrings({0, {"", "a", "bc"}})), "0003000106000101040102616263");
}

TEST(StringBlock, AnIdBeyond32BitsIsDamage) {
  std::string payload = EncodeStrings({0, {"a"}});
  std::string first_id;
  AppendVarint(&first_id, uint64_t{1} << 32);
  payload.replace(0, 1, first_id);
  StringBlock block;
  ColumnDecoder decoder;
  EXPECT_FALSE(DecodeStrings(std::as_bytes(std::span(payload)), &decoder, &block));
}

TEST(TraceInfoBlock, OfAnOlderVersionSaysNothingOfTexts) {
  WireTraceInfo info;
  info.recorded = 3, info.source_version = "1.0", info.texts = 9;
  const std::string payload = EncodeTraceInfo(info);
  ASSERT_TRUE(DecodeTraceInfo(std::as_bytes(std::span(payload)), &info));
  EXPECT_EQ(info.texts, 9u);
  ASSERT_TRUE(DecodeTraceInfo(std::as_bytes(std::span(payload).first(payload.size() - 1)), &info));
  EXPECT_EQ(info.texts, 0u);
  EXPECT_EQ(info.recorded, 3u);
  EXPECT_EQ(info.source_version, "1.0");
}

}  // namespace
}  // namespace opscope
