// SPDX-License-Identifier: Apache-2.0
#include "base/column.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opscope {
namespace {

// Sizes on both sides of where an array changes how it lies: small memory of malloc, pages of its own, huge pages; and
// whole pages or not.
template <typename T>
std::vector<size_t> RowsAroundEveryStep() {
  std::vector<size_t> rows;
  for (const size_t step : {size_t{256} << 10, size_t{2} << 20, size_t{4} << 20, (size_t{6} << 20) + 4096}) {
    for (const ptrdiff_t beside : {-4096, -1, 0, 1, 4096})
      rows.push_back(step / sizeof(T) + static_cast<size_t>(beside));
  }
  return rows;
}

template <typename T>
T ValueAt(size_t row) {
  return static_cast<T>(row * 2654435761u >> 7);
}

template <typename T>
void FillUpTo(size_t rows, Column<T>* column) {
  const size_t from = column->size();
  column->resize_unset(rows);
  for (size_t row = from; row < rows; ++row)
    (*column)[row] = ValueAt<T>(row);
}

template <typename T>
size_t RowsThatDiffer(const Column<T>& column) {
  size_t wrong = 0;
  for (size_t row = 0; row < column.size(); ++row)
    wrong += column[row] != ValueAt<T>(row) ? 1 : 0;
  return wrong;
}

template <typename T>
class ColumnOf : public testing::Test {};
using Widths = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ColumnOf, Widths);

TYPED_TEST(ColumnOf, GrowsInEveryWayAfterItWasReserved) {
  using T = TypeParam;
  using Way = void (*)(Column<T>*, size_t);
  const Way ways[] = {[](Column<T>* column, size_t rows) { column->reserve(rows); },
                      [](Column<T>* column, size_t rows) { column->grow(rows); },
                      [](Column<T>* column, size_t rows) { FillUpTo(rows, column); },
                      [](Column<T>* column, size_t) { column->push_back(ValueAt<T>(column->size())); }};
  for (const size_t rows : RowsAroundEveryStep<T>()) {
    for (const Way& way : ways) {
      Column<T> column;
      column.reserve(rows);
      FillUpTo(rows, &column);
      for (int time = 0; time < 3; ++time) {
        const size_t larger = column.capacity() + rows / 3 + 1;
        way(&column, larger);
        FillUpTo(column.capacity(), &column);
      }
      ASSERT_EQ(RowsThatDiffer(column), 0u) << rows << ", way " << &way - ways;
    }
  }
}

TYPED_TEST(ColumnOf, ShrinksAndGrowsAgainAfterItWasReserved) {
  using T = TypeParam;
  for (const size_t rows : RowsAroundEveryStep<T>()) {
    Column<T> column;
    column.reserve(rows * 2);
    FillUpTo(rows, &column);
    column.shrink_to_fit();
    ASSERT_EQ(column.capacity(), rows);
    column.reserve(rows * 3);
    FillUpTo(rows * 3, &column);
    ASSERT_EQ(RowsThatDiffer(column), 0u) << rows;
  }
}

TYPED_TEST(ColumnOf, GivesAReservedArrayAsASpareThatGrows) {
  using T = TypeParam;
  for (const size_t rows : RowsAroundEveryStep<T>()) {
    Column<T> column;
    column.reserve(rows);
    FillUpTo(rows, &column);
    SpareArray spare;
    spare.Resize(rows * sizeof(T));
    std::memcpy(spare.data, column.data(), rows * sizeof(T));
    column.Exchange(&spare, rows);
    spare.Resize(rows * sizeof(T) * 2);
    column.reserve(rows * 2);
    FillUpTo(rows * 2, &column);
    ASSERT_EQ(RowsThatDiffer(column), 0u) << rows;
  }
}

TEST(Column, SaysHowMuchWasAskedForWhenThereIsNoMemory) {
  Column<uint64_t> column;
  FillUpTo(1000, &column);
  try {
    column.reserve(size_t{1} << 57);
    FAIL() << "no machine has that";
  } catch (const std::bad_alloc& refused) {
    EXPECT_EQ(std::string(refused.what()), "out of memory: 1152921504606846976 bytes were requested");
  }
  EXPECT_EQ(RowsThatDiffer(column), 0u);
}

TEST(Column, RefusesMoreRowsThanTheAddressSpaceHolds) {
  Column<uint64_t> column;
  FillUpTo(1000, &column);
  EXPECT_THROW(column.reserve(SIZE_MAX / 8 + 3), std::bad_alloc);  // 16 bytes, modulo 2^64
  EXPECT_EQ(column.capacity(), 1000u);
}

}  // namespace
}  // namespace opscope
