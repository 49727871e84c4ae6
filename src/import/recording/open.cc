// An open scope has no record, but an entry in the table behind its chunk: start, name, depth. An entry may be stale;
// those whose start and depth match a record are ignored. The others become records with kUnfinished in a copy of the
// thread's last chunk, numbered behind it, so that they are read like all other records. They end at the last tick of
// the window.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/open.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace opscope {
namespace {

bool IsLastOfThread(std::span<const RecordingChunk* const> chunks, size_t i) {
  return i + 1 == chunks.size() || !AreOfOneStream(*chunks[i], *chunks[i + 1]);
}

template <typename T>
void Put(std::string* bytes, size_t at, T value) {
  std::memcpy(bytes->data() + at, &value, sizeof(value));
}

}  // namespace

OpenScopesOfWindow::OpenScopesOfWindow(std::span<const RecordingChunk* const> chunks) {
  for (size_t i = 0; i < chunks.size(); ++i)
    LookThrough(*chunks[i], IsLastOfThread(chunks, i));
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (IsLastOfThread(chunks, i)) AddOpenOf(*chunks[i]);
  }
}

void OpenScopesOfWindow::LookThrough(const RecordingChunk& chunk, bool is_last) {
  for (uint32_t row = 0; row < chunk.record_count(); ++row) {
    const Record record = chunk.record(row);
    const bool is_in_ticks = !chunk.has_unix_times() && record.kind != RecordKind::kNative;
    if (is_last && is_in_ticks) {
      last_tick_ = std::max(last_tick_, record.start + (IsScope(record) ? record.value : 0));
    }
    if ((record.flags & record_flags::kOtherThread) == 0 || record.payload == 0) continue;
    const std::optional<Payload> payload = chunk.payload(record.payload);
    if (payload && payload->has_start_thread) ended_.insert({payload->start_thread, record.start, record.depth});
  }
  for (const OpenTableEntry& entry : chunk.open_entries())
    last_tick_ = std::max(last_tick_, is_last ? entry.start : 0);
}

void OpenScopesOfWindow::AddOpenOf(const RecordingChunk& last) {
  if ((last.open_flags() & open_table_flags::kTooDeep) != 0) ++hidden_;
  if ((last.open_flags() & open_table_flags::kLeftTheFile) != 0) {
    ++left_the_file_;
    return;
  }
  std::set<std::pair<uint64_t, uint16_t>> finished;
  for (uint32_t row = 0; row < last.record_count() && !last.open_entries().empty(); ++row) {
    const Record record = last.record(row);
    if (IsScope(record)) finished.insert({record.start, record.depth});
  }
  std::vector<Record> open;
  for (size_t depth = last.open_entries().size();
       depth-- > 0;) {  // innermost first, the order in which they would have ended
    const OpenTableEntry& entry = last.open_entries()[depth];
    const uint16_t record_depth = UnpackDepth(entry.depth_kind_flags);
    if (entry.start == 0 || record_depth != depth || finished.count({entry.start, record_depth}) != 0 ||
        ended_.count({last.thread_index(), entry.start, record_depth}) != 0) {
      continue;
    }
    if (entry.name == 0) {  // it began after the memory limit was reached
      ++hidden_;
      continue;
    }
    Record record;
    record.start = entry.start;
    record.value = last_tick_ > entry.start ? last_tick_ - entry.start : 0;
    record.name = entry.name;
    record.payload = entry.payload;
    UnpackScope(entry.depth_kind_flags, entry.origin, &record);
    record.flags |= record_flags::kUnfinished;
    open.push_back(record);
  }
  if (!open.empty()) MakeChunk(last, std::move(open));
}

// A copy of the chunk with these records instead of its own; their names and payloads keep their places. Drops records
// for which there is no room.
void OpenScopesOfWindow::MakeChunk(const RecordingChunk& last, std::vector<Record> records) {
  size_t lowest = last.bytes().size();
  for (const Record& record : records) {
    lowest = std::min<size_t>(lowest, record.name);
    if (record.payload != 0) lowest = std::min<size_t>(lowest, record.payload);
  }
  const size_t first = last.first_record();
  const size_t room = lowest > first ? (lowest - first) / sizeof(Record) : 0;
  if (room < records.size()) {
    hidden_ += records.size() - room;
    records.erase(records.begin(), records.end() - static_cast<std::ptrdiff_t>(room));  // keeps the outermost
  }
  std::string bytes(reinterpret_cast<const char*>(last.bytes().data()), last.bytes().size());
  Put(&bytes, offsetof(ChunkHeader, sequence), last.sequence() + 1);
  Put(&bytes, offsetof(ChunkHeader, dropped_before), last.dropped());
  Put(&bytes, offsetof(ChunkHeader, recorded_before), last.recorded_before() + last.record_count());
  Put(&bytes, offsetof(ChunkHeader, record_count), static_cast<uint32_t>(records.size()));
  std::memcpy(bytes.data() + first, records.data(), records.size() * sizeof(Record));
  made_.push_back(std::move(bytes));
}

}  // namespace opscope
