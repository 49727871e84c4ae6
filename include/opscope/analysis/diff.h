// Compares two runs of a program, or two sets of runs: which operators became slower,
// faster, are new or gone, and whether that is more than chance. docs/reference/diff.md
// defines every number.
//
//   const TraceDiff diff = DiffTraces(before, after);
//   for (const DiffRow& row : diff.rows)
//     if (row.status == DiffStatus::kSlower) Print(row.name, row.difference.delta_ns);
//
// Thread rule: pure functions of immutable Traces; results are plain values. RunComparison has a rule of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/span_filter.h"
#include "opscope/trace.h"

namespace opscope {

// What spans of the two sides must have in common to be compared. All compare names; the
// others more, or fewer spans. DiffKeyNames has the names in this order.
enum class DiffKey : uint8_t {
  kName,
  // Name and shapes of the inputs.
  kShape,
  // Name; only kernels, copies and sets of devices.
  kKernel,
  // Name and module (opscope/analysis/modules.h).
  kModule,
  // Name and number of the step.
  kStep,
};

enum class DiffStatus : uint8_t {
  // Only B has the key.
  kNew,
  // Only A has it.
  kVanished,
  // B takes longer, and the test says that this is not chance.
  kSlower,
  // B takes less time, likewise.
  kFaster,
  // All others.
  kMatched,
};

// "new", "vanished", ...
[[nodiscard]] std::string_view DiffStatusName(DiffStatus status);

// The difference of two means, B - A, in nanoseconds.
struct Difference {
  // Rounded to nearest. Without steps on a side: the difference of the sums.
  int64_t delta_ns = 0;
  // Welch's 95 % interval and the two-sided p-value of his test. nullopt: a side has fewer
  // than 3 samples.
  std::optional<int64_t> low_ns, high_ns;
  std::optional<double> p;
};

// What one side of a row adds up to, over all of its runs. 0 if the side lacks the key.
struct DiffSums {
  // Number of spans.
  uint64_t count = 0;
  // OpSummaryRow::total_with_recursion_ns and self_ns.
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  // OpSummaryRow::self_memory_bytes.
  int64_t memory_bytes = 0;
};

// Spans with one key. Spans of hosts and of devices have equal keys if their names are equal.
struct DiffRow {
  std::string name;
  // The shapes, the module or the number of the step; "" if the key is the name alone.
  std::string key;
  DiffStatus status = DiffStatus::kMatched;
  DiffSums a, b;
  // Of the self time per step; with several runs, of its mean in each run.
  Difference difference;
};

// The durations of steps; with several runs, their mean in each run.
struct DiffSteps {
  // Number of samples: steps, or runs that have steps.
  uint64_t a_count = 0, b_count = 0;
  // Rounded down. nullopt: the side has no steps.
  std::optional<int64_t> a_mean_ns, b_mean_ns;
  // nullopt: a side has no steps.
  std::optional<Difference> difference;
};

// A device of a rank: the largest peak of allocated memory over the runs of a side.
struct DiffMemory {
  // -1: unknown.
  int32_t rank = -1;
  // torch's DeviceType number.
  int32_t device_type = 0;
  // -1: unknown.
  int32_t device = -1;
  // nullopt: the side has no allocation there.
  std::optional<int64_t> a_peak_bytes, b_peak_bytes;
};

// The result.
struct TraceDiff {
  DiffKey by = DiffKey::kName;
  // By the size of the difference, largest first, then by name and key.
  std::vector<DiffRow> rows;
  DiffSteps steps;
  // By rank, device type and device.
  std::vector<DiffMemory> memory;
};

// What to compare.
struct DiffOptions {
  DiffKey by = DiffKey::kName;
  // Only the spans that it matches count, and only steps that can have such spans
  // (SpanFilter::SelectSteps). nullptr: all.
  const SpanFilter* filter = nullptr;
  // As OpSummaryOptions::max_threads.
  uint32_t max_threads = 0;
};

// "name", "shape", "kernel", "module", "step", in the order of DiffKey.
[[nodiscard]] std::span<const std::string_view> DiffKeyNames();
// nullopt: no key has this name.
[[nodiscard]] std::optional<DiffKey> DiffKeyFromName(std::string_view name);

// Compares two runs. O(spans), and O(n log n) in rows and in pairs of a row and a step.
[[nodiscard]] TraceDiff DiffTraces(const Trace& a, const Trace& b, const DiffOptions& options = {});
// Compares two sets of runs; each pointer is one run, never null. An empty set has no spans.
[[nodiscard]] TraceDiff DiffRuns(std::span<const Trace* const> a, std::span<const Trace* const> b,
                                 const DiffOptions& options = {});

// The same for runs whose traces need not be in memory together. It keeps 16 bytes per step and row of
// the result.
//
//   RunComparison runs({}, false);
//   runs.BeginRun(RunComparison::Side::kA);
//   for (const std::string& file : ranks_of_a) runs.Add(RunComparison::Side::kA, ImportFile(file).value());
//   ...
//   const TraceDiff diff = std::move(runs).Compare();
//
// Thread rule: one thread at a time.
class RunComparison {
 public:
  enum class Side { kA, kB };
  // options.filter has to live as long as this. samples_are_runs: a side has several runs, which are the samples of the
  // test; else its steps are.
  RunComparison(const DiffOptions& options, bool samples_are_runs);
  RunComparison(RunComparison&&) noexcept;
  ~RunComparison();

  // What is added to the side from here on is of another run. REQUIRES: called before the first Add of the side.
  void BeginRun(Side side);
  // Adds a trace of the run, such as one of several ranks. It is not needed afterwards. O(spans)
  void Add(Side side, const Trace& trace);
  // The object may only be destroyed afterwards.
  [[nodiscard]] TraceDiff Compare() &&;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace opscope
