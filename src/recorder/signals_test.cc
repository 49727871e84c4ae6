// Signal handlers while threads record: handlers that record themselves, handlers that jump away, and what
// a program's signals look like with and without the recorder.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "opscope/scope.h"
#include "recorder/decoded_window_for_test.h"

namespace opscope {
namespace {

std::chrono::milliseconds StressTime() {
  return std::getenv("OPSCOPE_SOAK") != nullptr ? std::chrono::seconds(60) : std::chrono::milliseconds(1500);
}

class Handler {
 public:
  Handler(int signal, void (*handle)(int), int flags = SA_RESTART) : signal_(signal) {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = flags;
    sigaction(signal, &action, &before_);
  }
  ~Handler() { sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ = {};
};

std::atomic<uint64_t> handler_events{0};
std::atomic<uint64_t> handler_calls{0};

void RecordInHandler(int) {
  {
    OPSCOPE_SCOPE("handler");
    OPSCOPE_SCOPE("inner of handler");
    Counter("handlers", 1);
  }
  handler_events.fetch_add(3, std::memory_order_relaxed);
  handler_calls.fetch_add(1, std::memory_order_relaxed);
}

TEST(Signals, AHandlerThatInterruptsTheWritingIsRefusedAndCounted) {
  const Handler handler(SIGUSR1, RecordInHandler);
  handler_events = 0;
  OwnedWindow window = OpenTestWindow();
  {
    OPSCOPE_SCOPE("warm");
  }
  Stream* stream = StreamIn(window);
  for (int i = 0; i < 100; ++i) {
    const auto write = [stream] {
      raise(SIGUSR1);  // the thread has its slot and no name yet
      return ScopeEntries{InternStable(stream, "interrupted")};
    };
    End(OpenScopeOn(stream, write, RecordSource::kAnnotation, 0));
    raise(SIGUSR1);  // between two scopes a handler may record
  }
  const DecodedWindow decoded = CloseAndDecode(window.get());
  EXPECT_EQ(handler_events.load(), 600u);
  EXPECT_EQ(decoded.only_thread().recorded, 1u + 100u + 300u);
  EXPECT_EQ(decoded.only_thread().dropped, 300u);
}

TEST(Signals, AHandlerThatInterruptsTheWritingLeavesTheStreamOfAClosedWindowAlone) {
  const Handler handler(SIGUSR1, RecordInHandler);
  OwnedWindow closed = OpenTestWindow(), open = OpenTestWindow();
  Stream* stream = StreamIn(closed);
  {
    OPSCOPE_SCOPE("before");
  }
  {
    const Writing writing(stream);
    std::thread([&] { opscope_window_close(closed.get()); }).join();
    raise(SIGUSR1);
    EXPECT_NE(stream->chunk, nullptr) << "the interrupted code goes on writing to it";
  }
  {
    OPSCOPE_SCOPE("after");
  }
  EXPECT_EQ(stream->chunk, nullptr);
  const DecodedWindow decoded = CloseAndDecode(open.get());
  EXPECT_EQ(decoded.only_thread().recorded, 2u);
  EXPECT_EQ(decoded.only_thread().dropped, 3u);
}

TEST(Signals, AHandlerOnItsOwnStackIsToldFromTheCodeItInterrupts) {
  std::vector<char> memory(256 * 1024);
  stack_t signal_stack = {};
  signal_stack.ss_sp = memory.data();
  signal_stack.ss_size = memory.size();
  ASSERT_EQ(sigaltstack(&signal_stack, nullptr), 0);
  {
    const Handler handler(SIGUSR1, RecordInHandler, SA_ONSTACK);
    OwnedWindow window = OpenTestWindow();
    Stream* stream = StreamIn(window);
    const auto write = [stream] {
      raise(SIGUSR1);
      return ScopeEntries{InternStable(stream, "interrupted")};
    };
    End(OpenScopeOn(stream, write, RecordSource::kAnnotation, 0));
    raise(SIGUSR1);
    const DecodedWindow decoded = CloseAndDecode(window.get());
    EXPECT_EQ(decoded.only_thread().recorded, 1u + 3u);
    EXPECT_EQ(decoded.only_thread().dropped, 3u);
  }
  signal_stack.ss_flags = SS_DISABLE;
  sigaltstack(&signal_stack, nullptr);
}

sigjmp_buf jump_target;

void JumpAway(int) {
  siglongjmp(jump_target, 1);
}

TEST(Signals, AJumpOutOfTheWritingLosesThatScopeAndNoOther) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer calls handlers later, out of place";
#endif
  const Handler handler(SIGUSR1, JumpAway);
  OwnedWindow window = OpenTestWindow();
  {
    OPSCOPE_SCOPE("before");
  }
  Stream* stream = StreamIn(window);
  volatile int jumps = 0;
  if (sigsetjmp(jump_target, 1) != 0) jumps = jumps + 1;
  if (jumps < 50) {
    OpenScopeOn(
        stream,
        [stream] {
          raise(SIGUSR1);
          return ScopeEntries{InternStable(stream, "never")};
        },
        RecordSource::kAnnotation, 0);
  }
  for (int i = 0; i < 1000; ++i)
    OPSCOPE_SCOPE("after");
  const DecodedWindow decoded = CloseAndDecode(window.get());
  EXPECT_EQ(jumps, 50);
  EXPECT_EQ(decoded.only_thread().recorded, 1001u);
  EXPECT_EQ(decoded.only_thread().dropped, 0u);
}

// Sends each of the signals about a thousand times a second to each thread until stopped.
class Shower {
 public:
  Shower(std::vector<pthread_t> targets, std::vector<int> signals)
      : thread_([this, targets = std::move(targets), signals = std::move(signals)] {
          while (!done_.load(std::memory_order_relaxed)) {
            for (const pthread_t target : targets) {
              for (const int signal : signals)
                pthread_kill(target, signal);
            }
            usleep(1000);
          }
        }) {}
  void Stop() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
  }
  ~Shower() { Stop(); }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// Names that fill most of a chunk: an event with one of them needs the next chunk, and so the window's mutex.
const std::string large_names[] = {std::string(200 * 1024, 'a'), std::string(200 * 1024, 'b')};

void TakeAChunkInHandler(int) {
  const uint64_t call = handler_calls.fetch_add(1, std::memory_order_relaxed);
  Instant(large_names[call % 2].c_str());
}

TEST(Signals, AHandlerMayTakeAChunkWhileItsThreadDumps) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer calls handlers later, out of place";
#endif
  const Handler handler(SIGPROF, TakeAChunkInHandler);
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = 8 * kChunkBytes});
  const std::string metadata = "\"text\":\"" + std::string(1 << 20, 'x') + "\"";  // writing it takes most of a dump
  opscope_window_add_metadata(window.get(), metadata.c_str());
  alarm(60);  // a deadlock is a failure, not a hang
  handler_calls = 0;
  {
    Shower shower({pthread_self()}, {SIGPROF});
    while (handler_calls.load() < 200) {
      const bool dumped = opscope_window_dump(
          window.get(), nullptr, [](void*, uint16_t, const void*, uint64_t) { return true; }, nullptr);
      ASSERT_TRUE(dumped);
    }
  }
  alarm(0);
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const WindowCounts counts = opscope_window_counts(window.get());
  EXPECT_EQ(counts.recorded + counts.dropped, handler_calls.load());
}

TEST(Signals, AThousandASecondOfEachLoseNothingUncounted) {
#if defined(__SANITIZE_THREAD__)
  // It keeps a signal and calls the handler later, also where the thread has blocked the signal meanwhile.
  GTEST_SKIP() << "ThreadSanitizer calls handlers later, out of place";
#endif
  const Handler profile(SIGPROF, RecordInHandler), alarm(SIGALRM, RecordInHandler), child(SIGCHLD, RecordInHandler);
  handler_events = 0;
  handler_calls = 0;
  // At the cap the writers go on taking and recycling chunks; malloc is what a handler must not call.
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = 256 * kChunkBytes});
  std::atomic<bool> done{false};
  std::atomic<uint64_t> issued{0};
  std::vector<std::thread> writers;
  std::vector<pthread_t> handles;
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([&] {
      uint64_t own = 0;
      while (!done.load(std::memory_order_relaxed)) {
        const std::string name = "name " + std::to_string(own % 1000) + " made at run time";
        OPSCOPE_SCOPE("outer");
        Scope copied(name.c_str());
        std::vector<char> memory(own % 4096 + 1);
        OPSCOPE_SCOPE("inner");
        Instant("instant");
        own += 4;
      }
      issued += own;
    });
    handles.push_back(writers.back().native_handle());
  }
  {
    Shower shower(handles, {SIGPROF, SIGALRM, SIGCHLD});
    std::this_thread::sleep_for(StressTime());  // the stress itself
  }
  done = true;
  for (std::thread& writer : writers)
    writer.join();
  const DecodedWindow decoded = CloseAndDecode(window.get());
  const WindowCounts counts = opscope_window_counts(window.get());
  EXPECT_EQ(counts.recorded + counts.dropped, issued.load() + handler_events.load());
  EXPECT_GT(handler_calls.load(), 100u);
  uint64_t from_handlers = 0;
  for (const auto& [index, thread] : decoded.threads) {
    for (const DecodedRecord& record : thread.records) {
      ASSERT_FALSE(record.name.empty());
      from_handlers += record.name == "handler";
    }
  }
  EXPECT_GT(from_handlers, 0u);
  std::printf("%llu handlers ran in %lld ms, %llu events issued, none unaccounted\n",
              static_cast<unsigned long long>(handler_calls.load()), static_cast<long long>(StressTime().count()),
              static_cast<unsigned long long>(issued.load() + handler_events.load()));
}

thread_local sigjmp_buf* stress_target = nullptr;
void JumpToStressTarget(int) {
  if (stress_target != nullptr) siglongjmp(*stress_target, 1);
}

TEST(Signals, JumpsAtAnyMomentLeaveTheRecorderInOrder) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers do not follow a jump out of a handler at any moment";
#endif
  const Handler handler(SIGUSR2, JumpToStressTarget);
  OwnedWindow window = OpenTestWindow({.at_cap = AtCap::kKeepNewest, .max_bytes = 8 * kChunkBytes});
  std::atomic<bool> done{false};
  std::atomic<int> jumps{0};
  std::thread writer([&] {
    sigjmp_buf target;
    if (sigsetjmp(target, 1) != 0) jumps.fetch_add(1, std::memory_order_relaxed);
    stress_target = &target;
    while (!done.load(std::memory_order_relaxed)) {
      OPSCOPE_SCOPE("outer");
      OPSCOPE_SCOPE("inner");
    }
    stress_target = nullptr;
    for (int i = 0; i < 1000; ++i)
      RecordNow(RecordKind::kInstant, "after", static_cast<uint64_t>(i));
  });
  while (jumps.load() < 2000) {
    pthread_kill(writer.native_handle(), SIGUSR2);
    usleep(20);
  }
  done = true;
  writer.join();
  // A scope that was jumped over stays open; counts still add up, names are whole, and nothing of what
  // the thread does later is lost.
  opscope_window_close(window.get());
  DecodedWindow decoded;
  opscope_window_read(window.get(), DecodeBlock, &decoded);
  std::vector<uint64_t> after;
  for (const auto& [index, thread] : decoded.threads) {
    EXPECT_EQ(thread.recorded, thread.records.size());
    for (const DecodedRecord& record : thread.records) {
      ASSERT_TRUE(record.name == "outer" || record.name == "inner" || record.name == "after") << record.name;
      if (record.name == "after") after.push_back(record.record.value);
    }
  }
  ASSERT_EQ(after.size(), 1000u);
  EXPECT_EQ(after.back(), 999u);
}

std::string MaskText(const sigset_t& mask) {
  std::string text;
  for (int signal = 1; signal < 65; ++signal)
    text += sigismember(&mask, signal) == 1 ? '1' : '0';
  return text;
}

// Mask, dispositions and timers of the process as text.
std::string SignalPicture() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  std::string text = MaskText(mask);
  for (int signal = 1; signal < 65; ++signal) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    text += "\n" + std::to_string(signal) + " " + std::to_string(reinterpret_cast<uintptr_t>(action.sa_handler)) + " " +
            std::to_string(action.sa_flags) + " " + MaskText(action.sa_mask);
  }
  for (const auto timer : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval value;
    getitimer(timer, &value);
    text += "\ntimer " + std::to_string(value.it_value.tv_sec) + " " + std::to_string(value.it_interval.tv_usec);
  }
  return text;
}

TEST(Signals, NothingOfAProgramsSignalsChanges) {
  const std::string before = SignalPicture();
  OwnedWindow window = OpenTestWindow();
  for (int i = 0; i < 20000; ++i)
    OPSCOPE_SCOPE("x");
  EXPECT_EQ(SignalPicture(), before);
  CloseAndDecode(window.get());
  window.reset();
  EXPECT_EQ(SignalPicture(), before);
}

TEST(Signals, ASystemCallIsInterruptedAsOftenAsBefore) {
  const Handler handler(SIGUSR1, RecordInHandler, 0);  // no SA_RESTART
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  for (const bool recording : {false, true}) {
    OwnedWindow window = recording ? OpenTestWindow() : nullptr;
    int interrupted = 0;
    for (int i = 0; i < 50; ++i) {
      std::atomic<bool> returned{false};
      std::thread sender([&, self = pthread_self()] {
        while (!returned.load()) {
          pthread_kill(self, SIGUSR1);
          usleep(200);
        }
      });
      char byte;
      interrupted += read(ends[0], &byte, 1) == -1 && errno == EINTR;
      returned = true;
      sender.join();
    }
    EXPECT_EQ(interrupted, 50);
  }
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace opscope
