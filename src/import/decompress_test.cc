// SPDX-License-Identifier: Apache-2.0
#include "import/decompress.h"

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <zstd.h>

#include <random>
#include <string>

namespace opscope {
namespace {

std::string Sample(size_t size) {
  std::mt19937 random(5);
  std::string text;
  while (text.size() < size)
    text += "line " + std::to_string(random() % 1000) + "\n";
  return text;
}

std::string Gzip(const std::string& text) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string (*const kCompressors[])(const std::string&) = {Gzip, Zstd};

Result<Decompressed> Open(const std::string& bytes, uint64_t limit = 0) {
  const auto input = std::as_bytes(std::span(bytes));
  return Decompress(input, DetectCompression(input), "file.gz", limit);
}

std::string Text(const Decompressed& content) {
  return {reinterpret_cast<const char*>(content.data.get()), content.size};
}

TEST(Decompress, GivesBackTheContent) {
  for (const auto compress : kCompressors) {
    for (const size_t size : {0U, 1U, 1000U, 3000000U}) {
      const std::string text = Sample(size);
      Result<Decompressed> content = Open(compress(text));
      ASSERT_TRUE(content.ok()) << content.error().message;
      EXPECT_EQ(Text(content.value()), text);
      EXPECT_EQ(content.value().damaged_at, -1);
    }
  }
}

TEST(Decompress, JoinsMembersAndIgnoresPadding) {
  for (const auto compress : kCompressors) {
    EXPECT_EQ(Text(Open(compress("first ") + compress("second")).value()), "first second");
  }
  Result<Decompressed> padded = Open(Gzip("text") + std::string(512, '\0'));
  EXPECT_EQ(Text(padded.value()), "text");
  EXPECT_EQ(padded.value().damaged_at, -1);
}

TEST(Decompress, KeepsWhatComesBeforeTheCut) {
  const std::string text = Sample(200000);
  for (const auto compress : kCompressors) {
    const std::string bytes = compress(text);
    Result<Decompressed> content = Open(bytes.substr(0, bytes.size() - 1));
    ASSERT_TRUE(content.ok());
    EXPECT_TRUE(content.value().cut);
    for (size_t size = 4; size < bytes.size(); size += 97) {
      Result<Decompressed> part = Open(bytes.substr(0, size));
      if (!part.ok()) {
        EXPECT_EQ(part.error().code, ErrorCode::kMalformed);
        EXPECT_EQ(part.error().message.substr(0, 17), "file.gz: at byte ");
        continue;
      }
      const std::string got = Text(part.value());
      ASSERT_EQ(got, text.substr(0, got.size()));
      ASSERT_GE(part.value().damaged_at, 0);
    }
  }
}

TEST(Decompress, SaysWhereTheDataIsDamaged) {
  const std::string text = Sample(500000);
  for (const auto compress : kCompressors) {
    std::string bytes = compress(text);
    for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 40; ++i)
      bytes[i] = '\x55';
    Result<Decompressed> content = Open(bytes);
    if (!content.ok()) continue;  // a single zstd block: nothing could be saved
    EXPECT_GE(content.value().damaged_at, 0);
  }
}

TEST(Decompress, StopsAtTheLimit) {
  const std::string text = Sample(1000000);
  for (const auto compress : kCompressors) {
    Result<Decompressed> content = Open(compress(text), 300000);
    ASSERT_TRUE(content.ok());
    EXPECT_EQ(content.value().size, 300000u);
    EXPECT_TRUE(content.value().over_limit);
  }
}

TEST(Decompress, DoesNotBelieveTheSizeField) {
  std::string bytes = Gzip("short");
  bytes[bytes.size() - 1] = '\x7f';  // claims two gigabytes
  Result<Decompressed> content = Open(bytes);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(Text(content.value()), "short");
  EXPECT_GE(content.value().damaged_at, 0);
}

}  // namespace
}  // namespace opscope
