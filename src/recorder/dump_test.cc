// Dumps of a window whose threads go on: what is in them, and what they do to the recording.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"
#include "recorder/registry.h"

namespace opscope {
namespace {

// A dump, decoded, with chunks in the order of their sequence, and what holds for every dump checked.
DecodedWindow DumpAndDecode(const OwnedWindow& window, const char* about = nullptr) {
  struct Blocks {
    std::map<std::pair<uint32_t, uint32_t>, std::string> chunks;  // by thread, sequence
    std::string info;
    static bool Add(void* context, uint16_t type, const void* data, uint64_t bytes) {
      auto* blocks = static_cast<Blocks*>(context);
      const std::string block(static_cast<const char*>(data), bytes);
      const auto* header = static_cast<const ChunkHeader*>(data);
      if (type == block_types::kWindowInfo) {
        EXPECT_TRUE(blocks->info.empty());
        blocks->info = block;
      } else {
        EXPECT_TRUE(blocks->chunks.try_emplace({header->thread_index, header->sequence}, block).second);
      }
      return true;
    }
  } blocks;
  EXPECT_TRUE(opscope_window_dump(window.get(), about, Blocks::Add, &blocks));
  DecodedWindow decoded;
  DecodeBlock(&decoded, block_types::kWindowInfo, blocks.info.data(), blocks.info.size());
  for (const auto& [key, chunk] : blocks.chunks)
    DecodeBlock(&decoded, block_types::kRawChunk, chunk.data(), chunk.size());
  for (const auto& [index, thread] : decoded.threads) {
    EXPECT_EQ(thread.recorded, thread.records.size()) << "thread " << index << " " << decoded.info;
    for (size_t i = 1; i < thread.sequences.size(); ++i)
      EXPECT_EQ(thread.sequences[i], thread.sequences[i - 1] + 1) << "thread " << index;
  }
  EXPECT_EQ(NumberAfter(decoded.info, "broken_invariants"), 0u);
  return decoded;
}

std::string NamesOf(const DecodedThread& thread) {
  std::string names;
  for (const DecodedRecord& record : thread.records)
    names += record.name + (record.unfinished() ? "? " : " ");
  return names;
}

TEST(Dump, ShowsWhatIsThereAndWhatIsOpenAndTheRecordingGoesOn) {
  OwnedWindow window = OpenTestWindow();
  Scope outer("outer");
  {
    OPSCOPE_SCOPE("before");
  }
  {
    OPSCOPE_SCOPE("inner");
    const DecodedWindow dump = DumpAndDecode(window, "\"reason\":\"test\"");
    EXPECT_EQ(NamesOf(dump.only_thread()), "before inner? outer? ");
    EXPECT_EQ(dump.only_thread().dropped, 0u);
    EXPECT_NE(dump.info.find("\"dump\":{\"reason\":\"test\"}"), std::string::npos) << dump.info;
    const auto& records = dump.only_thread().records;
    EXPECT_EQ(records[1].record.depth, 1);
    EXPECT_EQ(records[1].record.start + records[1].record.value, records[2].record.start + records[2].record.value);
  }
  EXPECT_EQ(NamesOf(DumpAndDecode(window).only_thread()), "before inner outer? ");
  EXPECT_EQ(NamesOf(CloseAndDecode(window.get()).only_thread()), "before inner outer? ");
  EXPECT_EQ(NamesOf(DumpAndDecode(window).only_thread()), "before inner outer? ") << "after the close as well";
}

TEST(Dump, AfterTheCloseDoesNotMoveTheEndOfTheRecording) {
  OwnedWindow window = OpenTestWindow();
  const std::string before = CloseAndDecode(window.get()).info;
  DumpAndDecode(window);
  EXPECT_EQ(CloseAndDecode(window.get()).info, before);
}

TEST(Dump, KeepsTheChunkOfAFileThatItReadsMappedWhenTheThreadLeavesTheClosedWindow) {
  const std::string path = testing::TempDir() + "/read_by_a_dump.opscope";
  OwnedWindow window = OpenTestWindow({.record_to = path.c_str()});
  StreamState* const state = StateOf(StreamIn(window));
  const auto chunk = reinterpret_cast<uintptr_t>(state->stream.chunk);
  {
    const MutexLock lock(state->mutex);
    state->pins[0].chunk = state->stream.chunk;  // as a dump does while it reads
  }
  std::thread([&] { opscope_window_close(window.get()); }).join();
  opscope_thread_sync();
  EXPECT_EQ(state->stream.chunk, nullptr);
  unsigned char resident = 0;
  EXPECT_EQ(mincore(reinterpret_cast<void*>(chunk & ~uintptr_t{4095}), 1, &resident), 0) << "it is unmapped";
  {
    const MutexLock lock(state->mutex);
    state->pins[0] = {};
  }
  unlink(path.c_str());
}

TEST(Dump, OpenScopesThatDoNotFitGetAChunkOfTheirOwn) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  std::vector<OpenScope*> open;
  for (uint64_t i = 0; i < 40; ++i)
    open.push_back(OpenNumbered(stream, "open", i));
  while (HasRoom(stream, 0))
    AppendRecord(stream, Record{.kind = RecordKind::kInstant});
  const DecodedWindow dump = DumpAndDecode(window);
  const DecodedThread& thread = dump.only_thread();
  EXPECT_EQ(thread.sequences, (std::vector<uint32_t>{0, 1}));
  for (uint64_t i = 0; i < 40; ++i) {
    const DecodedRecord& record = thread.records[thread.records.size() - 1 - i];
    EXPECT_EQ(record.name, "open");
    EXPECT_EQ(record.handle, i);
    EXPECT_TRUE(record.unfinished());
  }
  for (OpenScope* scope : open)
    End(scope);
  EXPECT_EQ(CloseAndDecode(window.get()).only_thread().records.size(), thread.records.size());
}

TEST(Dump, AHungThreadIsShownWithTheScopesThatItHangsIn) {
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest});
  std::mutex mutex;
  std::condition_variable changed;
  bool hangs = false, goes_on = false;
  std::thread hung([&] {
    SetThreadName("hung");
    OPSCOPE_SCOPE("request");
    OPSCOPE_SCOPE("forward");
    OPSCOPE_SCOPE("wait for the other rank");
    std::unique_lock<std::mutex> lock(mutex);
    hangs = true;
    changed.notify_all();
    changed.wait(lock, [&] { return goes_on; });
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return hangs; });
  }
  const DecodedWindow dump = DumpAndDecode(window);
  std::string seen;
  for (const auto& [index, thread] : dump.threads) {
    if (thread.name == "hung") seen = NamesOf(thread);
  }
  EXPECT_EQ(seen, "wait for the other rank? forward? request? ");
  {
    std::lock_guard<std::mutex> lock(mutex);
    goes_on = true;
  }
  changed.notify_all();
  hung.join();
}

TEST(Dump, OfAWindowAtTheCapThatStopsCountsWhatItCouldNotShow) {
  OwnedWindow window = OpenTestWindow({.max_bytes = kChunkBytes});
  Stream* stream = StreamIn(window);
  while (HasRoom(stream, 0))
    AppendRecord(stream, Record{.kind = RecordKind::kInstant});
  OPSCOPE_SCOPE("begins at the cap");
  Instant("too late");
  const DecodedWindow dump = DumpAndDecode(window);
  EXPECT_EQ(dump.only_thread().dropped, 2u);
  EXPECT_EQ(dump.only_thread().records.back().record.kind, RecordKind::kInstant);
}

TEST(Dump, EndsWhenTheSinkRefuses) {
  OwnedWindow window = OpenTestWindow();
  for (int i = 0; i < 30000; ++i)
    OPSCOPE_SCOPE("short");
  int calls = 0;
  const auto refuse = [](void* context, uint16_t, const void*, uint64_t) { return ++*static_cast<int*>(context) < 2; };
  EXPECT_FALSE(opscope_window_dump(window.get(), nullptr, refuse, &calls));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(DumpAndDecode(window).only_thread().records.size(), 30000u);
}

// Inner scopes carry 0, 1, 2, ...; every ten of them lie in an outer one that carries the first one's number.
constexpr uint64_t kGroup = 10;

class Worker {
 public:
  explicit Worker(uint32_t slot) : thread_([this, slot] { Run(slot); }) {}
  ~Worker() {
    stop_.store(true);
    thread_.join();
  }
  uint64_t done() const { return done_.load(); }

 private:
  void Run(uint32_t slot) {
    SetThreadName("worker");
    Stream* stream = opscope_stream_attach(slot, 0);
    for (uint64_t number = 0; !stop_.load(std::memory_order_relaxed); number += kGroup) {
      OpenScope* outer = OpenNumbered(stream, "outer", number);
      for (uint64_t i = 0; i < kGroup; ++i)
        End(OpenNumbered(stream, "inner", number + i));
      End(outer);
      done_.store(number);
    }
  }
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> done_{0};
  std::thread thread_;
};

// Gapless up to the newest, each inner scope with its outer one, and everything counted. Returns the newest.
uint64_t CheckWorker(const DecodedThread& thread) {
  std::set<uint64_t> inner, outer;
  for (const DecodedRecord& record : thread.records)
    EXPECT_TRUE((record.name == "inner" ? inner : outer).insert(record.handle).second) << record.handle << " twice";
  if (inner.empty()) return 0;
  EXPECT_EQ(*inner.rbegin() - *inner.begin() + 1, inner.size()) << "a hole after " << *inner.begin();
  for (uint64_t group = (*inner.begin() / kGroup) * kGroup; group <= *inner.rbegin(); group += kGroup)
    EXPECT_TRUE(outer.contains(group)) << "inner scopes of " << group << " without their outer one";
  const uint64_t issued = *inner.rbegin() + 1 + *outer.rbegin() / kGroup + 1;
  EXPECT_EQ(thread.records.size() + thread.dropped, issued);
  return *inner.rbegin();
}

TEST(Dump, WhileThreadsRecordAtFullSpeedEachIsWithoutAHole) {
  for (const uint64_t cap : {uint64_t{1} << 20, uint64_t{16} << 20}) {
    OwnedWindow window =
        OpenTestWindow({.at_cap = AtCap::kKeepNewest, .native_threads = NativeThreads::kNone, .max_bytes = cap});
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < 8; ++i)
      workers.push_back(std::make_unique<Worker>(opscope_window_slot(window.get())));
    for (const auto& worker : workers) {
      while (worker->done() == 0)
        std::this_thread::yield();
    }
    std::map<uint32_t, uint64_t> newest;
    for (int i = 0; i < 20; ++i) {
      const DecodedWindow dump = DumpAndDecode(window);
      for (const auto& [index, thread] : dump.threads) {
        const uint64_t number = CheckWorker(thread);
        if (cap >= 8 * 3 * kChunkBytes) {  // else a thread may have one chunk only, and that begun just now
          EXPECT_GE(number, newest[index]) << "a later dump shows less";
        }
        newest[index] = number;
      }
      if (testing::Test::HasFailure()) break;
    }
    EXPECT_EQ(newest.size(), 8u);
    workers.clear();
    for (const auto& [index, thread] : CloseAndDecode(window.get()).threads)
      CheckWorker(thread);
  }
}

TEST(Dump, BesideThreadsThatBeginAndEndAndWindowsThatCloseNothingIsLost) {
  for (int round = 0; round < 20; ++round) {
    OwnedWindow window = OpenTestWindow(
        {.at_cap = AtCap::kKeepNewest, .native_threads = NativeThreads::kNone, .max_bytes = 4 * kChunkBytes});
    const uint32_t slot = opscope_window_slot(window.get());
    std::atomic<bool> closed{false};
    std::thread dumper([&] {
      while (!closed.load()) {
        for (const auto& [index, thread] : DumpAndDecode(window).threads)
          CheckWorker(thread);
      }
    });
    for (int i = 0; i < 6; ++i) {
      Worker one(slot), two(slot);
      while (one.done() < 2000 || two.done() < 2000)
        std::this_thread::yield();
    }
    {
      Worker late(slot);
      while (late.done() < 100)
        std::this_thread::yield();
      opscope_window_close(window.get());
    }
    closed.store(true);
    dumper.join();
    for (const auto& [index, thread] : CloseAndDecode(window.get()).threads)
      CheckWorker(thread);
  }
}

}  // namespace
}  // namespace opscope
