// SPDX-License-Identifier: Apache-2.0
#include "report/html/integer_column.h"

#include <gtest/gtest.h>

#include <random>

namespace opscope {
namespace {

std::string JsonOf(const IntegerColumn& column) {
  std::string json;
  column.AppendJson(&json);
  return json;
}

TEST(IntegerColumn, IsTheSameWhetherItIsCompressedBeforeItIsWrittenOrThen) {
  std::mt19937_64 random(1);
  std::vector<IntegerColumn> columns;
  std::vector<std::string> uncompressed;
  for (size_t i = 0; i < 40; ++i) {
    IntegerColumn& column = columns.emplace_back(i % 2 == 0 ? IntegerColumn::kDeltas : IntegerColumn::kValues);
    for (size_t n = i < 5 ? i : i * 1000; n > 0; --n)
      column.Add(static_cast<int64_t>(random() >> (random() % 64)));
    uncompressed.push_back(JsonOf(column));
  }
  std::vector<IntegerColumn*> pointers;
  for (IntegerColumn& column : columns)
    pointers.push_back(&column);
  CompressColumns(pointers);
  for (size_t i = 0; i < columns.size(); ++i)
    EXPECT_EQ(JsonOf(columns[i]), uncompressed[i]);
}

TEST(IntegerColumn, WithoutValuesHasNoBytes) {
  EXPECT_EQ(JsonOf(IntegerColumn(IntegerColumn::kDeltas)), R"({"n":0,"d":0,"z":""})");
}

}  // namespace
}  // namespace opscope
