// A job with planted faults, for tests of advice: a line of a test says what runs in each of its steps.
//
//   PlantedJob job(4);                              // four steps of 1000 ns
//   job.Host("cpu_op", "aten::mm", 0, 500);         // in each of them
//   EXPECT_TRUE(job.Ask().findings.empty());
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/advise.h"
#include "trace/builder.h"

namespace opscope {

// A job of several ranks with a thread and a stream each, and steps one after the other.
class PlantedJob {
 public:
  using Kinds = std::vector<FindingKind>;
  static constexpr int64_t kStepNs = 1000;

  explicit PlantedJob(int steps, int32_t ranks = 1, int64_t step_ns = kStepNs) : steps_(steps), step_ns_(step_ns) {
    for (int32_t rank = 0; rank < ranks; ++rank) {
      const ProcessId process = builder_.AddProcess({.pid = 100 + rank, .rank = rank});
      threads_.push_back(builder_.AddTrack({.process = process, .kind = TrackKind::kThread, .tid = 1}));
      others_.push_back(builder_.AddTrack({.process = process, .kind = TrackKind::kThread, .tid = 2}));
      streams_.push_back(
          builder_.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 7, .device = rank}));
      for (int step = 0; step < steps; ++step) {
        const std::string name = "ProfilerStep#" + std::to_string(step);
        const AddedSpan span =
            Add(threads_.back(), "user_annotation", name.c_str(), step * step_ns_, (step + 1) * step_ns_);
        builder_.AddStep(step, builder_.Intern(name), span);
      }
    }
  }

  // In each step from `first` on, at [begin, end) of the step.
  void Host(const char* category, const char* name, int64_t begin, int64_t end, int first = 0, int32_t rank = 0) {
    for (int step = first; step < steps_; ++step)
      Add(threads_[static_cast<size_t>(rank)], category, name, step * step_ns_ + begin, step * step_ns_ + end);
  }
  void OtherThread(const char* name, int64_t begin, int64_t end, const char* category = "cpu_op") {
    for (int step = 0; step < steps_; ++step)
      Add(others_[0], category, name, step * step_ns_ + begin, step * step_ns_ + end);
  }
  // A work, and its launch of 2 ns that begins at `launch`.
  void Work(const char* category, const char* name, int64_t launch, int64_t begin, int64_t end, int32_t rank = 0) {
    for (int step = 0; step < steps_; ++step) {
      ++correlation_;
      const int64_t base = step * step_ns_;
      Add(threads_[static_cast<size_t>(rank)], "cuda_runtime", "cudaLaunchKernel", base + launch, base + launch + 2,
          correlation_);
      Add(streams_[static_cast<size_t>(rank)], category, name, base + begin, base + end, correlation_);
    }
  }
  // At the middle of each step.
  void Allocate(int64_t bytes, int first = 0) {
    for (int step = first; step < steps_; ++step) {
      builder_.AddAllocation({.time = {step * step_ns_ + 500},
                              .track = threads_[0],
                              .address = static_cast<uint64_t>(++addresses_),
                              .bytes = bytes});
    }
  }
  void Metadata(const char* key, const char* json) { builder_.AddMetadata(key, json); }
  Advice Ask() {
    trace_ = builder_.Build();
    return Advise(trace_);
  }
  std::string_view text(StringId id) const { return trace_.text(id); }

  static Kinds KindsOf(const Advice& advice) {
    Kinds kinds;
    for (const Finding& finding : advice.findings)
      kinds.push_back(finding.kind);
    return kinds;
  }

 private:
  AddedSpan Add(TrackId track, const char* category, const char* name, int64_t begin, int64_t end,
                uint32_t correlation = 0) {
    return builder_.AddSpan({.start = {begin},
                             .duration = {end - begin},
                             .name = builder_.Intern(name),
                             .category = builder_.Intern(category),
                             .track = track,
                             .correlation = correlation});
  }

  int steps_;
  int64_t step_ns_;
  TraceBuilder builder_;
  std::vector<TrackId> threads_, others_, streams_;
  uint32_t correlation_ = 0;
  int64_t addresses_ = 0;
  Trace trace_;
};

}  // namespace opscope
