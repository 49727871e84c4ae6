// The critical path of each rank, in five steps: the lanes of the host with their blocking calls
// (critical_path_lanes.h), the works of the devices with their launches (critical_path_works.h), what waits for what
// (critical_path_waits.h), the longest path (critical_path_longest.h), and its edges as rows.
//
//   host    [op      [launch]     [cudaDeviceSynchronize    ]]
//   stream            `-------> [kernel              ]--^            path: op, launch, kernel, sync
//
// Host spans need no objects: memory is 24 bytes per work and per outermost host span, and for the rows 4
// per host span and 24 per row.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/critical_path.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/critical_path_lanes.h"
#include "analysis/critical_path_longest.h"
#include "analysis/critical_path_waits.h"
#include "analysis/critical_path_works.h"
#include "analysis/device_report.h"
#include "analysis/host_spans.h"
#include "analysis/steps_of_ranks.h"
#include "base/huge_pages.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr std::string_view kKindNames[] = {"host",    "gap",           "launch", "queue",
                                           "compute", "communication", "copy",   "sync"};

int64_t* PartOf(PathEdgeKind kind, CriticalPathTimes* times) {
  int64_t* const parts[] = {&times->host_ns,    &times->gap_ns,           &times->launch_ns, &times->queue_ns,
                            &times->compute_ns, &times->communication_ns, &times->copy_ns,   &times->sync_ns};
  return parts[static_cast<size_t>(kind)];
}

struct TracksOfRank {
  std::vector<uint32_t> threads, streams;  // ascending
  bool has_steps = false;                  // on a track of any kind: MegEngine's steps have a separate one
};

class PathFinder {
 public:
  PathFinder(const Trace& trace, const CriticalPathOptions& options)
      : trace_(trace),
        options_(options),
        state_(trace),
        host_(trace),
        thread_of_lane_(FindLaneOfTracks(trace)),
        lane_of_tracks_(trace.tracks().size(), kNoPathNode),
        has_step_(trace.tracks().size()),
        syncs_(FindSyncSpans(trace)) {
    for (const SpanId step : trace.steps().span)
      if (step != SpanId::kNone) has_step_[Row(trace.spans().track[Row(step)])] = 1;
  }

  CriticalPathReport Find() {
    const TrackColumns& tracks = trace_.tracks();
    std::map<int32_t, TracksOfRank> ranks;
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      TracksOfRank& rank = ranks[RankOfTrack(trace_, TrackId{track})];
      rank.has_steps |= has_step_[track] != 0;
      if (tracks.kind[track] == TrackKind::kThread) rank.threads.push_back(track);
      if (tracks.kind[track] == TrackKind::kDeviceStream) rank.streams.push_back(track);
    }
    for (const auto& [rank, its_tracks] : ranks)
      FindPathOf(rank, its_tracks);
    return std::move(report_);
  }

 private:
  void FindPathOf(int32_t rank, const TracksOfRank& tracks) {
    std::vector<BlockingCall> calls;
    std::vector<HostLane> lanes = ReadLanes(tracks, &calls);
    PathWorks works(tracks.streams, options_.selected, &state_);
    if (lanes.empty() && works.size() == 0) return;
    FindWaits(rank, tracks.streams, &lanes, &works, &calls);
    LongestPath longest(lanes, works, calls, lane_of_tracks_, trace_.spans());
    CriticalPath path;
    path.rank = rank;
    path.length_ns = longest.Find();
    Interval window = works.window();
    for (const HostLane& lane : lanes)
      window = {std::min(window.begin, lane.window().begin), std::max(window.end, lane.window().end)};
    path.window_ns = SaturatingSubtract(window.end, window.begin);
    std::vector<PathStretch> stretches = longest.Stretches();
    for (PathStretch& stretch : stretches) {
      SetKind(works, &stretch);
      AddTimes(stretch, lanes, &path.times);
    }
    path.first_row = report_.rows.size();
    if (options_.rows) AddRows(stretches, lanes, works, calls);
    path.row_count = report_.rows.size() - path.first_row;
    report_.paths.push_back(path);
  }

  // The lanes that have host spans.
  std::vector<HostLane> ReadLanes(const TracksOfRank& of_rank, std::vector<BlockingCall>* calls) {
    std::map<uint32_t, std::vector<uint32_t>> threads_of_lanes;
    for (const uint32_t track : of_rank.threads)
      threads_of_lanes[thread_of_lane_[track]].push_back(track);
    std::vector<HostLane> lanes;
    for (auto& [first, its_threads] : threads_of_lanes) {
      const bool is_main =
          std::any_of(its_threads.begin(), its_threads.end(), [&](uint32_t track) { return has_step_[track] != 0; });
      const auto index = static_cast<uint32_t>(lanes.size());
      HostLane& lane = lanes.emplace_back(std::move(its_threads), is_main);
      lane.Read(trace_, options_.selected, index, &host_, calls);
      if (lane.spans() == 0) {
        lanes.pop_back();
        continue;
      }
      for (const uint32_t track : lane.tracks())
        lane_of_tracks_[track] = index;
    }
    if (!of_rank.has_steps && !lanes.empty()) {
      const auto covers_less = [](const HostLane& a, const HostLane& b) { return a.covered_ns() < b.covered_ns(); };
      std::max_element(lanes.begin(), lanes.end(), covers_less)->is_main = true;
    }
    return lanes;
  }

  // Keeps the calls that wait for a work, by end.
  void FindWaits(int32_t rank, const std::vector<uint32_t>& streams, std::vector<HostLane>* lanes, PathWorks* works,
                 std::vector<BlockingCall>* calls) {
    const auto first = std::lower_bound(syncs_.begin(), syncs_.end(), SyncSpan{rank, 0, INT64_MIN, 0});
    const auto end = std::find_if(first, syncs_.end(), [&](const SyncSpan& sync) { return sync.rank != rank; });
    PathWaits waits(trace_, rank, {first, end}, streams, *works, &state_.calls);
    for (BlockingCall& call : *calls)
      waits.FindAwaitedWork(&call);
    works->SetStreamWaits(waits.FindStreamWaits());
    std::erase_if(*calls, [](const BlockingCall& call) { return call.work == kNoPathNode; });
    std::stable_sort(calls->begin(), calls->end(),
                     [](const BlockingCall& a, const BlockingCall& b) { return a.end < b.end; });
    std::vector<std::vector<Interval>> waiting(lanes->size());
    for (const BlockingCall& call : *calls)
      waiting[call.lane].push_back({call.begin, call.end});
    for (size_t lane = 0; lane < lanes->size(); ++lane)
      (*lanes)[lane].SetWaits(std::move(waiting[lane]));
  }

  // A work that runs is of one of three kinds.
  void SetKind(const PathWorks& works, PathStretch* stretch) {
    if (stretch->kind != PathEdgeKind::kCompute) return;
    const std::optional<WorkClass> work_class = state_.finder.ClassOf(works.Span(stretch->node));
    if (work_class == WorkClass::kCommunication) stretch->kind = PathEdgeKind::kCommunication;
    if (work_class == WorkClass::kCopy) stretch->kind = PathEdgeKind::kCopy;
  }

  static void AddTimes(const PathStretch& stretch, const std::vector<HostLane>& lanes, CriticalPathTimes* times) {
    const auto add = [&](PathEdgeKind kind, int64_t ns) {
      *PartOf(kind, times) = SaturatingAdd(*PartOf(kind, times), ns);
    };
    if (stretch.lane == kNoPathNode) return add(stretch.kind, SaturatingSubtract(stretch.end, stretch.begin));
    const HostLane& lane = lanes[stretch.lane];
    const int64_t host = lane.HostWeightIn(stretch.begin, stretch.end);
    add(PathEdgeKind::kHost, host);
    add(PathEdgeKind::kGap, SaturatingSubtract(lane.weighing().LengthIn(stretch.begin, stretch.end), host));
  }

  void AddRows(const std::vector<PathStretch>& stretches, const std::vector<HostLane>& lanes, const PathWorks& works,
               const std::vector<BlockingCall>& calls) {
    ReserveRows(stretches, lanes);
    std::vector<std::unique_ptr<LanePieces>> pieces(lanes.size());
    for (const PathStretch& stretch : stretches) {
      if (stretch.lane != kNoPathNode) {
        std::unique_ptr<LanePieces>& its_pieces = pieces[stretch.lane];
        if (!its_pieces)
          its_pieces = std::make_unique<LanePieces>(trace_, options_.selected, host_, lanes[stretch.lane]);
        its_pieces->AppendTo(stretch.begin, stretch.end, &report_.rows);
        continue;
      }
      uint32_t span = stretch.kind == PathEdgeKind::kSync ? calls[stretch.node].span : works.Span(stretch.node);
      if (stretch.kind == PathEdgeKind::kLaunch) span = works.Launch(stretch.node);
      report_.rows.push_back({.start_ns = stretch.begin,
                              .duration_ns = SaturatingSubtract(stretch.end, stretch.begin),
                              .span = SpanId{span},
                              .kind = stretch.kind});
    }
  }

  // n spans have at most 2 n - 1 pieces. Rows that turn out fewer leave the rest of the memory untouched.
  void ReserveRows(const std::vector<PathStretch>& stretches, const std::vector<HostLane>& lanes) {
    std::vector<bool> is_on_path(lanes.size());
    size_t most = report_.rows.size() + stretches.size();
    for (const PathStretch& stretch : stretches) {
      if (stretch.lane == kNoPathNode || is_on_path[stretch.lane]) continue;
      is_on_path[stretch.lane] = true;
      most += 2 * lanes[stretch.lane].spans();
    }
    if (most > report_.rows.capacity()) ReserveOnHugePages(&report_.rows, std::max(most, report_.rows.capacity() * 2));
  }

  const Trace& trace_;
  CriticalPathOptions options_;
  DeviceAnalysisState state_;
  HostSpans host_;
  std::vector<uint32_t> thread_of_lane_;  // by track
  std::vector<uint32_t> lane_of_tracks_;  // by track: the lane of its rank
  std::vector<uint8_t> has_step_;         // by track
  std::vector<SyncSpan> syncs_;
  CriticalPathReport report_;
};

}  // namespace

std::string_view PathEdgeKindName(PathEdgeKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

CriticalPathReport FindCriticalPaths(const Trace& trace, const CriticalPathOptions& options) {
  return PathFinder(trace, options).Find();
}

}  // namespace opscope
