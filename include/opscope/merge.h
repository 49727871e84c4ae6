// Merges several traces into one: the files of the ranks of a distributed job, or
// of the processes of one machine. Aligns clocks, keeps ranks and processes apart,
// and reports what is wrong with the set of files.
//
//   std::vector<opscope::MergeInput> inputs;
//   for (const std::string& path : paths)
//     inputs.push_back({.trace = opscope::ImportFile(path).value(), .name = path});
//   opscope::Result<opscope::Merged> merged = opscope::MergeTraces(std::move(inputs));
//
// Times. The ranks of one machine share its wall clock; collectives only check it.
// A rank of another machine that took part in collectives uses their ends as sync
// points: an offset and a drift are fitted, one fit for all ranks of its machine.
// Otherwise its wall clock counts. The reference is the rank with the most sync
// points. The order of the inputs does not change the result.
//
// Thread rule: any thread; each call is independent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// A problem of a JOB (job.h), and the ranks that it concerns.
struct JobProblem {
  // "": it is not of one file.
  std::string file;
  std::string kind;
  ProblemSeverity severity = ProblemSeverity::kInfo;
  uint64_t count = 1;
  // -1: unknown.
  int64_t first_offset = -1;
  std::string message;
  // -1 is a file without a rank.
  std::vector<int32_t> ranks;
};

// One trace to merge.
struct MergeInput {
  Trace trace;
  // For messages, and for the rank if the trace does not know it ("rank3.json",
  // "rank_3.json.gz").
  std::string name;
  // -1: what the trace says, else what the name says.
  int32_t rank = -1;
  // Why it could not be read, if so: `trace` is empty then, and the result has the
  // Problem unreadable_trace. Empty: it was read.
  std::string unreadable = {};
  // What is wrong with it beside the problems of the trace.
  std::vector<JobProblem> problems = {};
};

// How clocks are aligned.
struct MergeOptions {
  // Names of spans that end at the same moment on all ranks, in addition to the
  // known collectives.
  std::vector<std::string> sync_names;
  // Upper bound of the distance between two machines' wall clocks.
  int64_t max_clock_difference_ns = 5'000'000'000;
  // The inputs are chosen ranks of a job: those that are not there are no problem.
  bool is_choice = false;
  // Clocks are compared, but times stay those of each rank's own clock. The
  // earliest begin becomes TraceInfo::epoch_ns, or `epoch_ns` if it has a value.
  bool keeps_clocks = false;
  std::optional<int64_t> epoch_ns = {};
  // The inputs are of a JOB, which has these problems beside those of its inputs. Each
  // problem of the result says of which ranks it is.
  std::optional<std::vector<JobProblem>> of_job = {};
};

// How an input's times were aligned with the reference.
enum class ClockSource : uint8_t {
  // It is the reference, or of its machine.
  kReference,
  // By sync points.
  kCollectives,
  // By its machine's wall clock alone, which the reference may share.
  kWallClock,
  // It has no wall clock: its times are unchanged.
  kNone,
};

// A process of the result.
struct MergedProcess {
  // Number in the result; unique there.
  int64_t pid = 0;
  // -1: unknown.
  int32_t rank = -1;
};

// A fit through collectives that contradicts a clock which was known better without
// them.
struct RefusedFit {
  // Nanoseconds to add at the first span.
  int64_t offset_ns = 0;
  // Nanoseconds per nanosecond.
  double drift = 0;
  int64_t residual_p99_ns = 0;
};

// What happened to one input.
struct MergedInput {
  std::string name;
  // -1: unknown, or several.
  int32_t rank = -1;
  bool rank_is_from_name = false;
  // Why the result does not have it; empty: the result has it.
  std::string left_out;
  uint64_t spans = 0;
  std::vector<MergedProcess> processes;
  ClockSource clock = ClockSource::kNone;
  // Added to its wall clock, at its first span.
  int64_t offset_ns = 0;
  // Added per nanosecond since then.
  double drift = 0;
  uint64_t sync_points = 0;
  // Distance of the sync points after the alignment: median and 99th percentile.
  int64_t residual_p50_ns = 0;
  int64_t residual_p99_ns = 0;
  // Measured bound of the distance between its wall clock and that of the other
  // ranks of its machine; -1: unknown.
  int64_t wall_bound_ns = -1;
  // Against a rank of its machine; nullopt: no contradiction.
  std::optional<RefusedFit> refused_fit;
};

// The merged trace, and what was done to each input.
struct Merged {
  Trace trace;
  // By rank, then by time.
  std::vector<MergedInput> inputs;
  // Ranks of the job; 0: unknown.
  uint32_t world_size = 0;
};

// Consumes the traces. O(n log n) in all rows. kInvalidArgument: no input, or none
// that could be read.
[[nodiscard]] Result<Merged> MergeTraces(std::vector<MergeInput> inputs, const MergeOptions& options = {});

// "reference", "collectives", "wall_clock", "none".
[[nodiscard]] std::string_view ClockSourceName(ClockSource source);

// The rank in the last part of a path: "rank3", "rank-3", "rank_3" -> 3. -1: none.
[[nodiscard]] int32_t RankFromName(std::string_view path);

}  // namespace opscope
