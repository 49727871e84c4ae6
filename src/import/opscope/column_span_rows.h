// Decodes the rows of a block of spans to their places. Buffers are reused for one block after the other.
//
// Thread rule: one thread at a time per object; several objects write to one SpanMemory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "import/opscope/column_spans.h"
#include "trace/row_memory.h"
#include "wire/column_codec.h"
#include "wire/span_times.h"

namespace opscope {

class SpanRowReader {
 public:
  // Also sets block->negative_durations. False: the block is damaged.
  [[nodiscard]] bool Read(const ColumnSpans::Ids& ids, const SpanMemory& to, ColumnSpans::WaitingBlock* block);

 private:
  bool ReadTimes(const SpanMemory& to, ColumnSpans::WaitingBlock* block);
  bool ReadInto(const TableBlock& table, uint32_t column, size_t rows, std::vector<uint64_t>* values);

  ColumnDecoder decoder_;
  std::vector<uint64_t> values_, depth_, start_, duration_, async_start_, async_duration_;
  EdgeGaps gaps_;
};

}  // namespace opscope
