// Sources that hold records which are finished already: through tracks, while the recording runs and when it is over.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "flight/temporary_folder_for_test.h"
#include "opscope/import.h"
#include "opscope/session.h"
#include "session/fake_source_for_test.h"

namespace opscope {
namespace {

using testing::ElementsAre;

// Another recorder's buffers, say, which come when they are full, in the time of that recorder.
TEST_F(SessionSources, AppendWhatIsFinishedWithTimesOfItsOwnInMemoryAndInFiles) {
  const TemporaryFolder folder;
  for (const std::string& path : {std::string(), folder.File("mapped.opscope")}) {
    Recording recording({.native_threads = NativeThreads::kNone, .record_to = path, .sources = {{&one}}});
    ASSERT_TRUE(recording.Start().ok());
    const TrackOptions options{.name = "device queue", .os_thread = 4711, .clock = TrackClock::kUnixNs};
    Stream* track = opscope_track_open(one.window, &options);
    ASSERT_NE(track, nullptr);
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t begin = static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
    std::thread([&] {
      for (int i = 0; i < 20000; ++i) {
        Record record;
        record.start = static_cast<uint64_t>(begin + i * 1000), record.value = 500;
        record.kind = RecordKind::kScope, record.source = RecordSource::kMegEngine;
        AppendNamed(track, record, [&] { return InternText(track, "kernel"); }, 0, [](char*) {});
      }
    }).join();
    opscope_track_close(track);
    recording.Stop();
    EXPECT_EQ(recording.counts().recorded, 20000u);
    const auto read = recording.ReadTrace();
    ASSERT_TRUE(read.ok());
    const Trace file = path.empty() ? Trace() : ImportFile(path).value();
    const Trace& trace = path.empty() ? *read.value() : file;
    ASSERT_EQ(trace.spans().size(), 20000u);
    const int64_t first = begin - trace.info().epoch_ns;
    for (size_t i = 0; i < 20000; ++i) {
      ASSERT_NEAR(static_cast<double>(trace.spans().start[i].ns - first), static_cast<double>(i) * 1000, 1);
      ASSERT_NEAR(static_cast<double>(trace.spans().duration[i].ns), 500, 1);
    }
    EXPECT_EQ(trace.text(trace.tracks().name[0]), "device queue");
    EXPECT_EQ(trace.tracks().tid[0], 4711);
  }
}

// A source that holds what is finished until it is delivered.
struct HoldingSource : FakeSource {
  Stream* track = nullptr;
  uint64_t held = 20000, lost = 0;
  inline static HoldingSource* asked_one = nullptr;

  explicit HoldingSource(std::string chosen) : FakeSource(std::move(chosen)) {
    asked_one = this;
    Source::start = [](const Source* self, Window* into, uint32_t, const char**) -> void* {
      auto* fake = static_cast<HoldingSource*>(const_cast<Source*>(self));
      asked.push_back("start " + fake->own_name);
      const TrackOptions options{.name = "device queue", .clock = TrackClock::kUnixNs, .end = TrackEnd::kAtRead};
      fake->track = opscope_track_open(into, &options);
      return fake;
    };
    Source::failures = [] { return asked_one->lost; };
    Source::deliver = [](void* session) {
      auto* fake = static_cast<HoldingSource*>(session);
      asked.push_back("deliver " + fake->own_name);
      for (uint64_t i = 0; i < fake->held; ++i) {
        Record record;
        record.start = uint64_t{1700000000000000000} + i * 1000, record.value = 500;
        record.kind = RecordKind::kScope, record.source = RecordSource::kMegEngine;
        AppendNamed(fake->track, record, [&] { return InternText(fake->track, "kernel"); }, 0, [](char*) {});
      }
      fake->lost += 4;
      opscope_track_close(fake->track);
    };
  }
};

TEST_F(SessionSources, AreAskedForWhatTheyHoldAtTheFirstReadAndNotAtTheStop) {
  HoldingSource holding("holding");
  Recording recording({.native_threads = NativeThreads::kNone, .sources = {{&holding}, {&one}}});
  ASSERT_TRUE(recording.Start().ok());
  one.Run("operator");
  recording.Stop();
  EXPECT_THAT(asked, ElementsAre("start holding", "start one", "stop one", "stop holding"));
  EXPECT_EQ(recording.counts().recorded, 1u);
  const auto trace = recording.ReadTrace();
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(asked.back(), "deliver holding");
  EXPECT_EQ(trace.value()->spans().size(), 20001u);
  EXPECT_EQ(trace.value()->info().recorded, 20001u);
  ASSERT_EQ(trace.value()->problems().size(), 1u);
  EXPECT_EQ(trace.value()->problems().count[0], 4u) << "what it lost while it delivered";
  ASSERT_TRUE(recording.ReadTrace().ok());
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "deliver holding"), 1);
  EXPECT_EQ(recording.counts().recorded, 20001u);
}

TEST_F(SessionSources, AreAskedForWhatTheyHoldBeforeItIsSavedOrKept) {
  const TemporaryFolder folder;
  HoldingSource holding("holding");
  Recording recording({.native_threads = NativeThreads::kNone, .sources = {{&holding}}});
  ASSERT_TRUE(recording.Start().ok());
  recording.Stop();
  const std::string path = folder.File("saved.opscope");
  ASSERT_TRUE(recording.Save(path).ok());
  EXPECT_EQ(ImportFile(path).value().spans().size(), 20000u);
  Session session;
  std::shared_ptr<Recording> last;
  for (int cycle = 0; cycle < 2; ++cycle) {
    last = session.Prepare({.native_threads = NativeThreads::kNone, .sources = {{&holding}}}, true).value();
    ASSERT_TRUE(last->Start().ok());
    last->Stop();
  }
  EXPECT_EQ(last->ReadAll().value()->spans().size(), 40000u);
}

TEST_F(SessionSources, AreAskedForWhatTheyHoldWhenNobodyReadsToLetGoOfIt) {
  HoldingSource holding("holding");
  {
    Recording recording({.sources = {{&holding}}});
    ASSERT_TRUE(recording.Start().ok());
    recording.Stop();
  }
  EXPECT_EQ(asked.back(), "deliver holding");
  Recording refused({.sources = {{&holding}, {&two}}});
  two.refuses = true;
  asked.clear();
  ASSERT_FALSE(refused.Start().ok());
  EXPECT_THAT(asked, ElementsAre("start holding", "start two", "stop holding", "deliver holding"));
}

TEST_F(SessionSources, HaveDeliveredIntoAMappedFileWhenTheRecordingIsStopped) {
  const TemporaryFolder folder;
  const std::string path = folder.File("mapped.opscope");
  HoldingSource holding("holding");
  Recording recording({.native_threads = NativeThreads::kNone, .record_to = path, .sources = {{&holding}}});
  ASSERT_TRUE(recording.Start().ok());
  recording.Stop();
  const Trace trace = ImportFile(path).value();
  EXPECT_EQ(trace.spans().size(), 20000u);
  ASSERT_EQ(trace.problems().size(), 1u) << "the losses of the source, and nothing of the file";
  EXPECT_EQ(trace.problems().count[0], 4u);
}

// By the recorder alone: what comes after the close lies in the file at once, and the last track ends it.
TEST(LateRecords, LieInTheMappedFileAndTheLastTrackEndsIt) {
  const TemporaryFolder folder;
  const std::string path = folder.File("mapped.opscope");
  const WindowOptions options{.native_threads = NativeThreads::kNone, .record_to = path.c_str()};
  Window* window = opscope_window_open(&options, nullptr);
  ASSERT_NE(window, nullptr);
  const TrackOptions track_options{.name = "device", .end = TrackEnd::kAtRead};
  Stream* tracks[] = {opscope_track_open(window, &track_options), opscope_track_open(window, &track_options)};
  const auto append = [](Stream* track, uint64_t first, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      Record record;
      record.start = ReadTicks(), record.value = first + i;
      record.kind = RecordKind::kScope, record.source = RecordSource::kMegEngine;
      AppendNamed(track, record, [&] { return InternText(track, "kernel"); }, 0, [](char*) {});
    }
  };
  append(tracks[0], 0, 10);
  opscope_window_close(window);
  append(tracks[0], 10, 20000);
  append(tracks[1], 0, 3);
  const Result<Trace> killed_now = ImportFile(path);
  ASSERT_TRUE(killed_now.ok());
  EXPECT_EQ(killed_now.value().spans().size(), 20013u);
  opscope_track_close(tracks[0]);
  append(tracks[1], 3, 4);
  opscope_track_close(tracks[1]);
  const Trace trace = ImportFile(path).value();
  EXPECT_EQ(trace.spans().size(), 20017u);
  EXPECT_EQ(trace.info().recorded, 20017u);
  EXPECT_EQ(trace.info().dropped, 0u);
  EXPECT_EQ(trace.problems().size(), 0u);
  opscope_window_free(window);
  EXPECT_EQ(ImportFile(path).value().spans().size(), 20017u);
}

}  // namespace
}  // namespace opscope
