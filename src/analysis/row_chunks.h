// Splits rows into chunks of a fixed size for several threads. Results are joined in the order of the chunks, so that
// floating-point sums do not depend on the number of threads.
//
// Thread rule: plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/thread_team.h"

namespace opscope {

struct RowChunks {
  // Largest number of chunks. A chunk's fixed cost grows with the depth of the spans, which a hostile trace may make
  // arbitrarily large.
  static constexpr size_t kMaxChunks = 256;
  static constexpr size_t kUsualSize = size_t{1} << 16;  // some milliseconds of work, 100 times a thread's start

  explicit RowChunks(size_t row_count, size_t chunk_size = 0) : rows(row_count), size(chunk_size) {
    if (size == 0) size = std::max(kUsualSize, row_count / kMaxChunks + 1);
  }

  size_t rows;
  size_t size;  // of a chunk

  size_t count() const { return (rows + size - 1) / size; }
  size_t begin(size_t chunk) const { return chunk * size; }
  size_t end(size_t chunk) const { return std::min(rows, (chunk + 1) * size); }

  // Number of threads, at least two chunks for each. `max_threads` 0: the machine's number.
  size_t Members(uint32_t max_threads) const {
    const size_t most = max_threads != 0 ? max_threads : DefaultThreadCount();
    return std::clamp<size_t>(count() / 2, 1, most);
  }
};

}  // namespace opscope
