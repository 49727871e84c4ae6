// SPDX-License-Identifier: Apache-2.0
#include "wire/column_codec.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "wire/table_block.h"

namespace opscope {
namespace {

std::string Encode(std::vector<uint64_t> values, ColumnEncoding encoding) {
  std::string bytes;
  ColumnEncoder().Append(&bytes, values, encoding);
  return bytes;
}

std::vector<uint64_t> RoundTrip(const std::vector<uint64_t>& values, ColumnEncoding encoding) {
  const std::string bytes = Encode(values, encoding);
  ByteReader reader(std::as_bytes(std::span(bytes)));
  std::vector<uint64_t> back(values.size(), 12345);
  EXPECT_TRUE(ColumnDecoder().Read(&reader, back));
  EXPECT_TRUE(reader.at_end());
  return back;
}

constexpr ColumnEncoding kTransforms[] = {ColumnEncoding::kPlain, ColumnEncoding::kSigned, ColumnEncoding::kDelta,
                                          ColumnEncoding::kSparseDelta};

TEST(ColumnCodec, GivesBackTheEdgesOfTheRange) {
  const std::vector<uint64_t> edges = {0, 1,    255, 256, UINT64_MAX, uint64_t{1} << 63, (uint64_t{1} << 63) - 1,
                                       0, 65536};
  for (const ColumnEncoding encoding : kTransforms) {
    EXPECT_EQ(RoundTrip(edges, encoding), edges);
    EXPECT_EQ(RoundTrip({}, encoding), std::vector<uint64_t>());
    EXPECT_EQ(RoundTrip({UINT64_MAX}, encoding), std::vector<uint64_t>({UINT64_MAX}));
  }
}

TEST(ColumnCodec, GivesBackRandomColumnsOfEveryWidth) {
  const uint64_t seed = 20240607;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint64_t> values(random() % 500);
    const unsigned width = static_cast<unsigned>(random() % 64);
    for (uint64_t& value : values)
      value = random() % 7 == 0 ? UINT64_MAX : random() >> width;
    for (const ColumnEncoding encoding : kTransforms)
      ASSERT_EQ(RoundTrip(values, encoding), values);
  }
}

TEST(ColumnCodec, StoresConstantColumnsInAFewBytes) {
  EXPECT_LE(Encode(std::vector<uint64_t>(50000, 77), ColumnEncoding::kPlain).size(), 3u);
}

TEST(ColumnCodec, RefusesBytesThatContradictThemselves) {
  std::vector<uint64_t> values(1000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i * i * 2654435761u;
  const std::string bytes = Encode(values, ColumnEncoding::kDelta);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader reader(std::as_bytes(std::span(bytes.data(), cut)));
    std::vector<uint64_t> back(values.size());
    ASSERT_FALSE(ColumnDecoder().Read(&reader, back)) << cut;
  }
  ByteReader reader(std::as_bytes(std::span(bytes)));
  std::vector<uint64_t> too_many(values.size() + 1);
  EXPECT_FALSE(ColumnDecoder().Read(&reader, too_many));
}

TEST(TableBlock, TakesDefaultsForAbsentColumnsAndSkipsUnknownOnes) {
  TableBlockWriter writer(9);
  writer.Add(1, std::vector<uint64_t>{5, 6, 7}, ColumnEncoding::kDelta);
  writer.AddUnless(4, 2, std::vector<uint64_t>{4, 4, 4}, ColumnEncoding::kPlain);
  writer.Add(99, std::vector<uint64_t>{1, 2}, ColumnEncoding::kPlain);
  std::string payload;
  writer.AppendTo(&payload);
  TableBlock block;
  ASSERT_TRUE(block.Parse(std::as_bytes(std::span(payload))));
  EXPECT_EQ(block.table(), 9u);
  EXPECT_EQ(block.rows(1), 3u);
  std::vector<uint64_t> values;
  ASSERT_TRUE(block.Read(2, 3, 4, &values));
  EXPECT_EQ(values, (std::vector<uint64_t>{4, 4, 4}));
  ASSERT_TRUE(block.Read(1, 3, 0, &values));
  EXPECT_EQ(values, (std::vector<uint64_t>{5, 6, 7}));
  EXPECT_FALSE(block.Read(1, 4, 0, &values));
}

}  // namespace
}  // namespace opscope
