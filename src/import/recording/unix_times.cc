// Everything behind this knows ticks alone. A chunk in unix times is copied and its records are converted, begin and
// end each for itself, so that rounding cannot make a record overlap the next; the copy takes the place of the chunk.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/unix_times.h"

#include <cstring>
#include <span>

namespace opscope {
namespace {

bool HasDuration(const Record& record) {
  return record.kind == RecordKind::kScope || record.kind == RecordKind::kAsync ||
         record.kind == RecordKind::kDeviceSpan;
}

// Any bits are a time; what lies outside of 292 years around 1970 wraps, as the columns' times do.
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
      if (HasDuration(record)) record.value = clock.TicksAt(TimeOf(end, clock)) - record.start;
      std::memcpy(copy.data() + chunk.first_record() + row * sizeof(Record), &record, sizeof(Record));
    }
    chunk.UseTicks(std::as_bytes(std::span(copy)));
  }
}

}  // namespace opscope
