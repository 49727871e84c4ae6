// Finds the causes that slow a program down, and estimates what each repair would save per
// step. docs/reference/analyses.md, "Advice", has the rule of each kind.
//
//   const Advice advice = Advise(trace);
//   for (const Finding& finding : advice.findings)
//     Print(FindingKindName(finding.kind), finding.saving_ns);
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// A cause that slows a program down.
enum class FindingKind : uint8_t {
  // The device is idle after the host waited for it.
  kSyncPoints,
  // The device waits for the host to launch work.
  kLaunchBound,
  // The device, or a program without one, waits for input data.
  kInputStarvation,
  // Several pointwise kernels or operators in a row.
  kSmallOps,
  // Copies between host and device beside which no kernel runs.
  kHostDeviceCopies,
  // Collectives beside which nothing is computed.
  kExposedCommunication,
  // A compiler runs after the first step.
  kRecompiles,
  // The allocator calls the driver after the first two steps.
  kDeviceAllocations,
  // Each step leaves more memory allocated than the one before.
  kMemoryGrowth,
  // One rank computes longer than the others.
  kRankImbalance,
  // One thread computes longer than the others beside it.
  kThreadImbalance,
  // Of a program without a device: single values of tensors are read one after the other.
  kScalarReads,
  // Likewise: tensors are copied or converted.
  kTensorCopies,
  // Likewise: an optimizer updates each weight by several operators.
  kUnfusedOptimizer,
  // Likewise: more threads compute than there are processors for them.
  kCpuOversubscription,
  // The first step takes much longer than the others.
  kSlowFirstStep,
};
// Number of kinds.
inline constexpr size_t kFindingKinds = 16;

// "sync_points", "launch_bound", ...: the words of JSON.
[[nodiscard]] std::string_view FindingKindName(FindingKind kind);

// How sure it is that the saving would be had. docs/reference/analyses.md says which kind has which.
enum class Confidence : uint8_t { kLow, kMedium, kHigh };

// A time range that a finding rests on.
struct Evidence {
  // Rank of the process; -1: unknown.
  int32_t rank = -1;
  // kNone: no single track.
  TrackId track = TrackId::kNone;
  // The span; kEmpty: a whole step or the window.
  StringId name = StringId::kEmpty;
  // Relative to the trace's epoch, in nanoseconds.
  int64_t start_ns = 0, end_ns = 0;
};

// One cause, with what its repair would save.
struct Finding {
  FindingKind kind = FindingKind::kSyncPoints;
  // Estimate per step if the cause were gone, in nanoseconds, rounded down.
  int64_t saving_ns = 0;
  // kMemoryGrowth: median growth. nullopt: of the other kinds.
  std::optional<int64_t> bytes_per_step;
  Confidence confidence = Confidence::kMedium;
  // Number of spans, gaps or runs that it consists of.
  uint64_t count = 0;
  // The longest ones, at most kMaxEvidence, in order of time.
  std::vector<Evidence> evidence;

  static constexpr size_t kMaxEvidence = 20;
};

// Everything that slows the program down.
struct Advice {
  // Number of steps, each rank's counted; 1 for each rank if the trace has none.
  uint64_t steps = 0;
  // Their mean length, rounded down; 0 for an empty trace.
  int64_t step_mean_ns = 0;
  // False: the trace has no steps, and all of it counts as one.
  bool has_steps = false;
  // True: torch's operators were recorded, so advice may name what torch has.
  bool has_torch_operators = false;
  // Largest saving first, then in the order of kinds; at most one of each kind.
  std::vector<Finding> findings;
};

// What to look at.
struct AdviceOptions {
  // One entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count.
  const std::vector<uint8_t>* selected = nullptr;
};

// O(n log n) in device work and in spans that findings name, O(spans) otherwise.
[[nodiscard]] Advice Advise(const Trace& trace, const AdviceOptions& options = {});

}  // namespace opscope
