// SPDX-License-Identifier: Apache-2.0
#include "import/text/decompress.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "import/text/compress_for_test.h"

namespace opscope {
namespace {

std::string Sample(size_t size) {
  std::mt19937 random(5);
  std::string text;
  while (text.size() < size)
    text += "line " + std::to_string(random() % 1000) + "\n";
  return text;
}

std::string (*const kCompressors[])(std::string_view) = {Gzip, Zstd};

struct Content {
  std::string text;
  TextEnd end;
};

Content Open(const std::string& bytes) {
  const CompressedFormat format = DetectCompression(std::as_bytes(std::span(bytes)));
  const std::unique_ptr<PieceReader> reader = Decompressed(bytes, format);
  Content content;
  for (TextPiece piece; reader->Next(&piece);) {
    EXPECT_NE(piece.size, 0u);
    content.text.append(reinterpret_cast<const char*>(piece.data.get()), piece.size);
  }
  content.end = reader->end();
  return content;
}

TEST(Decompress, GivesBackTheContent) {
  for (const auto compress : kCompressors) {
    for (const size_t size : {0U, 1U, 1000U, 3000000U}) {
      const std::string text = Sample(size);
      const Content content = Open(compress(text));
      EXPECT_EQ(content.text, text);
      EXPECT_EQ(content.end.damaged_at, -1);
    }
  }
}

TEST(Decompress, JoinsMembersAndIgnoresPadding) {
  for (const auto compress : kCompressors)
    EXPECT_EQ(Open(compress("first ") + compress("second")).text, "first second");
  const Content padded = Open(Gzip("text") + std::string(512, '\0'));
  EXPECT_EQ(padded.text, "text");
  EXPECT_EQ(padded.end.damaged_at, -1);
}

// pzstd says the size of each frame in one before it that readers skip.
TEST(Decompress, PassesOverFramesToSkip) {
  const std::string_view size_of_frame("\x50\x2a\x4d\x18\x04\0\0\0\x11\0\0\0", 12);
  const std::string frame = std::string(size_of_frame) + Zstd("text");
  const Content content = Open(frame + frame);
  EXPECT_EQ(content.text, "texttext");
  EXPECT_EQ(content.end.damaged_at, -1);
}

TEST(Decompress, KeepsWhatComesBeforeTheCut) {
  const std::string text = Sample(200000);
  for (const auto compress : kCompressors) {
    const std::string bytes = compress(text);
    EXPECT_TRUE(Open(bytes.substr(0, bytes.size() - 1)).end.cut);
    for (size_t size = 4; size < bytes.size(); size += 97) {
      const Content part = Open(bytes.substr(0, size));
      ASSERT_EQ(part.text, text.substr(0, part.text.size()));
      ASSERT_EQ(part.end.damaged_at, static_cast<int64_t>(size));
    }
  }
}

TEST(Decompress, SaysWhereTheDataIsDamaged) {
  const std::string text = Sample(500000);
  for (const auto compress : kCompressors) {
    std::string bytes = compress(text);
    for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 40; ++i)
      bytes[i] = '\x55';
    const Content content = Open(bytes);
    EXPECT_GE(content.end.damaged_at, 0);
    EXPECT_FALSE(content.end.cut);
  }
}

TEST(Decompress, DoesNotBelieveTheSizeField) {
  std::string bytes = Gzip("short");
  bytes[bytes.size() - 1] = '\x7f';  // claims two gigabytes
  const Content content = Open(bytes);
  EXPECT_EQ(content.text, "short");
  EXPECT_GE(content.end.damaged_at, 0);
}

}  // namespace
}  // namespace opscope
