// SPDX-License-Identifier: Apache-2.0
#include "wire/container.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <vector>

#include "wire/footer_for_test.h"

namespace opscope {
namespace {

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

struct Scanned {
  std::vector<std::string> payloads;
  uint64_t damaged = 0;
  bool ended = false;
  bool truncated = false;
};

Scanned Scan(const std::string& file) {
  BlockScanner scanner(Bytes(file));
  Block block;
  Scanned result;
  while (scanner.Next(&block)) {
    result.payloads.emplace_back(reinterpret_cast<const char*>(block.payload.data()), block.payload.size());
  }
  result.damaged = scanner.damaged_count();
  result.ended = scanner.ended();
  result.truncated = scanner.truncated();
  return result;
}

struct ThreeBlocks {
  std::string file;
  std::vector<std::string> payloads = {"first payload", std::string(500, 'z') + "OBLK", "third"};
  std::vector<size_t> ends;

  ThreeBlocks() {
    AppendFileHeader(&file);
    for (const std::string& payload : payloads) {
      AppendBlock(&file, 40, payload, payload.size() > 100);
      ends.push_back(file.size());
    }
  }
};

TEST(Container, GivesBackItsBlocks) {
  ThreeBlocks three;
  EXPECT_LT(three.file.size(), 300u);  // the second is compressed
  AppendEnd(&three.file, 0);
  const Scanned scanned = Scan(three.file);
  ASSERT_EQ(scanned.payloads.size(), 4u);
  EXPECT_EQ(scanned.payloads[1], three.payloads[1]);
  EXPECT_TRUE(scanned.ended);
  EXPECT_EQ(scanned.damaged, 0u);
}

TEST(Container, GivesBackWhatIsWholeWhereverItIsCut) {
  const ThreeBlocks three;
  for (size_t size = kFileHeaderBytes; size < three.file.size(); ++size) {
    const Scanned scanned = Scan(three.file.substr(0, size));
    size_t whole = 0;
    while (whole < three.ends.size() && three.ends[whole] <= size)
      ++whole;
    ASSERT_EQ(scanned.payloads.size(), whole) << size;
    ASSERT_FALSE(scanned.ended);
    const bool at_border = size == kFileHeaderBytes || (whole > 0 && three.ends[whole - 1] == size);
    ASSERT_EQ(scanned.truncated, !at_border) << size;
    ASSERT_EQ(scanned.damaged, 0u) << size;
  }
}

TEST(Container, LosesOneBlockToOneDamagedByte) {
  const ThreeBlocks three;
  for (size_t at = kFileHeaderBytes; at < three.file.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string file = three.file;
      file[at] = static_cast<char>(file[at] ^ (1 << bit));
      const Scanned scanned = Scan(file);
      ASSERT_EQ(scanned.payloads.size(), 2u) << at;
      ASSERT_EQ(scanned.damaged, 1u) << at;
    }
  }
}

UndecodedBlock ZstdBlock(const std::string& frame, uint32_t plain_bytes) {
  return {.flags = block_flags::kZstd,
          .plain_bytes = plain_bytes,
          .checksum = XXH3_64bits(frame.data(), frame.size()),
          .stored = Bytes(frame)};
}

TEST(Container, ReservesNoMemoryForAFrameThatIsTooShortForItsSize) {
  const std::string frame("\x28\xb5\x2f\xfd\xa0\0\0\0\x40\x01\0\0", 12);  // says 1 GiB, and has no byte
  std::string decompressed;
  std::span<const std::byte> payload;
  EXPECT_FALSE(ReadPayload(ZstdBlock(frame, kMaxBlockBytes), &decompressed, &payload));
  EXPECT_LT(decompressed.capacity(), size_t{1} << 20);
}

TEST(Container, GivesBackTheMostThatAFrameCanHold) {
  std::string frame("\x28\xb5\x2f\xfd\xa0\0\0\x80\0", 9);  // says 8 MiB
  for (int block = 0; block < 64; ++block)                 // one byte, 128 KiB times
    frame += std::string(block < 63 ? "\x02\0\x10z" : "\x03\0\x10z", 4);
  std::string decompressed;
  std::span<const std::byte> payload;
  ASSERT_TRUE(ReadPayload(ZstdBlock(frame, 8 << 20), &decompressed, &payload));
  EXPECT_EQ(decompressed, std::string(8 << 20, 'z'));
}

TEST(Container, ReadsItsVersion) {
  std::string file;
  AppendFileHeader(&file, 3, 9);
  ASSERT_TRUE(LooksLikeOpscope(Bytes(file)));
  EXPECT_EQ(ReadFileVersion(Bytes(file)).major, 3);
  EXPECT_EQ(ReadFileVersion(Bytes(file)).minor, 9);
  EXPECT_FALSE(ReadFileVersion(Bytes(file)).damaged);
  file[9] ^= 1;
  EXPECT_TRUE(ReadFileVersion(Bytes(file)).damaged);
  EXPECT_TRUE(ReadFileVersion(Bytes(file.substr(0, 9))).damaged);
  EXPECT_FALSE(LooksLikeOpscope(Bytes(file.substr(0, 7))));
}

// The bytes that FORMAT.md shows.
TEST(Container, WritesTheExampleOfTheFormatDescription) {
  std::string file;
  AppendFileHeader(&file);
  AppendBlock(&file, block_types::kWindowInfo, "{}");
  std::string hex;
  for (const char byte : file) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(byte));
    hex += digits;
  }
  EXPECT_EQ(hex,
            "4f5053434f504500"
            "0100"
            "0000"
            "24a3a834"
            "4f424c4b"
            "0100"
            "0000"
            "02000000"
            "02000000"
            "165c7027e1cd4913"
            "00000000"
            "1bfd50e7"
            "7b7d");
}

TEST(Footer, IsFoundFromTheEnd) {
  Footer footer;
  footer.blocks = {{.offset = 16, .type = 17, .table = 3, .rows = 9, .first_ns = -5, .last_ns = 70}};
  footer.sums = {{.name = 4, .category = 2, .count = 9, .total_ns = 90, .self_ns = -1, .min_ns = 0, .max_ns = 50}};
  std::string file;
  AppendFileHeader(&file);
  AppendBlock(&file, 40, "something");
  AppendEnd(&file, AppendBlock(&file, block_types::kFooter, EncodeFooter(footer)));
  Footer found;
  ASSERT_TRUE(FindFooter(Bytes(file), &found));
  ASSERT_EQ(found.blocks.size(), 1u);
  EXPECT_EQ(found.blocks[0].first_ns, -5);
  ASSERT_EQ(found.sums.size(), 1u);
  EXPECT_EQ(found.sums[0].self_ns, -1);
  EXPECT_EQ(found.sums[0].max_ns, 50);
  for (size_t size = 0; size < file.size(); ++size) {
    ASSERT_FALSE(FindFooter(Bytes(file).first(size), &found)) << size;
  }
}

std::string FileWithFooter(const Footer& footer) {
  std::string file;
  AppendFileHeader(&file);
  AppendEnd(&file, AppendBlock(&file, block_types::kFooter, EncodeFooter(footer)));
  return file;
}

// Equal rows are constant columns: a few hundred bytes for any number of them.
TEST(Footer, WithMoreRowsThanItsFileCanHoldIsRefusedBeforeTheyGetMemory) {
  Footer found;
  const std::string many_blocks = FileWithFooter({.blocks = std::vector<FooterBlock>(100'000), .sums = {}});
  ASSERT_LT(many_blocks.size(), 1000u);
  EXPECT_FALSE(FindFooter(Bytes(many_blocks), &found));
  EXPECT_EQ(found.blocks.capacity(), 0u);
  const std::string many_sums = FileWithFooter({.blocks = {}, .sums = std::vector<FooterSum>(100'000)});
  ASSERT_LT(many_sums.size(), 1000u);
  EXPECT_FALSE(FindFooter(Bytes(many_sums), &found));
  EXPECT_EQ(found.sums.capacity(), 0u);
  EXPECT_TRUE(FindFooter(Bytes(FileWithFooter({})), &found));
}

}  // namespace
}  // namespace opscope
