// Records of tracks that carry unix times, byte by byte, beside records in ticks.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/unix_times.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "import/recording/recorded_bytes_for_test.h"
#include "opscope/import.h"

namespace opscope {
namespace {

TEST(UnixTimes, OfATrackAreTakenAsTheyAre) {
  RecordingBytes recording;
  recording.Add(block_types::kWindowInfo, "{\"calibrations\":[[1000,5000000000],[2000001000,6000000000]]}");
  ChunkBytes track({.size = 4096, .os_thread = 7, .thread_index = 2, .thread_name = "device"}), thread({.size = 4096});
  track.Put(4, static_cast<uint16_t>(kChunkLayout | kUnixTimes));
  track.Scope("inner", 5000000123, 1000, 1), track.Scope("outer", 5000000001, 77777, 0);
  track.Scope("far", 7123456789, 3, 0);
  thread.Scope("in ticks", 1000, 2000, 0);
  recording.Add(block_types::kRawChunk, track.bytes());
  recording.Add(block_types::kRawChunk, thread.bytes());
  const Result<Trace> trace = ImportRecording(recording.blocks);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().problems().size(), 0u);
  using Times = std::pair<int64_t, int64_t>;
  std::map<std::string, Times> times;
  const SpanColumns& spans = trace.value().spans();
  for (size_t i = 0; i < spans.size(); ++i)
    times[std::string(trace.value().text(spans.name[i]))] = {spans.start[i].ns, spans.duration[i].ns};
  EXPECT_EQ(times["inner"], Times(123, 1000));
  EXPECT_EQ(times["outer"], Times(1, 77777));
  EXPECT_EQ(times["far"], Times(2123456789, 3));
  EXPECT_EQ(times["in ticks"], Times(0, 1000));
}

// Any bits may stand there; nothing is read that is not there, and every record becomes a span.
TEST(UnixTimes, ThatAreNonsenseAreStillSpans) {
  RecordingBytes recording;
  recording.Add(block_types::kWindowInfo, WindowInfoText());
  ChunkBytes track({.size = 4096});
  track.Put(4, static_cast<uint16_t>(kChunkLayout | kUnixTimes));
  for (const uint64_t start : {uint64_t{0}, uint64_t{1} << 63, ~uint64_t{0}})
    track.Scope("span", start, ~uint64_t{0} / 3, 0);
  recording.Add(block_types::kRawChunk, track.bytes());
  const Result<Trace> trace = ImportRecording(recording.blocks);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().size(), 3u);
}

}  // namespace
}  // namespace opscope
