// Every order of calls is defined: random sequences of start, step, stop, save, mark and making anew, from
// up to four threads in turn, against a model of forty lines. OPSCOPE_SOAK=1: 20,000 sequences. Prints its seed;
// OPSCOPE_SEED=N repeats one.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "opscope/import.h"
#include "opscope/profiler.h"
#include "soak.h"

namespace opscope {
namespace {

using Random = std::mt19937_64;

// The model of a Profiler, written from its header.
struct Model {
  std::function<Action(int64_t)> schedule;  // none: all is recorded
  bool valid = true;                        // the schedule

  Profiler::State state = Profiler::State::kIdle;
  int64_t step = 0;
  Action action = Action::kNone;
  std::optional<uint64_t> running, complete;  // records of the open and of the last complete recording
  int ready = 0, warnings = 0;

  static bool Records(Action a) { return a == Action::kRecord || a == Action::kRecordAndSave; }
  Action At(int64_t n) const { return schedule ? schedule(n) : Action::kRecord; }
  uint64_t StepRange() const { return schedule ? 1 : 0; }  // it is recorded when the step ends

  void Finish(bool told) {
    complete = *running;
    running.reset();
    ready += told;
  }
  bool Start() {
    if (state == Profiler::State::kRunning || !valid) return false;
    if (state == Profiler::State::kIdle) action = At(step);
    if (Records(action)) running = 0;
    state = Profiler::State::kRunning;
    return true;
  }
  bool Step() {
    if (state != Profiler::State::kRunning) return false;
    if (running) *running += StepRange();
    const Action before = std::exchange(action, At(++step));
    const bool breaks_off = before == Action::kRecord && !Records(action);
    warnings += breaks_off || (before == Action::kWarmup && action == Action::kNone);
    if (breaks_off || before == Action::kRecordAndSave) Finish(before == Action::kRecordAndSave);
    if (Records(action) && !running) running = 0;
    return true;
  }
  bool Stop() {
    if (state != Profiler::State::kRunning) return state == Profiler::State::kStopped;
    state = Profiler::State::kStopped;
    if (running) *running += StepRange();
    if (Records(action)) Finish(true);
    return true;
  }
  uint64_t recorded() const { return running ? *running : complete.value_or(0); }
};

// The Profiler and its model side by side.
class Pair {
 public:
  explicit Pair(Random* random) {
    Options options;
    options.max_bytes = 1 << 20;
    ChooseSchedule(random, &options);
    options.on_ready = [this](Profiler&) { ++ready_; };
    options.on_warning = [this](std::string_view) { ++warnings_; };
    profiler_ = std::make_unique<Profiler>(std::move(options));
  }

  void Start() { Check("start", profiler_->Start(), model_.Start()); }
  void Step() { Check("step", profiler_->Step(), model_.Step()); }
  void Stop() { Check("stop", profiler_->Stop(), model_.Stop()); }
  void Mark() {
    Instant("mark");
    if (model_.running) ++*model_.running;
    Compare("mark");
  }
  void Save(const std::string& path, bool read) {
    const Status saved = profiler_->Save(path);
    Check("save", saved, model_.complete.has_value());
    if (!saved.ok() || !read) return;
    const Result<Trace> trace = ImportFile(path);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace.value().spans().start.size() + trace.value().instants().time.size(), *model_.complete);
  }
  int64_t refused() const { return refused_; }

 private:
  void ChooseSchedule(Random* random, Options* options) {
    const uint64_t kind = (*random)() % 4;
    if (kind == 0) return;
    if (kind == 1) {  // any actions, also those that make no sense, also without one that records
      std::array<Action, 7> actions;
      const bool never = (*random)() % 4 == 0;
      for (Action& action : actions)
        action = static_cast<Action>((*random)() % (never ? 2 : 4));
      options->schedule = [actions](int64_t step) { return actions[static_cast<size_t>(step) % actions.size()]; };
    } else {
      const Schedule schedule{.wait = static_cast<int64_t>((*random)() % 3),
                              .warmup = static_cast<int64_t>((*random)() % 3),
                              .active = static_cast<int64_t>((*random)() % 4),
                              .repeat = static_cast<int64_t>((*random)() % 3)};
      model_.valid = schedule.Validate().ok();
      options->schedule = schedule;
    }
    model_.schedule = options->schedule;
  }
  void Check(const char* call, const Status& status, bool expected) {
    EXPECT_EQ(status.ok(), expected) << call << (status.ok() ? "" : ": " + status.error().message);
    if (!status.ok()) {
      ++refused_;
      EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
      EXPECT_FALSE(status.error().message.empty());
    }
    Compare(call);
  }
  void Compare(const char* call) {
    EXPECT_EQ(profiler_->state(), model_.state) << call;
    EXPECT_EQ(profiler_->step(), model_.step) << call;
    EXPECT_EQ(profiler_->window() != nullptr, model_.complete.has_value()) << call;
    EXPECT_EQ(profiler_->recorded(), model_.recorded()) << call;
    EXPECT_EQ(profiler_->dropped(), 0u) << call;
    EXPECT_EQ(ready_, model_.ready) << call;
    EXPECT_EQ(warnings_, model_.warnings) << call;
    if (model_.state == Profiler::State::kRunning) {
      EXPECT_EQ(profiler_->action(), model_.action) << call;
    }
  }

  Model model_;
  std::unique_ptr<Profiler> profiler_;
  int ready_ = 0, warnings_ = 0;
  int64_t refused_ = 0;
};

// Threads that run one task at a time, in turn with the thread that posts it.
class Threads {
 public:
  Threads() {
    for (size_t t = 0; t < kThreads; ++t) {
      threads_.emplace_back([this, t] {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
          changed_.wait(lock, [&] { return done_ || (turn_ == t && work_ != nullptr); });
          if (done_) return;
          (*work_)();
          work_ = nullptr;
          changed_.notify_all();
        }
      });
    }
  }
  ~Threads() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
      thread.join();
  }
  void Do(size_t thread, const std::function<void()>& work) {
    if (thread == 0) return work();
    std::unique_lock<std::mutex> lock(mutex_);
    turn_ = thread - 1;
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
  }

 private:
  static constexpr size_t kThreads = 3;  // and the caller
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t turn_ = 0;
  const std::function<void()>* work_ = nullptr;
  bool done_ = false;
  std::vector<std::thread> threads_;
};

TEST(Calls, OfEveryOrderDoWhatTheModelSays) {
  const int sequences = InFull(20000, kSanitized ? 300 : 2000);
  const char* chosen = std::getenv("OPSCOPE_SEED");
  const uint64_t seed = chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : std::random_device{}();
  const std::string path = testing::TempDir() + "calls_test_" + std::to_string(getpid()) + ".opscope";
  Random random(seed);
  Threads threads;
  int64_t calls = 0, refused = 0;
  for (int sequence = 0; sequence < sequences; ++sequence) {
    auto pair = std::make_unique<Pair>(&random);
    const uint64_t length = 1 + random() % 30, callers = 1 + random() % 4;
    for (uint64_t i = 0; i < length; ++i) {
      const uint64_t call = random() % 16;
      const bool read = random() % 8 == 0;
      threads.Do(random() % callers, [&] {
        if (call < 3) return pair->Start();
        if (call < 7) return pair->Step();
        if (call < 9) return pair->Stop();
        if (call < 13) return pair->Mark();
        if (call < 15) return pair->Save(path, read);
        refused += pair->refused();
        pair = std::make_unique<Pair>(&random);  // whatever it was doing
      });
      ++calls;
      ASSERT_FALSE(HasFailure()) << "OPSCOPE_SEED=" << seed << ", sequence " << sequence << ", call " << i;
    }
    refused += pair->refused();
  }
  EXPECT_GT(refused, 0);
  std::printf("%d sequences, %lld calls, %lld of them refused by a named error; seed %llu\n", sequences,
              static_cast<long long>(calls), static_cast<long long>(refused), static_cast<unsigned long long>(seed));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace opscope
