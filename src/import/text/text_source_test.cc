// SPDX-License-Identifier: Apache-2.0
#include "import/text/text_source.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "import/text/compress_for_test.h"
#include "import/text/decompress.h"
#include "import/text/pieced_text.h"
#include "import/text/tiny_pieces_for_test.h"

namespace opscope {
namespace {

std::string Sample(size_t size, std::mt19937* random) {
  std::string text;
  while (text.size() < size)
    text += "line " + std::to_string((*random)() % 100'000) + "\n";
  return text;
}

std::string InMembers(const std::string& text, size_t member, std::string (*compress)(std::string_view)) {
  std::string out;
  for (size_t at = 0; at < text.size(); at += member)
    out += compress(std::string_view(text).substr(at, member));
  return out;
}

// Reads by windows and blocks of random sizes, and keeps every block until the end.
std::string ReadByBlocks(TextSource* source, std::mt19937* random) {
  std::vector<TextBlock> blocks;
  while (true) {
    source->Extend(1 + (*random)() % 300'000);
    if ((*random)() % 4 == 0) source->WorkAhead();
    if (source->text().empty()) break;
    blocks.push_back(source->Take(1 + (*random)() % source->text().size()));
  }
  EXPECT_TRUE(source->ended());
  std::string text;
  for (const TextBlock& block : blocks) {
    EXPECT_EQ(block.offset, text.size());
    text += block.text;
  }
  return text;
}

TEST(TextSource, GivesTheSameTextInBlocksOfAnySize) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string text = Sample(5'000'000, &random);
  PlainText plain(std::as_bytes(std::span(text)));
  EXPECT_TRUE(ReadByBlocks(&plain, &random) == text);
  for (const size_t member : {size_t{70'000}, size_t{3'000'000}, text.size()}) {
    for (auto* compress : {Gzip, Zstd}) {
      const std::string bytes = InMembers(text, member, compress);
      PiecedText source(Decompressed(bytes, DetectCompression(std::as_bytes(std::span(bytes)))), bytes.size());
      EXPECT_TRUE(ReadByBlocks(&source, &random) == text) << member;
      EXPECT_LT(source.end().damaged_at, 0);
      EXPECT_EQ(source.bytes_read(), bytes.size());
    }
  }
}

TEST(TextSource, GivesWhatIsThereOfACutInput) {
  std::mt19937 random(3);
  const std::string text = Sample(400'000, &random);
  for (auto* compress : {Gzip, Zstd}) {
    const std::string bytes = InMembers(text, 150'000, compress);
    for (size_t size = 1; size < bytes.size(); size += 9'973) {
      const std::string_view input = std::string_view(bytes).substr(0, size);
      PiecedText source(Decompressed(input, compress == Gzip ? CompressedFormat::kGzip : CompressedFormat::kZstd),
                        input.size());
      const std::string read = ReadByBlocks(&source, &random);
      EXPECT_EQ(read, text.substr(0, read.size())) << size;
      if (read.size() % 150'000 != 0 || read.empty()) {
        EXPECT_TRUE(source.end().cut) << size;
        EXPECT_EQ(source.end().damaged_at, static_cast<int64_t>(size));
      }
    }
  }
}

TEST(TextSource, TakesBytesBehindTheLastMemberForPadding) {
  for (const std::string& padding : {std::string(600, '\0'), std::string(1, '\0'), std::string("\n")}) {
    const std::string bytes = Gzip("abc") + Gzip("def") + padding;
    PiecedText source(Decompressed(bytes, CompressedFormat::kGzip), bytes.size());
    source.Extend(SIZE_MAX);
    EXPECT_EQ(source.text(), "abcdef");
    EXPECT_LT(source.end().damaged_at, 0);
  }
}

TEST(TextSource, SeesDamageInTheHeadOfALaterMember) {
  const std::string bytes = Gzip("abc") + "\x1f\x8b\x7f damaged";
  PiecedText source(Decompressed(bytes, CompressedFormat::kGzip), bytes.size());
  source.Extend(SIZE_MAX);
  EXPECT_EQ(source.text(), "abc");
  EXPECT_GE(source.end().damaged_at, 0);
}

// What follows the first frame is as long as what is looked at at once, so the end is seen only behind the last frame.
TEST(TextSource, SeesNoCutBehindAWholeFrame) {
  std::string bytes = Zstd("abc");
  constexpr uint32_t kSkipped = (256 << 10) - 8;
  bytes += "\x50\x2a\x4d\x18";
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(kSkipped >> shift & 0xff);
  bytes.append(kSkipped, 'x');
  PiecedText source(Decompress(std::make_unique<TinyText>(bytes), CompressedFormat::kZstd), bytes.size());
  source.Extend(SIZE_MAX);
  EXPECT_EQ(source.text(), "abc");
  EXPECT_LT(source.end().damaged_at, 0);
}

TEST(TextSource, LimitsWhatItDecompressesAhead) {
  const std::string zeros(64 << 20, ' ');
  const std::string bytes = Zstd(zeros);
  PiecedText source(Decompressed(bytes, CompressedFormat::kZstd), bytes.size());
  size_t pieces = 0;
  while (source.WorkAhead())
    ++pieces;
  EXPECT_GE(pieces, 1u);
  EXPECT_LT(source.memory_bytes(), 8u << 20);
}

}  // namespace
}  // namespace opscope
