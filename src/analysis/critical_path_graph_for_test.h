// The graph of docs/reference/critical_path.md, built node by node and edge by edge in the plainest way, for tests that
// compare it with the fast implementation.
//
//   const LiteralGraph graph(trace, rank, selected);
//   EXPECT_EQ(path.length_ns, graph.Longest());
//
// Thread rule: immutable once made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "opscope/analysis/critical_path.h"
#include "opscope/trace.h"

namespace opscope {

// The graph of one rank, with a node per begin and end, and all edges.
class LiteralGraph {
 public:
  struct Edge {
    size_t from, to;
    int64_t weight;
    PathEdgeKind kind;
    uint32_t span;  // kNobody: a gap
    int64_t begin;
  };
  static constexpr uint32_t kNobody = UINT32_MAX;

  LiteralGraph(const Trace& trace, int32_t rank, const std::vector<uint8_t>& selected)
      : trace_(trace), spans_(trace.spans()), rank_(rank), selected_(selected) {
    for (uint32_t span = 0; span < spans_.size(); ++span) {
      if (RankOf(span) != rank || selected_[span] == 0) continue;
      if (IsHost(span)) host_.push_back(span);
      if (IsWork(span)) works_.push_back(span);
    }
    std::sort(works_.begin(), works_.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(Begin(a), End(a), a) < std::tuple(Begin(b), End(b), b);
    });
    AddLanes();
    AddWorks();
    AddSyncs();
  }

  bool empty() const { return host_.empty() && works_.empty(); }
  const std::vector<Edge>& edges() const { return edges_; }
  size_t size() const { return nodes_; }

  int64_t Window() const {
    int64_t begin = INT64_MAX, end = INT64_MIN;
    for (const std::vector<uint32_t>& spans : {host_, works_})
      for (const uint32_t span : spans)
        begin = std::min(begin, Begin(span)), end = std::max(end, End(span));
    return end - begin;
  }

  // By relaxing all edges until nothing changes: cycles have weight 0.
  int64_t Longest() const {
    std::vector<int64_t> length(nodes_);
    for (bool changes = true; changes;) {
      changes = false;
      for (const Edge& edge : edges_) {
        if (length[edge.from] + edge.weight <= length[edge.to]) continue;
        length[edge.to] = length[edge.from] + edge.weight;
        changes = true;
      }
    }
    return length.empty() ? 0 : *std::max_element(length.begin(), length.end());
  }

 private:
  int32_t RankOfTrackRow(TrackId track) const {
    return trace_.processes().rank[Row(trace_.tracks().process[Row(track)])];
  }
  int32_t RankOf(uint32_t span) const { return RankOfTrackRow(spans_.track[span]); }
  std::string_view Name(uint32_t span) const { return trace_.text(spans_.name[span]); }
  std::string_view Category(uint32_t span) const { return trace_.text(spans_.category[span]); }
  TrackKind KindOfTrack(uint32_t span) const { return trace_.tracks().kind[Row(spans_.track[span])]; }
  int64_t Begin(uint32_t span) const { return spans_.start[span].ns; }
  int64_t End(uint32_t span) const { return spans_.start[span].ns + spans_.duration[span].ns; }

  bool IsHost(uint32_t span) const {
    for (const SpanId step : trace_.steps().span)
      if (Row(step) == span) return false;
    return KindOfTrack(span) == TrackKind::kThread && (spans_.flags[span] & span_flags::kAsync) == 0 &&
           Category(span) != "Trace";
  }
  bool IsWork(uint32_t span) const {
    const std::string_view category = Category(span);
    return KindOfTrack(span) == TrackKind::kDeviceStream &&
           (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset");
  }
  // The host span of the rank with this correlation that begins first, selected or not.
  std::optional<uint32_t> CallOf(int64_t correlation) const {
    std::optional<uint32_t> call;
    for (uint32_t span = 0; span < spans_.size(); ++span) {
      if (RankOf(span) != rank_ || !IsHost(span) || correlation == 0 || spans_.correlation[span] != correlation)
        continue;
      if (!call || Begin(span) < Begin(*call)) call = span;
    }
    return call;
  }
  std::optional<uint32_t> LaunchOf(uint32_t work) const {
    const std::optional<uint32_t> call = CallOf(spans_.correlation[work]);
    return call && selected_[*call] != 0 ? call : std::nullopt;
  }
  std::optional<int64_t> Member(uint32_t span, const char* key) const {
    const std::string text(trace_.text(spans_.extra[span])), wanted = "\"" + std::string(key) + "\": ";
    const size_t at = text.find(wanted);
    if (at == std::string::npos) return std::nullopt;
    return std::atoll(text.c_str() + at + wanted.size());
  }
  std::vector<uint32_t> SyncsOfRank() const {
    std::vector<uint32_t> syncs;
    for (uint32_t span = 0; span < spans_.size(); ++span)
      if (RankOf(span) == rank_ && Category(span) == "cuda_sync") syncs.push_back(span);
    return syncs;
  }
  bool IsOnStream(uint32_t work, std::optional<int64_t> number, std::optional<int64_t> device) const {
    const uint32_t track = Row(spans_.track[work]);
    return trace_.tracks().tid[track] == number && trace_.tracks().device[track] == device;
  }
  // The last work that an event covers.
  std::optional<uint32_t> LastRecorded(uint32_t sync) const {
    const std::optional<uint32_t> record = CallOf(Member(sync, "wait_on_cuda_event_record_corr_id").value_or(0));
    std::optional<uint32_t> last;
    for (const uint32_t work : works_) {
      if (!record || !LaunchOf(work) || !IsOnStream(work, Member(sync, "wait_on_stream"), Member(sync, "device")))
        continue;
      if (Begin(*LaunchOf(work)) < Begin(*record)) last = work;
    }
    return last;
  }

  size_t LaneNode(size_t lane, int64_t time) {
    return lane_nodes_.try_emplace({lane, time}, nodes_).second ? nodes_++ : lane_nodes_.at({lane, time});
  }

  void AddLanes() {
    // Lanes: labels of threads, made equal until no flow joins two.
    for (const uint32_t span : host_)
      lane_of_[spans_.track[span]] = 0;
    for (uint32_t track = 0; track < trace_.tracks().size(); ++track)
      lane_of_[TrackId{track}] = track;
    for (bool changes = true; changes;) {
      changes = false;
      for (size_t i = 0; i < trace_.flows().size(); ++i) {
        const TrackId a = trace_.flows().start_track[i], b = trace_.flows().end_track[i];
        if (trace_.text(trace_.flows().category[i]) != "fwdbwd") continue;
        if (trace_.tracks().kind[Row(a)] != TrackKind::kThread || trace_.tracks().kind[Row(b)] != TrackKind::kThread)
          continue;
        if (RankOfTrackRow(a) != RankOfTrackRow(b) || lane_of_[a] == lane_of_[b]) continue;
        lane_of_[a] = lane_of_[b] = std::min(lane_of_[a], lane_of_[b]);
        changes = true;
      }
    }
    std::map<size_t, std::vector<uint32_t>> lanes;
    for (const uint32_t span : host_)
      lanes[lane_of_[spans_.track[span]]].push_back(span);
    std::set<size_t> main;
    for (const SpanId step : trace_.steps().span)
      if (RankOf(Row(step)) == rank_) main.insert(lane_of_[spans_.track[Row(step)]]);
    if (main.empty()) {
      int64_t most = -1;
      for (const auto& [lane, spans] : lanes) {
        std::set<int64_t> moments;
        for (const uint32_t span : spans)
          for (int64_t t = Begin(span); t < End(span); ++t)
            moments.insert(t);
        if (static_cast<int64_t>(moments.size()) <= most) continue;
        most = static_cast<int64_t>(moments.size());
        main = {lane};
      }
    }
    for (const auto& [lane, spans] : lanes) {
      std::vector<std::pair<int64_t, int64_t>> waits;
      for (const uint32_t span : spans)
        if (AwaitedBy(span)) waits.emplace_back(Begin(span), End(span));
      std::set<int64_t> times;
      for (const uint32_t span : spans)
        times.insert({Begin(span), End(span)});
      for (auto time = times.begin(); time != times.end(); ++time) {
        const size_t from = LaneNode(lane, *time);
        if (std::next(time) == times.end()) break;
        const int64_t end = *std::next(time);
        uint32_t owner = kNobody;
        for (const uint32_t span : spans) {
          if (Begin(span) > *time || End(span) < end) continue;
          const auto order = [&](uint32_t of) { return std::tuple(Begin(of), -spans_.duration[of].ns, of); };
          if (owner == kNobody || order(span) > order(owner)) owner = span;
        }
        int64_t weight = owner != kNobody || main.contains(lane) ? end - *time : 0;
        for (const auto& [wait_begin, wait_end] : waits)
          if (wait_begin <= *time && end <= wait_end) weight = 0;
        edges_.push_back({from, LaneNode(lane, end), weight,
                          owner == kNobody ? PathEdgeKind::kGap : PathEdgeKind::kHost, owner, *time});
      }
    }
  }

  void AddWorks() {
    for (const uint32_t work : works_) {
      begin_node_[work] = nodes_++;
      end_node_[work] = nodes_++;
    }
    std::map<TrackId, uint32_t> last_of_stream;
    std::map<uint32_t, uint32_t> before;
    for (const uint32_t work : works_) {
      if (last_of_stream.contains(spans_.track[work])) before[work] = last_of_stream[spans_.track[work]];
      last_of_stream[spans_.track[work]] = work;
    }
    std::map<uint32_t, std::vector<uint32_t>> awaited;
    for (const uint32_t sync : SyncsOfRank()) {
      if (Name(sync) != "Stream Wait Event") continue;
      const std::optional<uint32_t> own = CallOf(spans_.correlation[sync]), last = LastRecorded(sync);
      if (!own || !last) continue;
      for (const uint32_t work : works_) {
        if (!LaunchOf(work) || !IsOnStream(work, Member(sync, "stream"), Member(sync, "device"))) continue;
        if (Begin(*LaunchOf(work)) <= Begin(*own)) continue;
        if (work != *last) awaited[work].push_back(*last);  // a work does not wait for itself
        break;
      }
    }
    for (const uint32_t work : works_) {
      const std::string_view name = Name(work);
      PathEdgeKind kind = name.starts_with("nccl") ? PathEdgeKind::kCommunication : PathEdgeKind::kCompute;
      if (Category(work) != "kernel") kind = PathEdgeKind::kCopy;
      edges_.push_back({begin_node_[work], end_node_[work], End(work) - Begin(work), kind, work, Begin(work)});
      struct Release {
        size_t node;
        int64_t time;
        bool is_launch;
      };
      std::vector<Release> releases;
      if (const auto launch = LaunchOf(work))
        releases.push_back({LaneNode(lane_of_[spans_.track[*launch]], Begin(*launch)), Begin(*launch), true});
      if (before.contains(work)) releases.push_back({end_node_[before[work]], End(before[work]), false});
      for (const uint32_t each : awaited[work])
        releases.push_back({end_node_[each], End(each), false});
      std::erase_if(releases, [&](const Release& release) { return release.time > Begin(work); });
      const auto earlier = [](const Release& a, const Release& b) { return a.time < b.time; };
      const auto latest = std::max_element(releases.begin(), releases.end(), earlier);  // the first of equal ones
      for (auto release = releases.begin(); release != releases.end(); ++release) {
        edges_.push_back({release->node, begin_node_[work], release == latest ? Begin(work) - release->time : 0,
                          release->is_launch ? PathEdgeKind::kLaunch : PathEdgeKind::kQueue,
                          release->is_launch ? *LaunchOf(work) : work, release->time});
      }
    }
  }

  // The work that a host span waits for.
  std::optional<uint32_t> AwaitedBy(uint32_t call) const {
    const std::string_view name = Name(call);
    const bool is_copy = name == "cudaMemcpy" || name == "hipMemcpy";
    const bool is_sync = name == "cudaDeviceSynchronize" || name == "cudaStreamSynchronize" ||
                         name == "cudaEventSynchronize" || name == "hipStreamSynchronize";
    if (!is_copy && !is_sync) return std::nullopt;
    std::optional<uint32_t> sync;
    for (const uint32_t each : SyncsOfRank()) {
      if (spans_.correlation[call] == 0 || spans_.correlation[each] != spans_.correlation[call]) continue;
      if (!sync || Begin(each) < Begin(*sync)) sync = each;
    }
    std::optional<uint32_t> awaited;
    for (const uint32_t work : works_) {
      if (End(work) <= Begin(call) || End(work) > End(call)) continue;
      if (is_copy) {
        if (Category(work) == "kernel" || spans_.correlation[call] == 0) continue;
        if (spans_.correlation[work] != spans_.correlation[call]) continue;
      } else {
        if (!LaunchOf(work) || Begin(*LaunchOf(work)) >= Begin(call)) continue;
        if (sync && Name(*sync) == "Stream Sync" && !IsOnStream(work, Member(*sync, "stream"), Member(*sync, "device")))
          continue;
        if (sync && Name(*sync) == "Event Sync" && LastRecorded(*sync) != work) continue;
      }
      if (!awaited || End(work) > End(*awaited)) awaited = work;
    }
    return awaited;
  }

  void AddSyncs() {
    for (const uint32_t call : host_) {
      if (const std::optional<uint32_t> work = AwaitedBy(call)) {
        edges_.push_back({end_node_[*work], LaneNode(lane_of_[spans_.track[call]], End(call)), End(call) - End(*work),
                          PathEdgeKind::kSync, call, End(*work)});
      }
    }
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  int32_t rank_;
  const std::vector<uint8_t>& selected_;
  std::vector<uint32_t> host_, works_;
  size_t nodes_ = 0;
  std::map<TrackId, size_t> lane_of_;
  std::map<std::pair<size_t, int64_t>, size_t> lane_nodes_;
  std::map<uint32_t, size_t> begin_node_, end_node_;
  std::vector<Edge> edges_;
};

}  // namespace opscope
