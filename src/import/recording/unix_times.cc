// The later steps of the import expect ticks. A chunk with unix times is replaced by a copy with converted records.
// Begin and end are converted separately, so that rounding cannot make a record overlap the next.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/unix_times.h"

#include <cstring>
#include <span>

namespace opscope {
namespace {

// Times more than 292 years from 1970 wrap around, as those of the columns do.
Timestamp TimeOf(uint64_t unix_ns, const TickClock& clock) {
  return {static_cast<int64_t>(unix_ns - static_cast<uint64_t>(clock.epoch_ns()))};
}

}  // namespace

void ConvertToTicks(const TickClock& clock, std::vector<RecordingChunk>* chunks, std::deque<std::string>* copies) {
  for (RecordingChunk& chunk : *chunks) {
    if (!chunk.has_unix_times()) continue;
    std::string& copy = copies->emplace_back(reinterpret_cast<const char*>(chunk.bytes().data()), chunk.byte_size());
    for (uint32_t row = 0; row < chunk.record_count(); ++row) {
      Record record = chunk.record(row);
      const uint64_t end = record.start + record.value;
      record.start = clock.TicksAt(TimeOf(record.start, clock));
      if (IsScope(record) || record.kind == RecordKind::kDeviceSpan)
        record.value = clock.TicksAt(TimeOf(end, clock)) - record.start;
      std::memcpy(copy.data() + chunk.first_record() + row * sizeof(Record), &record, sizeof(Record));
    }
    chunk.UseTicks(std::as_bytes(std::span(copy)));
  }
}

}  // namespace opscope
