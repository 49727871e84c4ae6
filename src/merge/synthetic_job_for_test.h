// For tests: the traces of the ranks of a training job whose clocks disagree, and what each moment truly was.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "opscope/merge.h"
#include "trace/builder.h"

namespace opscope {

struct RankClock {
  double offset_ns = 0;
  double drift = 0;
  int64_t Read(double true_ns) const { return std::llround(true_ns * (1 + drift) + offset_ns); }
};

struct JobShape {
  uint32_t ranks = 8;
  int steps = 1000;
  double step_ns = 20e6;  // on average
  double noise_ns = 10e3;
  bool is_regular = false;  // every step takes the same time, and every collective the same part of it
  double max_offset_ns = 50e6;
  double max_drift = 50e-6;
  bool has_wall_clock = true;
  bool says_rank = true;
  uint32_t ranks_per_machine = 0;  // ranks that share one clock; 0: no facts about machines
  bool says_boot = true;           // of the machine; otherwise the host's name
  double bias_ns = 0;              // how much later each rank sees the ends than the one before it
  double late_at_first_ns = 0;  // how much later the last rank sees the end of the first; half of it of the next, ...
};

// Every step has a marker whose times are read without noise, and two all-reduces that end everywhere at once, but
// for noise; one in a hundred is seen a few milliseconds late.
class SyntheticJob {
 public:
  static constexpr int64_t kEpochNs = 1'790'000'000'000'000'000;

  SyntheticJob(uint64_t seed, const JobShape& shape) : random_(seed), shape_(shape) {
    for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
      const bool is_another = shape.ranks_per_machine == 0 || rank % shape.ranks_per_machine == 0;
      const RankClock before = is_another ? RankClock{} : clocks_.back();
      clocks_.push_back(is_another ? RankClock{Uniform(-1, 1) * shape.max_offset_ns, Uniform(-1, 1) * shape.max_drift}
                                   : before);
    }
    set_ns_.resize(shape.ranks);
    double now = 0;
    for (int step = 0; step < shape.steps; ++step) {
      const double length = shape.step_ns * (shape.is_regular ? 1 : Uniform(0.8, 1.2));
      step_start_.push_back(now);
      collective_end_.push_back(now + length * (shape.is_regular ? 0.4 : Uniform(0.3, 0.5)));
      collective_end_.push_back(now + length * (shape.is_regular ? 0.8 : Uniform(0.7, 0.9)));
      now += length;
    }
  }

  const RankClock& clock(int32_t rank) const { return clocks_[static_cast<size_t>(rank)]; }
  double step_start(int step) const { return step_start_[static_cast<size_t>(step)]; }

  // The steps [first, last) of a rank.
  MergeInput Rank(int32_t rank, int first, int last) {
    TraceBuilder builder;
    builder.info().format = "opscope";
    builder.info().epoch_ns = shape_.has_wall_clock ? kEpochNs : 0;
    builder.info().world_size = shape_.says_rank ? shape_.ranks : 0;
    const ProcessId process = builder.AddProcess({.pid = 100, .sort_index = 100, .rank = shape_.says_rank ? rank : -1});
    const ProcessId device = builder.AddProcess({.sort_index = 5'000'000, .rank = shape_.says_rank ? rank : -1});
    const TrackId thread = builder.AddTrack({.process = process, .tid = 7, .logical_thread = 1});
    const TrackId stream = builder.AddTrack({.process = device, .kind = TrackKind::kDeviceStream, .tid = 20});
    const StringId marker = builder.Intern("marker"), cpu_op = builder.Intern("cpu_op");
    const StringId reduce = builder.Intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    const StringId kernel = builder.Intern("kernel");
    const StringId groups[2] = {Group(builder, 1024), Group(builder, 4096)};
    const RankClock& clock = clocks_[static_cast<size_t>(rank)];
    if (shape_.ranks_per_machine > 0) AddMachine(rank, &builder);
    for (int step = first; step < last; ++step) {
      const int64_t start = clock.Read(step_start(step));
      builder.AddSpan({.start = {start},
                       .duration = {1000},
                       .name = marker,
                       .category = cpu_op,
                       .track = thread,
                       .sequence = step,
                       .correlation = static_cast<uint32_t>(step) + 1});
      for (int i = 0; i < 2; ++i) {
        double end = collective_end_[static_cast<size_t>(2 * step + i)] + Uniform(-1, 1) * shape_.noise_ns +
                     rank * shape_.bias_ns;
        if (static_cast<uint32_t>(rank) + 1 == shape_.ranks) end += shape_.late_at_first_ns * std::exp2(-2 * step - i);
        if (Uniform(0, 1) < 0.01) end += Uniform(1e6, 3e6);
        builder.AddSpan({.start = {clock.Read(end - 1e5)},
                         .duration = {clock.Read(end) - clock.Read(end - 1e5)},
                         .name = reduce,
                         .category = kernel,
                         .track = stream,
                         .extra = groups[i]});
      }
    }
    const std::string name = "job_rank" + std::to_string(rank) + ".opscope";
    return {builder.Build(), name, -1};
  }
  MergeInput Rank(int32_t rank) { return Rank(rank, 0, shape_.steps); }

  std::vector<MergeInput> AllRanks() {
    std::vector<MergeInput> inputs;
    for (uint32_t rank = 0; rank < shape_.ranks; ++rank)
      inputs.push_back(Rank(static_cast<int32_t>(rank)));
    return inputs;
  }

  // Before this rank was started, the wall clock of its machine was.
  void SetClock(int32_t rank, int64_t ns) {
    clocks_[static_cast<size_t>(rank)].offset_ns += static_cast<double>(ns);
    set_ns_[static_cast<size_t>(rank)] = ns;
  }

 private:
  void AddMachine(int32_t rank, TraceBuilder* builder) const {
    const std::string machine = std::to_string(static_cast<uint32_t>(rank) / shape_.ranks_per_machine);
    if (!shape_.says_boot) return builder->AddMetadata("host_name", "\"node" + machine + "\"");
    constexpr int64_t kUptimeNs = 86'400'000'000'000;
    const int64_t set_ns = set_ns_[static_cast<size_t>(rank)];
    builder->AddMetadata("opscope_boot", "\"b007" + machine + "\"");
    builder->AddMetadata("opscope_wall_clock", "[[" + std::to_string(kUptimeNs + rank) + "," +
                                                   std::to_string(kUptimeNs + rank + kEpochNs + set_ns) + ",50]]");
  }

  double Uniform(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }

  StringId Group(TraceBuilder& builder, int elements) const {
    return builder.Intern("\"Collective name\": \"allreduce\", \"In msg nelems\": " + std::to_string(elements) +
                          ", \"Process Group Name\": \"0\", \"Group size\": " + std::to_string(shape_.ranks));
  }

  std::mt19937_64 random_;
  JobShape shape_;
  std::vector<RankClock> clocks_;
  std::vector<int64_t> set_ns_;
  std::vector<double> step_start_, collective_end_;
};

}  // namespace opscope
