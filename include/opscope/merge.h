// Several traces as one: the files of the ranks of a distributed job, or of the processes of one machine. Clocks are
// brought together, ranks and processes stay apart, and what is wrong with the set of files is said.
//
// Times: the ranks of one machine share its wall clock, which collectives only check. A rank of another machine that
// took part in collectives gets their ends as sync points (an offset and a drift, fitted; one fit for all ranks of its
// machine); otherwise its wall clock counts. The reference is the rank with the most sync points. The result does not
// depend on the order of the inputs.
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

struct MergeInput {
  Trace trace;
  std::string name;   // for messages and for the rank, when the trace does not know it ("rank3.json", "rank_3.json.gz")
  int32_t rank = -1;  // -1: what the trace says, else what the name says
};

struct MergeOptions {
  // Spans whose ends are the same moment on all ranks, beside the collectives that are known.
  std::vector<std::string> sync_names;
  // Two machines' wall clocks are never further apart than this.
  int64_t max_clock_difference_ns = 5'000'000'000;
};

// How the times of an input were brought to the reference's.
enum class ClockSource : uint8_t {
  kReference,    // they are the reference's
  kCollectives,  // by sync points
  kWallClock,    // by the wall clock alone: of its machine, which the reference may share
  kNone,         // it has no wall clock: its times stand as they are
};

struct MergedProcess {
  int64_t pid = 0;  // in the result
  int32_t rank = -1;
};

// What collectives said of a clock that was better known without them.
struct RefusedFit {
  int64_t offset_ns = 0;  // at the first span
  double drift = 0;
  int64_t residual_p99_ns = 0;
};

struct MergedInput {
  std::string name;
  int32_t rank = -1;  // -1: not known, or several
  bool rank_is_from_name = false;
  std::string left_out;  // why it is not in the result; empty: it is
  uint64_t spans = 0;
  std::vector<MergedProcess> processes;
  ClockSource clock = ClockSource::kNone;
  int64_t offset_ns = 0;  // added to its wall clock, at its first span
  double drift = 0;       // and per nanosecond since then
  uint64_t sync_points = 0;
  int64_t residual_p50_ns = 0;  // distance of the sync points after that
  int64_t residual_p99_ns = 0;
  // How far its wall clock may be from that of the other ranks of its machine, as measured; -1: not told.
  int64_t wall_bound_ns = -1;
  std::optional<RefusedFit> refused_fit;  // against a rank of its machine
};

struct Merged {
  Trace trace;
  std::vector<MergedInput> inputs;  // by rank, then by time
  uint32_t world_size = 0;          // ranks of the job; 0: not told
};

// Consumes the traces. kInvalidArgument: no input, or none that belongs to the job.
[[nodiscard]] Result<Merged> MergeTraces(std::vector<MergeInput> inputs, const MergeOptions& options = {});

// "reference", "collectives", "wall_clock", "none".
[[nodiscard]] std::string_view ClockSourceName(ClockSource source);

// {"file", "rank", "rank_from", "spans", "clock", "offset_ns", "drift_ppb", "sync_points", "residual_p50_ns",
// "residual_p99_ns", "wall_bound_ns", "refused_fit": {"offset_ns", "drift_ppb", "residual_p99_ns"}, "processes"}; or
// "left_out" after the rank.
[[nodiscard]] std::string MergedInputJson(const MergedInput& input);

// "rank3", "rank-3", "rank_3" in the last part of a path -> 3; -1: nothing of the kind.
[[nodiscard]] int32_t RankFromName(std::string_view path);

}  // namespace opscope
