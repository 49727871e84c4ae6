// Who waits for whom on the critical path of a rank: blocking calls of the host for works, and works for works of other
// streams. docs/reference/critical_path.md, "Waits", has the rules.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/critical_path_lanes.h"
#include "analysis/critical_path_launched.h"
#include "analysis/critical_path_works.h"
#include "analysis/device_work.h"
#include "opscope/trace.h"

namespace opscope {

// A span of category cuda_sync, which shows a wait and says in its members what the wait is for.
struct SyncSpan {
  int32_t rank = -1;
  uint32_t correlation = 0;
  int64_t begin = 0;
  uint32_t span = 0;
  auto operator<=>(const SyncSpan&) const = default;
};

// All of them, in order. O(spans) if there are some.
[[nodiscard]] std::vector<SyncSpan> FindSyncSpans(const Trace& trace);

// Finds what waits on one rank.
class PathWaits {
 public:
  // `syncs`: those of the rank, in order. `streams`: tracks.
  PathWaits(const Trace& trace, int32_t rank, std::span<const SyncSpan> syncs, const std::vector<uint32_t>& streams,
            const PathWorks& works, LaunchCalls* calls);

  // Sets the work that the call waits for. Amortised O(log n).
  void FindAwaitedWork(BlockingCall* call);
  // Pairs of a work and one that it waits for.
  [[nodiscard]] std::vector<std::pair<uint32_t, uint32_t>> FindStreamWaits();

 private:
  struct Copy {
    uint32_t correlation = 0;
    int64_t end = 0;
    uint32_t work = 0;
    auto operator<=>(const Copy&) const = default;
  };

  std::string_view NameOf(uint32_t span) const { return trace_.text(trace_.spans().name[span]); }
  std::optional<int64_t> NumberIn(uint32_t span, std::string_view member) const;
  LaunchedWorks* StreamOf(uint32_t sync, std::string_view member);
  std::optional<int64_t> BeginOfRecordCall(uint32_t sync);
  uint32_t LastRecorded(uint32_t sync);
  uint32_t AwaitedCopy(const BlockingCall& call);
  uint32_t AwaitedOf(uint32_t sync, const BlockingCall& call);
  bool EndsIn(uint32_t work, const BlockingCall& call) const;
  void GroupByStream();

  const Trace& trace_;
  int32_t rank_;
  std::span<const SyncSpan> syncs_;
  const std::vector<uint32_t>& streams_;
  const PathWorks& works_;
  LaunchCalls* calls_;
  // Found when they are first asked for.
  std::optional<LaunchedWorks> all_;
  std::vector<LaunchedWorks> of_streams_;  // as streams_
  std::map<std::tuple<int32_t, int64_t, ProcessId>, size_t> streams_by_number_;
  std::optional<std::vector<Copy>> copies_;  // sorted
};

}  // namespace opscope
