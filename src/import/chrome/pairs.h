// Pairs events that belong together: B/E on a track, b/e of an asynchronous range, s/t/f of a flow. A file need not be
// in order of time, so the events are collected and paired at the end.
//
//  B, E     by track and time, at equal times in file order: an E closes the newest open B. If a track has no other
//           events, that order also is its tree: B z 5, E z 5, B q 5, E q 9 are siblings.
//   b, e     by (category, id), in order of time: an e closes the newest open b of its name, else the newest.
//   s, t, f  by (category, id): every t and f is joined to the latest s at or before it, else to the first s.
//   bind_id  by id alone: a range with flow_in is joined to the latest other range with flow_out at or before it.
//
// Ids are compared within their scope, and local ids within their process (ids.h).
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/column.h"
#include "import/chrome/dialect.h"
#include "import/chrome/tracks.h"
#include "trace/builder.h"

namespace opscope {

class ChromePairs {
 public:
  // The `row` of an E has its time as start, its name and its extra members.
  struct Half {
    SpanRow row;
    int64_t offset = 0;
    bool begin = false;
    AddedSpan span = AddedSpan::kNone;  // of a B: its reserved span, which is filled when the end is known
    int64_t step = -1;                  // number of the step; -1: not a B of a step
  };
  struct AsyncHalf {
    AsyncSpanRow row;
    StringId pairing_id = StringId::kEmpty;
    bool is_local = false;  // pairing_id belongs to its process
    int64_t offset = 0;
    bool begin = false;  // b, not e
  };
  static constexpr uint64_t kMaxDomains = (uint64_t{1} << 20) - 1;
  // Order of points with equal id and time. A range at which one flow ends and the next begins has two points.
  enum FlowOrder : uint64_t { kFlowStart, kFlowStepEnd, kFlowStepStart, kFlowEnd };
  struct FlowPoint {
    uint64_t id = 0;
    StringId category = StringId::kEmpty, name = StringId::kEmpty;
    Timestamp time;
    TrackId track = TrackId::kNone;
    AddedSpan span = AddedSpan::kNone;
    // Bit fields, because a file has a point for every few events and all are kept until the end.
    uint64_t order : 2 = kFlowEnd;
    uint64_t is_binding : 1 = 0;  // `id` is a "bind_id"
    uint64_t is_global : 1 = 0;   // `id` is spelt as a global id ("id2"), which equals the plain id
    // Points belong together if id and domain are equal. 0: no scope, all processes. In a part the StringId of
    // FlowColumns::id_scope.
    uint64_t domain : 20 = 0;
    uint64_t offset : 40 = 0;

    bool is_start() const { return order == kFlowStart || order == kFlowStepStart; }
  };

  // tracks: the last time of each track, at which ranges without an E end.
  ChromePairs(const ChromeDialects& dialects, const ChromeTracks* tracks, TraceBuilder* builder)
      : dialects_(dialects), builder_(builder), tracks_(tracks) {}

  void Add(const Half& half) { halves_.push_back(half); }
  void Add(const AsyncHalf& half) { async_halves_.push_back(half); }
  void Add(const FlowPoint& point) { flow_points_.push_back(point); }
  std::vector<Half>& halves() { return halves_; }  // to complete them before Finish
  // Sets the FlowColumns::id_scope of a domain.
  void SetFlowScope(uint64_t domain, bool is_global, StringId id_scope) {
    flow_scopes_[2 * domain + (is_global ? 1 : 0)] = id_scope;
  }

  // Like TraceBuilder::FillMissingTimes, for the events added here.
  void FillMissingTimes();
  // Adds the rows. Returns the number of events without a partner.
  uint64_t Finish();
  uint64_t memory_bytes() const;

  // Number of members whose value at the end differed from that at the begin: a problem only with
  // ChromeDialect::ends_repeat_begins.
  struct Replaced {
    uint64_t count = 0;
    int64_t first_offset = -1;
  };
  const Replaced& replaced() const { return replaced_; }

 private:
  class FlowJoiner;

  template <typename Visit>
  void ForEachTime(Visit visit);
  template <typename End>
  void MergeMembers(const End& end, End* begin);
  uint64_t JoinHalves();
  uint64_t JoinHalvesOfTrack(std::span<const uint32_t> order);
  void SetSpansOfTrack(std::span<const uint32_t> order, size_t spans_of_track);
  uint64_t JoinAsyncHalves();
  uint64_t JoinFlows();
  void Renumber(std::span<const uint32_t> points);
  uint64_t JoinFlow(std::span<const uint32_t> points);
  void AddFlow(const FlowPoint& from, const FlowPoint& to);
  AddedSpan SpanOf(const FlowPoint& point) const;

  const ChromeDialects& dialects_;
  TraceBuilder* builder_;
  const ChromeTracks* tracks_;
  std::vector<Half> halves_;
  std::vector<AsyncHalf> async_halves_;
  Column<FlowPoint> flow_points_;
  std::unordered_map<uint64_t, StringId> flow_scopes_;  // by domain, twice, and is_global
  std::unordered_map<AddedSpan, AddedSpan> moved_;      // Half::span -> the span of a B that was moved
  Replaced replaced_;
};

}  // namespace opscope
