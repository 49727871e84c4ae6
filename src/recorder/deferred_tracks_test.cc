// Tracks that take records after their window's close: until they are closed, or the window is read.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/chunk_pool.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

void Append(Stream* track, uint64_t start, const char* name = "record") {
  Record record;
  record.start = start, record.value = 1;
  record.kind = RecordKind::kDeviceSpan, record.source = RecordSource::kMegEngine;
  AppendNamed(track, record, [&] { return InternText(track, name); }, 0, [](char*) {});
}

Stream* OpenDeferredTrack(const OwnedWindow& window, const char* name = "device") {
  const TrackOptions options{.name = name, .end = TrackEnd::kAtRead};
  return opscope_track_open(window.get(), &options);
}

const DecodedThread& ThreadCalled(const DecodedWindow& window, const std::string& name) {
  static const DecodedThread none;
  for (const auto& [index, thread] : window.threads) {
    if (thread.name == name) return thread;
  }
  ADD_FAILURE() << "no " << name;
  return none;
}

// What the track has are records that begin at first, first + 1, ...
void ExpectInOrder(const DecodedThread& thread, uint64_t first, size_t count) {
  ASSERT_EQ(thread.records.size(), count);
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(thread.records[i].record.start, first + i);
}

TEST(DeferredTracks, TakeRecordsAfterTheClose) {
  OwnedWindow window = OpenTestWindow();
  Stream* track = OpenDeferredTrack(window);
  Append(track, 0);
  opscope_window_close(window.get());
  EXPECT_EQ(opscope_window_counts(window.get()).recorded, 1u);
  constexpr uint64_t kRecords = 30000;  // several chunks
  std::thread([&] {
    for (uint64_t i = 1; i < kRecords; ++i)
      Append(track, i);
  }).join();
  opscope_track_close(track);
  EXPECT_EQ(opscope_window_counts(window.get()).recorded, kRecords);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  ExpectInOrder(ThreadCalled(decoded, "device"), 0, kRecords);
}

TEST(DeferredTracks, AreEndedByTheFirstReadWhoeverHasThemOpen) {
  OwnedWindow window = OpenTestWindow();
  Stream* track = OpenDeferredTrack(window);
  opscope_window_close(window.get());
  Append(track, 0);
  for (int reading = 0; reading < 2; ++reading) {
    const DecodedWindow decoded = CloseAndDecode(window.get());
    ExpectInOrder(ThreadCalled(decoded, "device"), 0, 1);
    for (uint64_t i = 0; i < 20000; ++i)
      Append(track, 1000 + i);  // in no recording
  }
  opscope_track_close(track);
}

TEST(DeferredTracks, ThatAreClosedBeforeTheWindowAreAsOthers) {
  OwnedWindow window = OpenTestWindow();
  Stream* track = OpenDeferredTrack(window);
  Append(track, 7);
  opscope_track_close(track);
  ExpectInOrder(ThreadCalled(CloseAndDecode(window.get()), "device"), 7, 1);
}

TEST(DeferredTracks, LeaveThreadsAndOtherTracksEndedByTheClose) {
  OwnedWindow window = OpenTestWindow();
  Stream* late = OpenDeferredTrack(window);
  const TrackOptions options{.name = "ends"};
  Stream* other = opscope_track_open(window.get(), &options);
  RecordNow(RecordKind::kInstant, "native", 0);
  Append(other, 0);
  opscope_window_close(window.get());
  RecordNow(RecordKind::kInstant, "native", 0);
  Append(other, 1);
  Append(late, 2);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  ExpectInOrder(ThreadCalled(decoded, "ends"), 0, 1);
  ExpectInOrder(ThreadCalled(decoded, "device"), 2, 1);
  EXPECT_EQ(opscope_window_counts(window.get()).recorded, 3u);
  opscope_track_close(other);
  opscope_track_close(late);
}

TEST(DeferredTracks, CountWhatDoesNotFitBelowTheCap) {
  constexpr uint64_t kRecords = 100000;
  for (const AtCap at_cap : {AtCap::kStop, AtCap::kKeepNewest}) {
    OwnedWindow window = OpenTestWindow({.at_cap = at_cap, .max_bytes = 4 * kChunkBytes});
    Stream* track = OpenDeferredTrack(window);
    for (uint64_t i = 0; i < kRecords / 50; ++i)
      Append(track, i);
    opscope_window_close(window.get());
    EXPECT_EQ(opscope_window_counts(window.get()).dropped, 0u);
    for (uint64_t i = kRecords / 50; i < kRecords; ++i)
      Append(track, i);
    opscope_track_close(track);
    const WindowCounts counts = opscope_window_counts(window.get());
    EXPECT_EQ(counts.recorded + counts.dropped, kRecords);
    EXPECT_GT(counts.dropped, 0u);
    EXPECT_LE(counts.bytes, 6 * uint64_t{kChunkBytes});
    const DecodedWindow decoded = CloseAndDecode(window.get());
    const DecodedThread& records = ThreadCalled(decoded, "device");
    ExpectInOrder(records, at_cap == AtCap::kStop ? 0 : kRecords - records.records.size(), records.records.size());
    EXPECT_EQ(records.recorded + records.dropped, kRecords);
  }
}

TEST(DeferredTracks, AreReadWhileTheyAreWrittenWithoutAGap) {
  for (int round = 0; round < 50; ++round) {
    OwnedWindow window = OpenTestWindow();
    Stream* track = OpenDeferredTrack(window);
    std::atomic<bool> begun{false};
    opscope_window_close(window.get());
    std::thread writer([&] {
      for (uint64_t i = 0; i < 20000; ++i) {
        Append(track, i);
        begun.store(true, std::memory_order_relaxed);
      }
      opscope_track_close(track);
    });
    while (!begun.load(std::memory_order_relaxed))
      std::this_thread::yield();
    const DecodedWindow decoded = CloseAndDecode(window.get());
    writer.join();
    const DecodedThread& records = ThreadCalled(decoded, "device");
    EXPECT_FALSE(records.records.empty());
    ExpectInOrder(records, 0, records.records.size());
  }
}

TEST(DeferredTracks, MayBeClosedWhileTheirWindowIsFreedAndAfter) {
  for (int round = 0; round < 200; ++round) {
    OwnedWindow window = OpenTestWindow();
    Stream* track = OpenDeferredTrack(window);
    Append(track, 0);
    opscope_window_close(window.get());
    std::thread closer([&] { opscope_track_close(track); });
    window.reset();
    closer.join();
  }
  OwnedWindow window = OpenTestWindow();
  Stream* track = OpenDeferredTrack(window);
  window.reset();
  Append(track, 1);
  opscope_track_close(track);
  // The recorder is as before: a deferred track of another window has its own records alone.
  OwnedWindow next = OpenTestWindow();
  Stream* of_next = OpenDeferredTrack(next);
  opscope_window_close(next.get());
  for (uint64_t i = 0; i < 3; ++i)
    Append(of_next, i);
  opscope_track_close(of_next);
  ExpectInOrder(ThreadCalled(CloseAndDecode(next.get()), "device"), 0, 3);
}

TEST(DeferredTracks, DoNotKeepTheSlotOfTheirWindow) {
  OwnedWindow closed[2 * kMaxWindows];
  Stream* tracks[2 * kMaxWindows];
  for (uint64_t i = 0; i < 2 * kMaxWindows; ++i) {
    closed[i] = OpenTestWindow();
    tracks[i] = OpenDeferredTrack(closed[i]);
    opscope_window_close(closed[i].get());
  }
  for (uint64_t i = 0; i < 2 * kMaxWindows; ++i)
    Append(tracks[i], i);
  for (uint64_t i = 0; i < 2 * kMaxWindows; ++i) {
    ExpectInOrder(ThreadCalled(CloseAndDecode(closed[i].get()), "device"), i, 1);
    opscope_track_close(tracks[i]);
  }
}

TEST(DeferredTracks, AreInADumpAfterTheClose) {
  OwnedWindow window = OpenTestWindow();
  Stream* track = OpenDeferredTrack(window);
  opscope_window_close(window.get());
  Append(track, 0);
  DecodedWindow dumped;
  const bool whole = opscope_window_dump(
      window.get(), nullptr,
      [](void* context, uint16_t type, const void* data, uint64_t bytes) {
        DecodeBlock(context, type, data, bytes);
        return true;
      },
      &dumped);
  EXPECT_TRUE(whole);
  ExpectInOrder(ThreadCalled(dumped, "device"), 0, 1);
  Append(track, 1);
  opscope_track_close(track);
  ExpectInOrder(ThreadCalled(CloseAndDecode(window.get()), "device"), 0, 2);
}

TEST(DeferredTracks, AreTheParentsAfterAFork) {
  OwnedWindow window = OpenTestWindow();
  Stream* track = OpenDeferredTrack(window);
  Append(track, 0);
  opscope_window_close(window.get());
  Append(track, 1);
  const pid_t child = fork();
  if (child == 0) {
    Append(track, 2);
    const bool is_detached = opscope_window_counts(window.get()).recorded == 0;
    opscope_track_close(track);
    window.reset();
    _exit(is_detached ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Append(track, 2);
  opscope_track_close(track);
  ExpectInOrder(ThreadCalled(CloseAndDecode(window.get()), "device"), 0, 3);
}

// The program does not wait for their writer, so the pool is filled for it by whole huge pages.
TEST(DeferredTracks, TakeWholeHugePagesWhereThePoolIsEmpty) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  constexpr size_t kProbe = 4096;
  void* probe = mmap(nullptr, kProbe, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(probe, MAP_FAILED);
  const bool knows_advice = madvise(probe, kProbe, 23) == 0;
  munmap(probe, kProbe);
  if (!knows_advice) GTEST_SKIP() << "MADV_POPULATE_WRITE is of Linux 5.14";

  constexpr size_t kChunks = kPooledChunks + 40;
  OwnedWindow window = OpenTestWindow({.max_bytes = uint64_t{256} << 20});
  Stream* track = OpenDeferredTrack(window);
  uint64_t records = 0;
  while (track->chunk_sequence + 1 < kChunks)
    Append(track, records++);
  opscope_window_close(window.get());
  opscope_track_close(track);
  EXPECT_EQ(opscope_window_counts(window.get()).recorded, records);
  std::vector<uintptr_t> chunks(kChunks);
  opscope_window_read(
      window.get(),
      [](void* context, uint16_t type, const void* data, uint64_t) {
        if (type != block_types::kRawChunk) return;
        const uint32_t sequence = static_cast<const ChunkHeader*>(data)->sequence;
        static_cast<std::vector<uintptr_t>*>(context)->at(sequence) = reinterpret_cast<uintptr_t>(data);
      },
      &chunks);
  // Mapped one by one, each would lie below the one before.
  constexpr size_t kInPage = kHugePage / kChunkBytes;
  size_t pages = 0;
  for (size_t first = kPooledChunks; first + kInPage <= kChunks; ++first) {
    bool is_whole = chunks[first] % kHugePage == 0;
    for (size_t i = 1; i < kInPage; ++i)
      is_whole &= chunks[first + i] == chunks[first] + i * kChunkBytes;
    pages += is_whole ? 1 : 0;
  }
  EXPECT_GE(pages, 4u);
}

}  // namespace
}  // namespace opscope
