// The merge of the ranks of a job, as `opscope merge` does it: open all, merge, write one .opscope file.
//   merge_speed --make FOLDER RANKS SPANS     writes rank0.opscope ...: operators with what they launch, an all-reduce
//   a step merge_speed --merge FOLDER RANKS          prints spans, seconds and bytes of peak memory, as a JSON object
//   merge_speed --apart FOLDER RANKS          the same when each file is read and written by itself
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/merge.h"

namespace {

constexpr size_t kLaunchesPerStep = 12;
constexpr size_t kSpansPerStep = kLaunchesPerStep * 4 + 1;
constexpr const char* kNames[] = {"aten::addmm", "aten::relu", "aten::native_layer_norm", "aten::copy_"};

template <typename T>
T Need(opscope::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "merge_speed: %s\n", result.error().message.c_str());
  std::_Exit(1);
}

std::string PathOf(const std::string& folder, size_t rank) {
  return folder + "/rank" + std::to_string(rank) + ".opscope";
}

[[gnu::format(printf, 2, 3)]] void Print(std::string* out, const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  out->append(text, static_cast<size_t>(std::vsnprintf(text, sizeof(text), format, values)));
  va_end(values);
}

// A rank's steps as Kineto writes them: operators in operators, what they launch, and a collective a step that ends at
// the same moment everywhere. Clocks are some milliseconds apart and drift by a few ppm.
class RankWriter {
 public:
  explicit RankWriter(size_t rank) : rank_(rank), random_(rank + 1) {}

  void AddStep(size_t step, std::string* json) {
    for (size_t i = 0; i < kLaunchesPerStep; ++i, now_us_ += 20) {
      const size_t id = step * kLaunchesPerStep + i + 1;
      const std::string name = kNames[random_() % std::size(kNames)];
      const double begin = now_us_ + Microseconds(2);
      Add("cpu_op", name, 1, begin, 12 + Microseconds(5), id, "", json);
      Add("cpu_op", name + "_inner", 1, begin + 0.5, 10 + Microseconds(1), id + (size_t{1} << 30), "", json);
      Add("cuda_runtime", "cudaLaunchKernel", 1, begin + 4, 2 + Microseconds(3), id, "", json);
      Add("kernel", "kernel of " + name, 7, begin + 12, 5 + Microseconds(8), id, ",\"device\":0,\"stream\":7", json);
    }
    const double lasts = 10 + Microseconds(10);
    Add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, now_us_ + 25 - lasts, lasts, 0,
        ",\"device\":0,\"stream\":20,\"Collective name\":\"allreduce\",\"In msg nelems\":1024,\"Process Group "
        "Name\":\"0\"",
        json);
    now_us_ += 30 + static_cast<double>(step % 7);
  }

 private:
  double Microseconds(double most) { return most * static_cast<double>(random_() % 1000) / 1000; }

  void Add(const char* category, const std::string& name, size_t thread, double start_us, double duration_us, size_t id,
           const char* more, std::string* json) const {
    const auto rank = static_cast<double>(rank_);
    const double clock_us = 1'790'000'000e6 + rank * 3000 + start_us * (1 + 1e-6 * rank);
    Print(json,
          "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%zu,\"ts\":%.3f,\"dur\":%.3f,"
          "\"args\":{\"External id\":%zu,\"correlation\":%zu%s}},\n",
          category, name.c_str(), thread, clock_us, duration_us, id, id, more);
  }

  size_t rank_;
  std::minstd_rand random_;
  double now_us_ = 0;
};

int Make(const std::string& folder, size_t ranks, size_t spans) {
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::string json;
    Print(&json, "{\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%zu,\"world_size\":%zu},\"traceEvents\":[\n",
          rank, ranks);
    RankWriter writer(rank);
    for (size_t step = 0; step < (spans + kSpansPerStep - 1) / kSpansPerStep; ++step)
      writer.AddStep(step, &json);
    json.replace(json.size() - 2, 2, "]}");
    const opscope::Trace trace = Need(opscope::ImportBytes(std::as_bytes(std::span(json)), "rank.json"));
    const opscope::Status written = opscope::ExportOpscope(trace, PathOf(folder, rank));
    if (!written.ok()) return std::fprintf(stderr, "merge_speed: %s\n", written.error().message.c_str()), 1;
  }
  return 0;
}

size_t Write(const opscope::Trace& trace, const std::string& path) {
  if (!opscope::ExportOpscope(trace, path).ok()) std::_Exit(1);
  return trace.spans().size();
}

size_t Merge(const std::string& folder, size_t ranks) {
  std::vector<opscope::MergeInput> inputs;
  for (size_t rank = 0; rank < ranks; ++rank) {
    const std::string path = PathOf(folder, rank);
    inputs.push_back({Need(opscope::ImportFile(path)), path, -1});
  }
  const opscope::Merged merged = Need(opscope::MergeTraces(std::move(inputs)));
  return Write(merged.trace, folder + "/all.opscope");
}

size_t Apart(const std::string& folder, size_t ranks) {
  size_t spans = 0;
  for (size_t rank = 0; rank < ranks; ++rank)
    spans += Write(Need(opscope::ImportFile(PathOf(folder, rank))), folder + "/all.opscope");
  return spans;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto number = [&](size_t at) { return static_cast<size_t>(std::strtoul(arguments[at].c_str(), nullptr, 10)); };
  if (arguments.size() == 4 && arguments[0] == "--make") return Make(arguments[1], number(2), number(3));
  if (arguments.size() != 3) {
    std::fprintf(stderr,
                 "usage: merge_speed --make FOLDER RANKS SPANS | --merge FOLDER RANKS | --apart FOLDER RANKS\n");
    return 2;
  }
  const auto wall = std::chrono::steady_clock::now();
  const size_t spans = (arguments[0] == "--merge" ? Merge : Apart)(arguments[1], number(2));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - wall;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("{\"spans\": %zu, \"wall\": %.6f, \"cpu\": %.6f, \"peak_bytes\": %ld}\n", spans, seconds.count(),
              static_cast<double>(std::clock()) / CLOCKS_PER_SEC, used.ru_maxrss * 1024);
  return 0;
}
