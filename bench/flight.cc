// A job under a flight recorder (AtCap::kKeepNewest), on several threads.
//
//   flight soak SECONDS MIB THREADS   at full speed: resident memory, at 40 moments: {"seconds", "bytes", "events"}
//   flight dump DUMPS MIB THREADS     dumps of a full ring: {"seconds", "spans", "stall_ms", "calm_ms"}, where stall_ms
//                                     is the longest time that a thread needed for two scopes while the dump was
//                                     written, calm_ms the same in an equally long time without one. The ring is
//                                     filled at full speed; from there on a thread records two scopes in 10 us, or
//                                     it would have gone round before the dump had read it
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "opscope/flight_recorder.h"
#include "opscope/import.h"
#include "opscope/scope.h"

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct alignas(64) Writer {
  std::atomic<uint64_t> events{0};
  std::atomic<int64_t> longest_ns{0};  // since it was last taken
  std::thread thread;
};

class Job {
 public:
  explicit Job(size_t threads) {
    for (size_t i = 0; i < threads; ++i) {
      writers_.push_back(std::make_unique<Writer>());
      writers_.back()->thread = std::thread([this, writer = writers_.back().get()] { Write(writer); });
    }
  }
  ~Job() {
    done_ = true;
    for (const auto& writer : writers_)
      writer->thread.join();
  }

  void SlowDown() { is_slow_ = true; }

  uint64_t events() const {
    uint64_t sum = 0;
    for (const auto& writer : writers_)
      sum += writer->events.load(std::memory_order_relaxed);
    return sum;
  }
  double TakeLongestMs() {
    int64_t longest = 0;
    for (const auto& writer : writers_)
      longest = std::max(longest, writer->longest_ns.exchange(0, std::memory_order_relaxed));
    return static_cast<double>(longest) / 1e6;
  }

 private:
  void Write(Writer* writer) {
    constexpr std::chrono::microseconds kPause(10);
    uint64_t events = 0;
    while (!done_.load(std::memory_order_relaxed)) {
      const auto begin = Clock::now();
      {
        OPSCOPE_SCOPE("step");
        OPSCOPE_SCOPE("layer");
      }
      const auto end = Clock::now();
      writer->events.store(events += 2, std::memory_order_relaxed);
      const int64_t ns = (end - begin).count();
      if (ns > writer->longest_ns.load(std::memory_order_relaxed)) {
        writer->longest_ns.store(ns, std::memory_order_relaxed);
      }
      while (is_slow_.load(std::memory_order_relaxed) && Clock::now() - begin < kPause) {
      }
    }
  }

  std::atomic<bool> is_slow_{false};
  std::atomic<bool> done_{false};
  std::vector<std::unique_ptr<Writer>> writers_;
};

int64_t ResidentBytes() {
  int64_t pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) std::abort();
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

opscope::Window* OpenRing(uint64_t mib) {
  opscope::WindowOptions options;
  options.at_cap = opscope::AtCap::kKeepNewest;
  options.max_bytes = mib << 20;
  return opscope_window_open(&options, nullptr);
}

int Soak(double seconds, uint64_t mib, size_t threads) {
  constexpr int kSamples = 40;
  std::printf("{\"seconds\": 0, \"bytes\": %ld, \"events\": 0}\n", ResidentBytes());
  opscope::Window* window = OpenRing(mib);
  if (window == nullptr) return 1;
  {
    const Job job(threads);
    const auto begin = Clock::now();
    for (int sample = 1; sample <= kSamples; ++sample) {
      std::this_thread::sleep_until(begin +
                                    std::chrono::duration_cast<Clock::duration>(Seconds(seconds * sample / kSamples)));
      std::printf("{\"seconds\": %.2f, \"bytes\": %ld, \"events\": %lu}\n", Seconds(Clock::now() - begin).count(),
                  ResidentBytes(), job.events());
      std::fflush(stdout);
    }
  }
  opscope_window_close(window);
  const opscope::WindowCounts counts = opscope_window_counts(window);
  opscope_window_free(window);
  return counts.dropped > 0 ? 0 : 1;  // else the ring never went round
}

// -1: no such trace.
int64_t SpansIn(const std::string& path) {
  const opscope::Result<opscope::Trace> trace = opscope::ImportFile(path);
  return trace.ok() ? static_cast<int64_t>(trace.value().spans().size()) : -1;
}

int Dump(int dumps, uint64_t mib, size_t threads) {
  const std::string path = "flight-bench.opscope";
  opscope::Window* window = OpenRing(mib);
  opscope::FlightRecorder flight({.path = path});
  if (window == nullptr || !flight.Start().ok()) return 1;
  flight.Watch(window);
  bool failed = false;
  {
    Job job(threads);
    while (opscope_window_counts(window).bytes + (uint64_t{1} << 20) < (mib << 20))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    job.SlowDown();
    for (int i = 0; i < dumps && !failed; ++i) {
      job.TakeLongestMs();
      const auto begin = Clock::now();
      const bool dumped = flight.Dump(path).ok();
      const auto took = Clock::now() - begin;
      const double stall = job.TakeLongestMs();
      std::this_thread::sleep_for(took);
      const double calm = job.TakeLongestMs();
      const int64_t spans = SpansIn(path);
      failed = !dumped || spans < 0;
      std::printf("{\"seconds\": %.4f, \"spans\": %ld, \"stall_ms\": %.3f, \"calm_ms\": %.3f}\n", Seconds(took).count(),
                  spans, stall, calm);
    }
  }
  unlink(path.c_str());
  flight.Unwatch();
  flight.Release(window);
  flight.Stop();
  opscope_window_free(window);
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 5 ? argv[1] : "";
  if (mode != "soak" && mode != "dump") {
    std::fprintf(stderr, "usage: flight soak SECONDS MIB THREADS | flight dump DUMPS MIB THREADS\n");
    return 2;
  }
  const uint64_t mib = std::strtoull(argv[3], nullptr, 10);
  const size_t threads = std::strtoull(argv[4], nullptr, 10);
  return mode == "soak" ? Soak(std::atof(argv[2]), mib, threads) : Dump(std::atoi(argv[2]), mib, threads);
}
