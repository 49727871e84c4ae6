// A C++ program that profiles itself, no Python in sight: scopes with arguments, a counter, an arrow
// from the thread that queues work to the thread that does it, a schedule, and a condition of one's own.
//
//   annotate [FOLDER]    writes FOLDER/annotate.opscope and FOLDER/interval.opscope
//   opscope summary annotate.opscope
//
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "opscope/profiler.h"

namespace {

std::vector<float> LoadBatch(int size) {
  OPSCOPE_SCOPE("load batch");
  return std::vector<float>(static_cast<size_t>(size), 0.5f);
}

// Computes on a thread of its own. An arrow leads from each Give to the work that it caused.
class Worker {
 public:
  Worker() : thread_([this] { Run(); }) {}
  ~Worker() {
    Give({}, 0);
    thread_.join();
  }

  void Give(std::vector<float> batch, uint64_t number) {
    if (number != 0) opscope::FlowBegin("queued", number);
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return !full_; });
      batch_ = std::move(batch);
      number_ = number;
      full_ = true;
    }
    changed_.notify_all();
  }

  // Waits until everything that was given is done.
  float Finish() {
    OPSCOPE_SCOPE("wait for worker");
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !full_; });
    return loss_;
  }

 private:
  void Run() {
    opscope::SetThreadName("worker");
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return full_; });
      if (number_ == 0) return;
      opscope::Scope scope("compute");
      opscope::FlowEnd("queued", number_);
      scope.Arg("batch", number_).Arg("size", batch_.size()).Arg("precision", "fp32");
      loss_ = 0;
      for (const float value : batch_)
        loss_ += std::sqrt(value) / static_cast<float>(batch_.size());
      loss_ /= static_cast<float>(number_);
      full_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<float> batch_;
  uint64_t number_ = 0;
  bool full_ = false;
  float loss_ = 0;
  std::thread thread_;
};

void TrainStep(Worker* worker, uint64_t number) {
  const std::string name = "step " + std::to_string(number);
  opscope::Scope scope(name.c_str());  // a name made at run time is copied
  worker->Give(LoadBatch(10000), number);
  opscope::Counter("loss", worker->Finish());
}

bool Report(const opscope::Status& status) {
  if (!status.ok()) std::fprintf(stderr, "annotate: %s\n", status.error().message.c_str());
  return status.ok();
}

// A schedule: skip one step, warm up in one, record three.
bool RecordBySchedule(Worker* worker, const std::string& path) {
  bool saved = false;
  opscope::Profiler profiler({.max_bytes = uint64_t{64} << 20,
                              .at_cap = opscope::AtCap::kKeepNewest,
                              .schedule = opscope::Schedule{.wait = 1, .warmup = 1, .active = 3, .repeat = 1},
                              .on_ready =
                                  [&](opscope::Profiler& ready) {
                                    saved = Report(ready.Save(path));
                                    std::printf("%s: %llu recorded, %llu dropped\n", path.c_str(),
                                                static_cast<unsigned long long>(ready.recorded()),
                                                static_cast<unsigned long long>(ready.dropped()));
                                  },
                              .metadata_json = "\"example\":\"annotate\""});
  if (!Report(profiler.Start())) return false;
  for (uint64_t number = 1; number <= 6; ++number) {
    TrainStep(worker, number);
    if (!Report(profiler.Step())) return false;
  }
  return Report(profiler.Stop()) && saved;
}

// A custom schedule (any callable) that records one step in every `interval`, however long the steps take.
bool RecordByInterval(Worker* worker, const std::string& path, std::chrono::milliseconds interval) {
  using Clock = std::chrono::steady_clock;
  int recordings = 0;
  bool saved = true;
  opscope::Profiler profiler({.schedule =
                                  [interval, next = Clock::now()](int64_t) mutable {
                                    if (Clock::now() < next) return opscope::Action::kNone;
                                    next = Clock::now() + interval;
                                    return opscope::Action::kRecordAndSave;
                                  },
                              .on_ready =
                                  [&](opscope::Profiler& ready) {
                                    ++recordings;
                                    saved = Report(ready.Save(path)) && saved;
                                  }});
  if (!Report(profiler.Start())) return false;
  const Clock::time_point end = Clock::now() + 4 * interval;
  for (uint64_t number = 1; Clock::now() < end; ++number) {
    TrainStep(worker, number);
    if (!Report(profiler.Step())) return false;
  }
  if (!Report(profiler.Stop())) return false;
  std::printf("%s: the last of %d recordings\n", path.c_str(), recordings);
  return saved && recordings >= 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  opscope::SetThreadName("main");
  Worker worker;
  const bool done = RecordBySchedule(&worker, folder + "/annotate.opscope") &&
                    RecordByInterval(&worker, folder + "/interval.opscope", std::chrono::milliseconds(20));
  return done ? 0 : 1;
}
