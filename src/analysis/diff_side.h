// One side of a comparison: sums and samples of its runs by row of the result.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/tuple_numbers.h"
#include "analysis/welch.h"
#include "opscope/analysis/diff.h"
#include "opscope/analysis/memory_usage.h"
#include "opscope/trace.h"

namespace opscope {

// Numbers the keys of both sides in order of first appearance.
class DiffKeys {
 public:
  struct Key {
    std::string name, key;
  };
  uint32_t RowOf(std::string_view name, std::string_view key);
  std::vector<Key> TakeKeys() { return std::move(keys_); }

 private:
  TupleNumbers rows_;
  std::vector<Key> keys_;
};

class DiffSide {
 public:
  // samples_are_runs: a sample is a run, else a step.
  explicit DiffSide(bool samples_are_runs) : samples_are_runs_(samples_are_runs) {}

  // What is added from here on is of another run.
  void BeginRun() { run_sample_ = kNoSample; }
  // Adds a trace of the run, which is not needed afterwards. REQUIRES: BeginRun was called.
  void Add(const Trace& trace, const DiffOptions& options, DiffKeys* keys);
  // To be called after the last Add and before the following functions.
  void Finish();

  // Sums of a row; zeros if the side lacks it.
  DiffSums SumsOf(size_t row) const { return row < sums_.size() ? sums_[row] : DiffSums(); }
  // Steps, or runs with steps.
  size_t sample_count() const { return samples_.size(); }
  // Moments of the self time of a row. REQUIRES: rows ascend from call to call.
  SampleMoments SelfTimes(size_t row);
  // Moments of the durations of steps.
  SampleMoments StepDurations() const;
  // The largest peak of each device over the runs.
  const std::map<MemoryPlace, int64_t>& memory_peaks() const { return memory_peaks_; }

 private:
  static constexpr uint32_t kNoSample = UINT32_MAX;

  struct Sample {
    uint64_t steps = 0;
    int64_t sum_ns = 0;  // of the durations of the steps
  };
  // Self time of one row in one sample.
  struct Part {
    uint32_t row = 0, sample = 0;
    int64_t self_ns = 0;
  };

  // The sample that a step belongs to.
  uint32_t TakeSample();
  std::vector<uint32_t> AddSteps(const Trace& trace, const DiffOptions& options);
  void AddMemory(const Trace& trace);

  const bool samples_are_runs_;
  std::vector<DiffSums> sums_;  // by row
  std::vector<Part> parts_;
  size_t next_part_ = 0;
  std::vector<Sample> samples_;
  uint32_t run_sample_ = kNoSample;  // of the present run, if samples are runs and it has steps
  std::vector<double> values_;       // scratch
  std::map<MemoryPlace, int64_t> memory_peaks_;
};

}  // namespace opscope
