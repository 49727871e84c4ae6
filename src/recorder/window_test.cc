// Windows: who sees what, edges, ends that come too late, memory.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

std::vector<std::string> Names(const DecodedThread& thread) {
  std::vector<std::string> names;
  for (const DecodedRecord& record : thread.records)
    names.push_back(record.name);
  return names;
}

TEST(Window, NothingIsRecordedWhileNoneIsOpen) {
  EXPECT_EQ(opscope_gate.load(), 0u);
  OPSCOPE_SCOPE("nobody listens");
  OwnedWindow window = OpenTestWindow();
  EXPECT_NE(opscope_gate.load(), 0u);
  {
    OPSCOPE_SCOPE("heard");
  }
  opscope_window_close(window.get());
  EXPECT_EQ(opscope_gate.load(), 0u);
  {
    OPSCOPE_SCOPE("too late");
  }
  EXPECT_EQ(Names(CloseAndDecode(window.get()).only_thread()), std::vector<std::string>{"heard"});
}

TEST(Window, AttachedWindowsOnTwoThreadsEachSeeTheirOwn) {
  const auto record = [](const char* name) {
    OwnedWindow window = OpenTestWindow({.native_threads = NativeThreads::kAttached});
    for (int i = 0; i < 20000; ++i)
      Scope scope(name);
    const DecodedWindow decoded = CloseAndDecode(window.get());
    ASSERT_EQ(decoded.only_thread().records.size(), 20000u);
    for (const DecodedRecord& seen : decoded.only_thread().records)
      ASSERT_EQ(seen.name, name);
  };
  std::thread one(record, "one"), two(record, "two");
  one.join();
  two.join();
}

TEST(Window, NestedWindowsOnOneThreadAreAllComplete) {
  OwnedWindow outer = OpenTestWindow();
  Scope first("first");
  OwnedWindow inner = OpenTestWindow({.native_threads = NativeThreads::kAttached});
  OwnedWindow deaf = OpenTestWindow({.native_threads = NativeThreads::kNone});
  {
    OPSCOPE_SCOPE("both");
  }
  Counter("value", 1);
  const DecodedWindow seen_inside = CloseAndDecode(inner.get());
  {
    OPSCOPE_SCOPE("outer only");
  }
  EXPECT_EQ(Names(seen_inside.only_thread()), (std::vector<std::string>{"both", "value"}));
  EXPECT_EQ(seen_inside.only_thread().records[0].record.depth, 0);
  const DecodedWindow seen = CloseAndDecode(outer.get());
  EXPECT_EQ(Names(seen.only_thread()), (std::vector<std::string>{"both", "value", "outer only", "first"}));
  EXPECT_EQ(seen.only_thread().records[0].record.depth, 1);
  EXPECT_TRUE(seen.only_thread().records[3].unfinished());
  EXPECT_TRUE(CloseAndDecode(deaf.get()).threads.empty());
}

TEST(Window, CloseCompletesWhatIsOpenFromTheInsideOut) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  OpenScope* outer = OpenNumbered(stream, "outer", 1);
  OpenScope* inner = OpenNumbered(stream, "inner", 2);
  End(OpenNumbered(stream, "done", 3));
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const auto& records = decoded.only_thread().records;
  ASSERT_EQ(records.size(), 3u);
  EXPECT_FALSE(records[0].unfinished());
  EXPECT_TRUE(records[1].unfinished());
  EXPECT_EQ(records[1].name, "inner");
  EXPECT_EQ(records[1].record.depth, 1);
  EXPECT_EQ(records[1].handle, 2u);
  EXPECT_EQ(records[2].name, "outer");
  EXPECT_EQ(records[1].record.start + records[1].record.value, records[2].record.start + records[2].record.value);
  End(inner);  // late: nothing happens
  End(outer);
  EXPECT_EQ(CloseAndDecode(window.get()).only_thread().records.size(), 3u);
}

TEST(Window, UnfinishedScopesThatDoNotFitGetAChunkOfTheirOwn) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  std::vector<OpenScope*> open;
  for (uint64_t i = 0; i < 40; ++i)
    open.push_back(OpenNumbered(stream, "open", i));
  while (HasRoom(stream, 0))
    AppendRecord(stream, Record{.kind = RecordKind::kInstant});
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const DecodedThread& thread = decoded.only_thread();
  EXPECT_EQ(thread.sequences, (std::vector<uint32_t>{0, 1}));
  for (uint64_t i = 0; i < 40; ++i) {
    const DecodedRecord& record = thread.records[thread.records.size() - 1 - i];
    EXPECT_EQ(record.name, "open");
    EXPECT_EQ(record.handle, i);
    EXPECT_TRUE(record.unfinished());
  }
  for (OpenScope* scope : open)
    End(scope);
}

TEST(Window, ALateEndIsNothingEvenWhenItsStreamServesAnotherWindow) {
  OwnedWindow first = OpenTestWindow();
  OpenScope* late = OpenNamed(StreamIn(first), "late");
  first.reset();
  OwnedWindow second = OpenTestWindow();
  EXPECT_EQ(StreamIn(second), late->stream);  // recycled: this is the case that is meant
  OpenScope* own = OpenNamed(StreamIn(second), "own");
  End(late);
  End(own);
  EXPECT_EQ(Names(CloseAndDecode(second.get()).only_thread()), std::vector<std::string>{"own"});
}

TEST(Window, GenerationsAreNeverUsedAgain) {
  uint64_t last = 0;
  for (int i = 0; i < 200; ++i) {
    OwnedWindow window = OpenTestWindow();
    EXPECT_GT(opscope_window_id(window.get()), last);
    last = opscope_window_id(window.get());
  }
}

TEST(Window, SixtyFourAreOpenAtOnceAndTheNextIsRefused) {
  std::vector<OwnedWindow> windows;
  for (uint32_t i = 0; i < kMaxWindows; ++i)
    windows.push_back(OpenTestWindow());
  const WindowOptions options;
  const char* error = nullptr;
  EXPECT_EQ(opscope_window_open(&options, &error), nullptr);
  EXPECT_STREQ(error, "64 windows are open already");
  {
    OPSCOPE_SCOPE("in all");
  }
  for (OwnedWindow& window : windows)
    EXPECT_EQ(CloseAndDecode(window.get()).only_thread().records.size(), 1u);
}

TEST(Window, RefusesOptionsItDoesNotKnow) {
  const char* error = nullptr;
  const WindowOptions other_version{.abi = kRecorderAbi + 1};
  EXPECT_EQ(opscope_window_open(&other_version, &error), nullptr);
  EXPECT_STREQ(error, "libopscope_recorder is of another version than its user");
  const WindowOptions other_policy{.at_cap = static_cast<AtCap>(9)};
  EXPECT_EQ(opscope_window_open(&other_policy, &error), nullptr);
  EXPECT_EQ(opscope_window_open(nullptr, nullptr), nullptr);
}

TEST(Window, InformationHoldsMetadataAndThreadNames) {
  OwnedWindow window = OpenTestWindow({.max_bytes = 12345678, .metadata_json = "\"a\":1"});
  opscope_window_add_metadata(window.get(), "\"b\":[2]");
  std::thread([] {
    SetThreadName("a thread with a name that is far too long");
    OPSCOPE_SCOPE("work");
  }).join();
  const DecodedWindow decoded = CloseAndDecode(window.get());
  EXPECT_NE(decoded.info.find("\"metadata\":{\"a\":1,\"b\":[2]}}"), std::string::npos) << decoded.info;
  EXPECT_NE(decoded.info.find("\"name\":\"a thread with a name that is fa\""), std::string::npos) << decoded.info;
  EXPECT_EQ(NumberAfter(decoded.info, "max_bytes"), 12345678u);
  EXPECT_EQ(NumberAfter(decoded.info, "pid"), static_cast<uint64_t>(getpid()));
  EXPECT_NE(decoded.info.find("\"process_name\":\"recorder_tests\""), std::string::npos) << decoded.info;
}

// CLOCK_REALTIME - CLOCK_MONOTONIC lies between two bounds that no interruption of this test can break.
std::pair<int64_t, int64_t> BoundsOfWallOffset() {
  const auto read = [](clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  const int64_t before = read(CLOCK_MONOTONIC), wall = read(CLOCK_REALTIME), after = read(CLOCK_MONOTONIC);
  return {wall - after, wall - before};
}

TEST(Window, InformationSaysTheBootAndHowTheWallClockStood) {
  std::string boots[2];
  for (std::string& boot : boots) {
    OwnedWindow window = OpenTestWindow();
    const std::string info = CloseAndDecode(window.get()).info;
    const size_t at = info.find("\"boot\":\"");
    if (at != std::string::npos) boot = info.substr(at + 8, info.find('"', at + 8) - at - 8);
    int64_t monotonic = 0, wall = 0, within = 0;
    const size_t clock = info.find("\"wall_clock\":[");
    ASSERT_NE(clock, std::string::npos) << info;
    ASSERT_EQ(std::sscanf(info.c_str() + clock, "\"wall_clock\":[%" SCNd64 ",%" SCNd64 ",%" SCNd64 "]", &monotonic,
                          &wall, &within),
              3);
    EXPECT_GT(within, 0);
    const auto [least, most] = BoundsOfWallOffset();
    EXPECT_GE(wall - monotonic, least - within);
    EXPECT_LE(wall - monotonic, most + within);
  }
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  if (!(file >> id)) GTEST_SKIP() << "this system has no boot id";
  EXPECT_EQ(boots[0], boots[1]);
  EXPECT_LE(boots[0].size(), 16u);
  EXPECT_GT(boots[0].size(), 8u);
  std::erase(id, '-');
  EXPECT_EQ(id.find(boots[0]), std::string::npos) << "a hash, not the id";
}

TEST(Window, ReadingTwiceKeepsTheFirstText) {
  OwnedWindow window = OpenTestWindow();
  opscope_window_close(window.get());
  std::vector<std::string_view> texts;
  const auto keep = [](void* context, uint16_t type, const void* data, uint64_t bytes) {
    if (type != block_types::kWindowInfo) return;
    static_cast<std::vector<std::string_view>*>(context)->emplace_back(static_cast<const char*>(data), bytes);
  };
  opscope_window_read(window.get(), keep, &texts);
  const std::string before(texts[0]);
  opscope_window_add_metadata(window.get(), "\"later\":true");
  opscope_window_read(window.get(), keep, &texts);
  EXPECT_EQ(texts[0], before);
  EXPECT_NE(texts[1].find("\"later\":true"), std::string_view::npos);
}

TEST(Window, CountsGrowWhileItIsOpen) {
  OwnedWindow window = OpenTestWindow();
  for (int i = 0; i < 30000; ++i)
    OPSCOPE_SCOPE("x");
  const WindowCounts counts = opscope_window_counts(window.get());
  EXPECT_EQ(counts.recorded, 30000u);
  EXPECT_EQ(counts.dropped, 0u);
  EXPECT_EQ(counts.threads, 1u);
  EXPECT_EQ(counts.bytes, uint64_t{counts.chunks} * kChunkBytes);
}

uint64_t ResidentBytes() {
  uint64_t total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  EXPECT_EQ(std::fscanf(file, "%lu %lu", &total, &resident), 2);
  std::fclose(file);
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(Window, AThousandWindowsWithNewNamesLeaveNothingBehind) {
  const auto cycle = [](int round) {
    OwnedWindow window = OpenTestWindow();
    Stream* stream = StreamIn(window);
    for (int i = 0; i < 1000; ++i)
      End(OpenNamed(stream, std::to_string(round) + " name " + std::to_string(i)));
    opscope_window_close(window.get());
  };
  for (int round = 0; round < 50; ++round)
    cycle(round);
  const uint64_t before = ResidentBytes();
  for (int round = 50; round < 1050; ++round)
    cycle(round);
  const uint64_t after = ResidentBytes();
  const uint64_t grown = after > before ? after - before : 0;
  std::printf("1000 windows of 1000 new names grew by %lu bytes\n", grown);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their shadows grow too
  EXPECT_LT(grown, uint64_t{1} << 20);
#endif
}

TEST(Window, FreedChunksBeyondThePoolGoBackToTheSystem) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory of their own";
#endif
  opscope_prepare();
  const uint64_t before = ResidentBytes();
  {
    OwnedWindow window = OpenTestWindow();
    for (int i = 0; i < 2000000; ++i)
      OPSCOPE_SCOPE("x");
    EXPECT_GT(ResidentBytes(), before + (40u << 20));
  }
  EXPECT_LT(ResidentBytes(), before + (9u << 20));
}

}  // namespace
}  // namespace opscope
