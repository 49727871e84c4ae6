// Cuts the rows of a file into blocks, which several threads write (ExportOutput::WriteBlocks). A block is a range of
// one list of rows: of a lane, a track or a table. 10,000 rows of list 3 are the blocks {3, 0, 4096}, {3, 4096, 8192}
// and {3, 8192, 10000}.
//
// Thread rule: plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace opscope {

// The rows [begin, end) of a list. The writer of a format says which list a number stands for.
struct RowBlock {
  size_t list = 0, begin = 0, end = 0;
};

// Enough rows that a block outweighs handing it over, few enough that its text of some 100 bytes per row fits the
// cache.
inline constexpr size_t kRowsPerBlock = 4096;

// Appends the blocks of the rows [begin, end) of a list.
inline void AppendRowBlocks(size_t list, size_t begin, size_t end, size_t rows_per_block,
                            std::vector<RowBlock>* blocks) {
  for (; begin < end; begin += rows_per_block)
    blocks->push_back({list, begin, std::min(begin + rows_per_block, end)});
}

}  // namespace opscope
