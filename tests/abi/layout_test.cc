// The layouts that programs and adapters built at other times share with the recorder of the process. A change of
// one of them without a new kRecorderAbi would be read by them as something else; the golden text makes it loud.
//
// OPSCOPE_UPDATE_GOLDEN=1 writes the text anew, but not while kRecorderAbi is still a number that was given away.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>

#include "command.h"
#include "opscope/c.h"
#include "opscope/recorder_abi.h"

namespace opscope {
namespace {

constexpr char kGolden[] = OPSCOPE_SOURCE_DIR "/src/recorder/abi_layout.txt";

struct Layout {
  std::string text;

  void Line(const char* what, size_t size, size_t align) {
    char line[160];
    std::snprintf(line, sizeof(line), "%s: %zu bytes, aligned to %zu\n", what, size, align);
    text += line;
  }
  void Member(const char* what, size_t offset, size_t size) {
    char line[160];
    std::snprintf(line, sizeof(line), "  %4zu %5zu %s\n", offset, size, what);
    text += line;
  }
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#define TYPE(type) layout.Line(#type, sizeof(type), alignof(type))
#define MEMBER(type, member) layout.Member(#member, offsetof(type, member), sizeof(type::member))

void DescribeScopes(Layout& layout) {
  TYPE(OpenScope);
  MEMBER(OpenScope, context);
  MEMBER(OpenScope, start);
  MEMBER(OpenScope, name);
  MEMBER(OpenScope, payload);
  MEMBER(OpenScope, depth_kind_flags);
  MEMBER(OpenScope, origin);
  MEMBER(OpenScope, generation);
  MEMBER(OpenScope, outer);
  MEMBER(OpenScope, stream);
  MEMBER(OpenScope, next_free);
  MEMBER(OpenScope, sibling);
  MEMBER(OpenScope, owner);
  TYPE(NameCacheEntry);
  MEMBER(NameCacheEntry, text);
  MEMBER(NameCacheEntry, offset);
}

void DescribeStreams(Layout& layout) {
  TYPE(Stream);
  MEMBER(Stream, next);
  MEMBER(Stream, limit);
  MEMBER(Stream, chunk);
  MEMBER(Stream, published);
  MEMBER(Stream, generation);
  MEMBER(Stream, top);
  MEMBER(Stream, accepting);
  MEMBER(Stream, open_table);
  MEMBER(Stream, chunk_sequence);
  MEMBER(Stream, open_capacity);
  MEMBER(Stream, ended_elsewhere);
  MEMBER(Stream, dropped);
  MEMBER(Stream, thread);
  MEMBER(Stream, window);
  MEMBER(Stream, next_native);
  MEMBER(Stream, internal);
  MEMBER(Stream, stable_names);
  MEMBER(Stream, copied_names);
  TYPE(Thread);
  MEMBER(Thread, gate);
  MEMBER(Thread, native);
  MEMBER(Thread, free_slots);
  MEMBER(Thread, freed_elsewhere);
  MEMBER(Thread, index);
  MEMBER(Thread, os_thread);
  MEMBER(Thread, internal);
  MEMBER(Thread, streams);
}

void DescribeWindows(Layout& layout) {
  TYPE(WindowOptions);
  MEMBER(WindowOptions, abi);
  MEMBER(WindowOptions, at_cap);
  MEMBER(WindowOptions, native_threads);
  MEMBER(WindowOptions, max_bytes);
  MEMBER(WindowOptions, metadata_json);
  MEMBER(WindowOptions, thread_number);
  MEMBER(WindowOptions, record_to);
  TYPE(TrackOptions);
  MEMBER(TrackOptions, name);
  MEMBER(TrackOptions, os_thread);
  MEMBER(TrackOptions, logical_thread);
  MEMBER(TrackOptions, clock);
  MEMBER(TrackOptions, end);
  TYPE(WindowCounts);
  MEMBER(WindowCounts, recorded);
  MEMBER(WindowCounts, dropped);
  MEMBER(WindowCounts, bytes);
  MEMBER(WindowCounts, threads);
  MEMBER(WindowCounts, chunks);
  TYPE(WindowFile);
  MEMBER(WindowFile, bytes);
  MEMBER(WindowFile, chunks_in_memory);
  MEMBER(WindowFile, error);
  MEMBER(WindowFile, step);
}

void DescribeRecords(Layout& layout) {
  TYPE(Record);
  MEMBER(Record, start);
  MEMBER(Record, value);
  MEMBER(Record, name);
  MEMBER(Record, payload);
  MEMBER(Record, depth);
  MEMBER(Record, kind);
  MEMBER(Record, flags);
  MEMBER(Record, source);
  MEMBER(Record, scope);
  TYPE(NameEntry);
  TYPE(PayloadHeader);
  MEMBER(PayloadHeader, bytes);
  MEMBER(PayloadHeader, fields);
  MEMBER(PayloadHeader, arg_count);
  TYPE(Calibration);
  TYPE(ChunkHeader);
  MEMBER(ChunkHeader, magic);
  MEMBER(ChunkHeader, layout);
  MEMBER(ChunkHeader, header_bytes);
  MEMBER(ChunkHeader, size);
  MEMBER(ChunkHeader, sequence);
  MEMBER(ChunkHeader, window);
  MEMBER(ChunkHeader, os_thread);
  MEMBER(ChunkHeader, thread_index);
  MEMBER(ChunkHeader, process);
  MEMBER(ChunkHeader, logical_thread);
  MEMBER(ChunkHeader, dropped_before);
  MEMBER(ChunkHeader, calibration);
  MEMBER(ChunkHeader, thread_name);
  MEMBER(ChunkHeader, record_count);
  MEMBER(ChunkHeader, entries_begin);
  MEMBER(ChunkHeader, recorded_before);
  TYPE(OpenTable);
  MEMBER(OpenTable, capacity);
  MEMBER(OpenTable, dropped);
  MEMBER(OpenTable, flags);
  MEMBER(OpenTable, thread_index);
  MEMBER(OpenTable, sequence);
  TYPE(OpenTableEntry);
  MEMBER(OpenTableEntry, start);
  MEMBER(OpenTableEntry, name);
  MEMBER(OpenTableEntry, payload);
  MEMBER(OpenTableEntry, depth_kind_flags);
  MEMBER(OpenTableEntry, origin);
}

// Structs of c.h may grow at their end; what stands must stay where it is.
void DescribeC(Layout& layout) {
  TYPE(opscope_error);
  TYPE(opscope_schedule);
  TYPE(opscope_options);
  MEMBER(opscope_options, max_bytes);
  MEMBER(opscope_options, at_cap);
  MEMBER(opscope_options, threads);
  MEMBER(opscope_options, schedule);
  MEMBER(opscope_options, action_of);
  MEMBER(opscope_options, on_ready);
  MEMBER(opscope_options, on_warning);
  MEMBER(opscope_options, context);
  MEMBER(opscope_options, metadata_json);
  MEMBER(opscope_options, record_to);
  TYPE(opscope_profiler_status);
  TYPE(opscope_import_options);
  TYPE(opscope_trace_info);
  MEMBER(opscope_trace_info, recorded);
  MEMBER(opscope_trace_info, spans);
  MEMBER(opscope_trace_info, is_partial);
  TYPE(opscope_problem);
  TYPE(opscope_spans);
  TYPE(opscope_summary_options);
  TYPE(opscope_summary_row);
  TYPE(opscope_chrome_options);
}
#pragma GCC diagnostic pop

std::string Describe() {
  Layout layout;
  layout.text = "kRecorderAbi " + std::to_string(kRecorderAbi) + "\n";
  layout.text += "kMaxWindows " + std::to_string(kMaxWindows) + "\n";
  layout.text += "kNameCacheEntries " + std::to_string(kNameCacheEntries) + "\n";
  layout.text += "kChunkLayout " + std::to_string(kChunkLayout) + "\n";
  DescribeScopes(layout);
  DescribeStreams(layout);
  DescribeWindows(layout);
  DescribeRecords(layout);
  DescribeC(layout);
  return layout.text;
}

TEST(RecorderAbi, HasTheLayoutThatItsNumberStandsFor) {
  const std::string golden = ReadText(kGolden);
  unsigned given_away = 0;
  const size_t body = golden.find("kRecorderAbi ");
  ASSERT_NE(body, std::string::npos) << kGolden;
  ASSERT_EQ(std::sscanf(golden.c_str(), "# Numbers up to %u", &given_away), 1) << kGolden;
  const std::string now = Describe();
  if (golden.substr(body) == now) return;
  EXPECT_EQ(golden.substr(body), now);
  ASSERT_GT(kRecorderAbi, given_away) << "a layout has changed: kRecorderAbi needs a new number";
  if (std::getenv("OPSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kGolden, std::ios::binary) << golden.substr(0, body) << now;
    ADD_FAILURE() << kGolden << " was rewritten; look at the difference";
  }
}

}  // namespace
}  // namespace opscope
