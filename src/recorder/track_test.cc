// Tracks: finished records with times of their own, beside threads that record as ever.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

using testing::ElementsAre;

void Append(Stream* track, const char* name, uint64_t start, uint64_t duration) {
  Record record;
  record.start = start, record.value = duration;
  record.kind = RecordKind::kScope, record.source = RecordSource::kMegEngine;
  AppendNamed(track, record, [&] { return InternText(track, name); }, 0, [](char*) {});
}

Stream* OpenTrack(Window* window, const char* name, TrackClock clock = TrackClock::kTicks) {
  const TrackOptions options{.name = name, .os_thread = 77, .logical_thread = 5, .clock = clock};
  return opscope_track_open(window, &options);
}

const DecodedThread* FindThread(const DecodedWindow& window, const std::string& name) {
  for (const auto& [index, thread] : window.threads) {
    if (thread.name == name) return &thread;
  }
  return nullptr;
}

TEST(Tracks, AreThreadsOfTheirOwnWithTheTimesThatTheyAreGiven) {
  OwnedWindow window = OpenTestWindow({});
  RecordNow(RecordKind::kInstant, "native", 0);
  Stream* worker = OpenTrack(window.get(), "worker");
  Stream* device = OpenTrack(window.get(), "device");
  ASSERT_NE(worker, nullptr);
  ASSERT_NE(device, nullptr);
  Append(worker, "a", 1000, 10);
  Append(device, "k", 5, 1);
  std::thread([&] { Append(worker, "b", 900, 20); }).join();
  opscope_track_close(worker);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  opscope_track_close(device);
  ASSERT_EQ(decoded.threads.size(), 3u);
  const DecodedThread* records = FindThread(decoded, "worker");
  ASSERT_NE(records, nullptr);
  EXPECT_EQ(records->logical_thread, 5u);
  ASSERT_EQ(records->records.size(), 2u);
  EXPECT_EQ(records->records[0].name, "a");
  EXPECT_EQ(records->records[0].record.start, 1000u);
  EXPECT_EQ(records->records[1].name, "b");
  EXPECT_EQ(records->records[1].record.start, 900u);
  EXPECT_EQ(records->records[1].record.value, 20u);
  EXPECT_EQ(FindThread(decoded, "device")->records.size(), 1u);
}

TEST(Tracks, AreNotOpenedInAWindowThatIsClosed) {
  OwnedWindow window = OpenTestWindow({});
  opscope_window_close(window.get());
  EXPECT_EQ(OpenTrack(window.get(), "late"), nullptr);
}

TEST(Tracks, TakePayloadsAndNamesOverManyChunks) {
  OwnedWindow window = OpenTestWindow({});
  Stream* track = OpenTrack(window.get(), "device");
  constexpr uint32_t kRecords = 50000;
  for (uint32_t i = 0; i < kRecords; ++i) {
    Record record;
    record.start = i;
    record.kind = RecordKind::kDeviceSpan;
    const std::string name = "kernel " + std::to_string(i % 3000);
    struct {
      PayloadHeader header;
      int32_t device, stream;
      uint64_t correlation;
    } payload{{sizeof(payload), payload_fields::kDevice, 0}, 0, 7, i};
    AppendNamed(
        track, record, [&] { return InternText(track, name.c_str()); }, sizeof(payload),
        [&](char* place) { std::memcpy(place, &payload, sizeof(payload)); });
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  opscope_track_close(track);
  const DecodedThread* device = FindThread(decoded, "device");
  ASSERT_EQ(device->records.size(), kRecords);
  EXPECT_GT(device->sequences.size(), 5u);
  for (uint32_t i = 0; i < kRecords; ++i) {
    ASSERT_EQ(device->records[i].record.start, i);
    ASSERT_EQ(device->records[i].name, "kernel " + std::to_string(i % 3000));
    ASSERT_NE(device->records[i].record.payload, 0u);
  }
}

TEST(Tracks, CountWhatDoesNotFitBelowTheCap) {
  for (const AtCap at_cap : {AtCap::kStop, AtCap::kKeepNewest}) {
    OwnedWindow window = OpenTestWindow({.at_cap = at_cap, .max_bytes = 4 * kChunkBytes});
    Stream* track = OpenTrack(window.get(), "track");
    for (uint64_t i = 0; i < 100000; ++i)
      Append(track, "record", i, 1);
    opscope_track_close(track);
    const WindowCounts counts = opscope_window_counts(window.get());
    EXPECT_EQ(counts.recorded + counts.dropped, 100000u);
    EXPECT_GT(counts.dropped, 0u);
    EXPECT_LE(counts.bytes, 6 * uint64_t{kChunkBytes});
    const DecodedWindow decoded = CloseAndDecode(window.get());
    const DecodedThread* records = FindThread(decoded, "track");
    ASSERT_NE(records, nullptr);
    ASSERT_FALSE(records->records.empty());
    const uint64_t first = at_cap == AtCap::kStop ? 0 : 100000 - records->records.size();
    EXPECT_EQ(records->records.front().record.start, first);
  }
}

TEST(Tracks, SayInTheirChunksWhichTimeTheyAreGivenIn) {
  OwnedWindow window = OpenTestWindow({});
  Stream* ticks = OpenTrack(window.get(), "ticks");
  Stream* unix_times = OpenTrack(window.get(), "unix", TrackClock::kUnixNs);
  EXPECT_EQ(ticks->chunk->layout, kChunkLayout);
  EXPECT_EQ(unix_times->chunk->layout, kChunkLayout | kUnixTimes);
  opscope_track_close(ticks);
  opscope_track_close(unix_times);
  Stream* again = OpenTrack(window.get(), "again");  // in the place of the last one
  EXPECT_EQ(again->chunk->layout, kChunkLayout);
  opscope_track_close(again);
}

TEST(Tracks, AreWrittenWhileTheWindowClosesWithoutAGapInWhatItHas) {
  for (int round = 0; round < 50; ++round) {
    OwnedWindow window = OpenTestWindow({});
    Stream* track = OpenTrack(window.get(), "track");
    std::atomic<bool> begun{false};
    std::thread writer([&] {
      for (uint64_t i = 0; i < 20000; ++i) {
        Append(track, "record", i, 1);
        begun.store(true, std::memory_order_relaxed);
      }
    });
    while (!begun.load(std::memory_order_relaxed))
      std::this_thread::yield();
    const DecodedWindow decoded = CloseAndDecode(window.get());
    writer.join();
    opscope_track_close(track);
    const DecodedThread* records = FindThread(decoded, "track");
    ASSERT_NE(records, nullptr);
    for (size_t i = 0; i < records->records.size(); ++i)
      ASSERT_EQ(records->records[i].record.start, i);
  }
}

}  // namespace
}  // namespace opscope
