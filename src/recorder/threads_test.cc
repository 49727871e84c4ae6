// Many threads: nothing lost, nothing twice, whichever thread closes and ends what.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kEventsPerThread = 20000;
constexpr int kRounds = 30;
#else
constexpr uint64_t kEventsPerThread = 50000;
constexpr int kRounds = 100;
#endif
constexpr int kThreads = 64;

// 64 threads that each issue events numbered from 0.
DecodedWindow RecordNumberedEvents(const WindowOptions& options) {
  OwnedWindow window = OpenTestWindow(options);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([] {
      for (uint64_t i = 0; i < kEventsPerThread; ++i)
        RecordNow(RecordKind::kInstant, "event", i);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  return CloseAndDecode(window.get());
}

// Threads that recorded or dropped something (the opener has a stream too).
std::vector<const DecodedThread*> Busy(const DecodedWindow& decoded) {
  std::vector<const DecodedThread*> busy;
  for (const auto& [index, thread] : decoded.threads) {
    if (thread.recorded + thread.dropped != 0) busy.push_back(&thread);
  }
  return busy;
}

void ExpectConsecutive(const DecodedThread& thread, uint64_t first) {
  for (size_t i = 0; i < thread.records.size(); ++i) {
    ASSERT_EQ(thread.records[i].record.value, first + i);
    ASSERT_EQ(thread.records[i].name, "event");
  }
}

TEST(Threads, BelowTheCapNothingIsLost) {
  const DecodedWindow decoded = RecordNumberedEvents({});
  const auto busy = Busy(decoded);
  ASSERT_EQ(busy.size(), static_cast<size_t>(kThreads));
  for (const DecodedThread* thread : busy) {
    EXPECT_EQ(thread->recorded, kEventsPerThread);
    EXPECT_EQ(thread->dropped, 0u);
    ExpectConsecutive(*thread, 0);
  }
}

TEST(Threads, AtTheCapStopKeepsTheOldestAndCountsTheRest) {
  const DecodedWindow decoded = RecordNumberedEvents({.at_cap = AtCap::kStop, .max_bytes = 20 * kChunkBytes});
  uint64_t dropped = 0;
  const auto busy = Busy(decoded);
  ASSERT_EQ(busy.size(), static_cast<size_t>(kThreads));
  for (const DecodedThread* thread : busy) {
    EXPECT_EQ(thread->recorded + thread->dropped, kEventsPerThread);
    ExpectConsecutive(*thread, 0);
    dropped += thread->dropped;
  }
  EXPECT_GT(dropped, 0u);
}

TEST(Threads, AtTheCapKeepNewestKeepsTheNewestAndCountsTheRest) {
  const DecodedWindow decoded = RecordNumberedEvents({.at_cap = AtCap::kKeepNewest, .max_bytes = 20 * kChunkBytes});
  uint64_t dropped = 0;
  const auto busy = Busy(decoded);
  ASSERT_EQ(busy.size(), static_cast<size_t>(kThreads));
  for (const DecodedThread* thread : busy) {
    EXPECT_EQ(thread->recorded + thread->dropped, kEventsPerThread);
    ExpectConsecutive(*thread, kEventsPerThread - thread->recorded);
    dropped += thread->dropped;
  }
  EXPECT_GT(dropped, 0u);
}

TEST(Threads, TheCapIsExceededByAChunkPerLiveThreadAtMost) {
  for (const AtCap at_cap : {AtCap::kStop, AtCap::kKeepNewest}) {
    OwnedWindow window = OpenTestWindow({.at_cap = at_cap, .max_bytes = 4 * kChunkBytes});
    std::barrier all_live(8);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&all_live] {
        {
          OPSCOPE_SCOPE("around");
          for (int i = 0; i < 30000; ++i)
            OPSCOPE_SCOPE("scope");
        }
        all_live.arrive_and_wait();
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    const WindowCounts counts = opscope_window_counts(window.get());
    EXPECT_LE(counts.bytes, (4 + 9) * uint64_t{kChunkBytes});
    EXPECT_EQ(counts.recorded + counts.dropped, 8u * 30001u);
    const DecodedWindow decoded = CloseAndDecode(window.get());
    EXPECT_LE(opscope_window_counts(window.get()).bytes, (4 + 9) * uint64_t{kChunkBytes});
    if (at_cap == AtCap::kStop) continue;
    for (const DecodedThread* thread : Busy(decoded)) {
      EXPECT_EQ(thread->records.back().name, "around");  // its name moved on over all recycled chunks
    }
  }
}

TEST(Threads, ANumberThatWasBegunIsFoundOnceHoweverTheWindowCloses) {
  // Writers go on while the main thread closes window after window. In each window every scope that a
  // thread began there must be found exactly once, finished or unfinished: numbers without a gap.
  std::atomic<bool> done{false};
  std::atomic<uint64_t> current{0};  // generation of the window to record into
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&] {
      uint64_t number = 0, last = 0;
      while (!done.load(std::memory_order_relaxed)) {
        const uint64_t generation = current.load(std::memory_order_acquire);
        Stream* stream = nullptr;
        if (generation != 0 && generation != last)
          stream = opscope_stream_attach(static_cast<uint32_t>(generation % kMaxWindows), 0);
        if (stream == nullptr) {
          std::this_thread::yield();
          continue;
        }
        last = generation;
        for (int i = 0; stream->generation.load(std::memory_order_relaxed) == generation; ++i) {
          OpenScope* outer = OpenNumbered(stream, "outer", number++);
          OpenScope* middle = OpenNumbered(stream, "middle", number++);
          if (i >= 3000) std::this_thread::yield();  // the closing thread may have to wait for a processor
          End(OpenNumbered(stream, "inner", number++));
          End(middle);
          End(OpenNumbered(stream, "second", number++));
          End(outer);
        }
      }
    });
  }
  uint64_t found = 0, unfinished = 0;
  for (int round = 0; round < kRounds; ++round) {
    OwnedWindow window = OpenTestWindow({.native_threads = NativeThreads::kNone});
    current.store(opscope_window_id(window.get()), std::memory_order_release);
    while (opscope_window_counts(window.get()).recorded < 2000)
      std::this_thread::yield();
    const DecodedWindow decoded = CloseAndDecode(window.get());
    current.store(0, std::memory_order_release);
    for (const auto& [index, thread] : decoded.threads) {
      std::vector<uint64_t> numbers;
      for (const DecodedRecord& record : thread.records) {
        ASSERT_FALSE(record.name.empty());
        numbers.push_back(record.handle);
        unfinished += record.unfinished();
      }
      std::sort(numbers.begin(), numbers.end());
      for (size_t i = 1; i < numbers.size(); ++i) {
        ASSERT_EQ(numbers[i], numbers[i - 1] + 1) << "round " << round << " thread " << index;
      }
      found += numbers.size();
    }
  }
  done.store(true);
  for (std::thread& writer : writers)
    writer.join();
  EXPECT_GT(found, 0u);
  EXPECT_GT(unfinished, 0u) << "no window was closed inside a scope: the test has tested nothing";
}

TEST(Threads, NativeScopesGoOnWhileWindowsComeAndGo) {
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([&done] {
      while (!done.load(std::memory_order_relaxed)) {
        OPSCOPE_SCOPE("outer");
        OPSCOPE_SCOPE("inner");
        Counter("value", 1);
      }
    });
  }
  const auto expect_their_records = [](const DecodedWindow& decoded) {
    for (const DecodedThread* thread : Busy(decoded)) {
      for (const DecodedRecord& record : thread->records)
        ASSERT_TRUE(record.name == "outer" || record.name == "inner" || record.name == "value") << record.name;
    }
  };
  for (int round = 0; round < kRounds; ++round) {
    OwnedWindow window = OpenTestWindow({.max_bytes = 8 * kChunkBytes});
    OwnedWindow second = round % 2 == 0 ? OpenTestWindow({.max_bytes = 8 * kChunkBytes}) : nullptr;
    while (opscope_window_counts(window.get()).recorded < 100)
      std::this_thread::yield();
    if (round % 3 == 0) window.reset();  // freed while the others write
    if (window != nullptr) {
      expect_their_records(CloseAndDecode(window.get()));
      EXPECT_GE(opscope_window_counts(window.get()).recorded, 100u);
    }
    if (second != nullptr) expect_their_records(CloseAndDecode(second.get()));
  }
  done.store(true);
  for (std::thread& writer : writers)
    writer.join();
}

TEST(Threads, AScopeThatEndsOnAnotherThreadIsAsynchronousThere) {
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  OpenScope* outer = OpenNumbered(stream, "outer", 1);
  OpenScope* travelling = OpenNumbered(stream, "travelling", 2);
  std::thread([travelling] { End(travelling); }).join();
  End(OpenNumbered(stream, "after", 3));
  End(outer);
  const uint32_t own = opscope_tls->index;
  const DecodedWindow decoded = CloseAndDecode(window.get());
  ASSERT_EQ(decoded.threads.size(), 2u);
  const DecodedThread& home = decoded.threads.at(own);
  ASSERT_EQ(home.records.size(), 2u);
  EXPECT_EQ(home.records[0].name, "after");
  EXPECT_EQ(home.records[0].record.depth, 1);
  EXPECT_EQ(home.records[1].name, "outer");
  const DecodedThread& other = decoded.threads.rbegin()->second;
  ASSERT_EQ(other.records.size(), 1u);
  EXPECT_EQ(other.records[0].name, "travelling");
  EXPECT_EQ(other.records[0].handle, 2u);
  EXPECT_EQ(other.records[0].record.kind, RecordKind::kAsync);
  EXPECT_EQ(other.records[0].record.flags, record_flags::kOtherThread);
  EXPECT_EQ(other.records[0].start_thread, own);
}

TEST(Threads, AScopeMayEndAfterTheThreadThatBeganIt) {
  OwnedWindow window = OpenTestWindow();
  OpenScope* orphan = nullptr;
  uint32_t beginner = 0;
  std::thread([&] {
    orphan = OpenNumbered(StreamIn(window), "orphan", 5);
    OpenNumbered(StreamIn(window), "never ended", 6);
    beginner = opscope_tls->index;
  }).join();
  std::thread([&] { EXPECT_NE(opscope_thread()->index, beginner); }).join();  // does not become the beginner
  End(orphan);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const DecodedThread& thread = decoded.threads.at(beginner);
  ASSERT_EQ(thread.records.size(), 1u);
  EXPECT_EQ(thread.records[0].name, "never ended");
  EXPECT_TRUE(thread.records[0].unfinished());
  const DecodedThread& ending = decoded.threads.at(opscope_tls->index);
  ASSERT_EQ(ending.records.size(), 1u);
  EXPECT_EQ(ending.records[0].handle, 5u);
  EXPECT_EQ(ending.records[0].start_thread, beginner);
}

TEST(Threads, AnEndOnAnotherThreadAfterTheCloseIsNothing) {
  OwnedWindow window = OpenTestWindow();
  OpenScope* scope = OpenNumbered(StreamIn(window), "open", 1);
  EXPECT_EQ(CloseAndDecode(window.get()).only_thread().records.size(), 1u);
  std::thread([scope] { End(scope); }).join();
  EXPECT_EQ(CloseAndDecode(window.get()).only_thread().records.size(), 1u);
}

OpenScope* ended_in_handler = nullptr;

TEST(Threads, AHandlerThatInterruptsTheWritingDropsTheScopeOfAnotherThreadThatItEnds) {
  void (*const before)(int) = signal(SIGUSR1, [](int) { EndScope(ended_in_handler, ReadTicks()); });
  OwnedWindow window = OpenTestWindow();
  Stream* stream = StreamIn(window);
  std::thread([&] { ended_in_handler = OpenNamed(StreamIn(window), "of another thread"); }).join();
  {
    const Writing writing(stream);
    const Record* next = stream->next;
    const char* limit = stream->limit;
    raise(SIGUSR1);
    EXPECT_EQ(stream->next, next) << "the interrupted code is about to write there";
    EXPECT_EQ(stream->limit, limit);
  }
  signal(SIGUSR1, before);
  CloseAndDecode(window.get());
  const WindowCounts counts = opscope_window_counts(window.get());
  EXPECT_EQ(counts.recorded, 0u);
  EXPECT_EQ(counts.dropped, 1u);
}

TEST(Threads, SlotsFreedElsewhereComeBackToTheirOwner) {
  // Pairs of threads end each other's scopes while both go on; slots must neither run out nor be
  // handed out twice, and every scope must leave exactly one record.
  constexpr int kScopes = 20000;
  OwnedWindow window = OpenTestWindow();
  std::atomic<OpenScope*> mailboxes[2] = {nullptr, nullptr};
  const auto run = [&](size_t self) {
    Stream* stream = StreamIn(window);
    for (int i = 0; i < kScopes; ++i) {
      OpenScope* around = OpenNumbered(stream, "around", 0);
      OpenScope* sent = OpenNumbered(stream, "sent", static_cast<uint64_t>(i) * 2 + self + 1);
      OpenScope* received = mailboxes[1 - self].exchange(sent, std::memory_order_acq_rel);
      if (received != nullptr) End(received);
      OpenScope* for_me = mailboxes[self].exchange(nullptr, std::memory_order_acq_rel);
      if (for_me != nullptr) End(for_me);
      End(around);
    }
  };
  std::thread one(run, 0), two(run, 1);
  one.join();
  two.join();
  for (auto& mailbox : mailboxes) {
    if (OpenScope* left = mailbox.load()) End(left);
  }
  std::map<uint64_t, int> seen;
  uint64_t around = 0;
  for (const auto& [index, thread] : CloseAndDecode(window.get()).threads) {
    for (const DecodedRecord& record : thread.records) {
      EXPECT_FALSE(record.unfinished());
      if (record.name == "around") {
        ++around;
      } else {
        ++seen[record.handle];
      }
    }
  }
  EXPECT_EQ(around, 2u * kScopes);
  EXPECT_EQ(seen.size(), 2u * kScopes);
  for (const auto& [number, count] : seen)
    ASSERT_EQ(count, 1) << number;
}

TEST(Threads, ThreadsThatOutliveAWindowServeTheNext) {
  std::barrier step(2);
  std::thread worker([&step] {
    for (int i = 0; i < 5; ++i) {
      step.arrive_and_wait();
      {
        OPSCOPE_SCOPE("work");
      }
      step.arrive_and_wait();
    }
  });
  for (int i = 0; i < 5; ++i) {
    OwnedWindow window = OpenTestWindow();
    step.arrive_and_wait();
    step.arrive_and_wait();
    const DecodedWindow decoded = CloseAndDecode(window.get());
    ASSERT_EQ(Busy(decoded).size(), 1u);
    EXPECT_EQ(Busy(decoded)[0]->records.size(), 1u);
  }
  worker.join();
}

TEST(Threads, ThousandsOfShortThreadsGetIndicesOfTheirOwn) {
  OwnedWindow window = OpenTestWindow();
  constexpr int kShort = 500;
  for (int i = 0; i < kShort; ++i) {
    std::thread([] { OPSCOPE_SCOPE("short"); }).join();
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  EXPECT_EQ(Busy(decoded).size(), static_cast<size_t>(kShort));
}

TEST(Threads, ALogicalNumberGivenLaterIsKept) {
  OwnedWindow window = OpenTestWindow();
  StreamIn(window);
  opscope_stream_attach(opscope_window_slot(window.get()), 77);
  EXPECT_EQ(CloseAndDecode(window.get()).only_thread().logical_thread, 77u);
}

TEST(Threads, ANativeScopeThatComesFirstAsksForTheLogicalNumber) {
  WindowOptions options;
  options.thread_number = [] { return uint64_t{78}; };
  OwnedWindow window = OpenTestWindow(options);
  std::thread([] { OPSCOPE_SCOPE("before the source"); }).join();
  const DecodedWindow decoded = CloseAndDecode(window.get());
  ASSERT_EQ(Busy(decoded).size(), 1u);
  EXPECT_EQ(Busy(decoded)[0]->logical_thread, 78u);
}

}  // namespace
}  // namespace opscope
