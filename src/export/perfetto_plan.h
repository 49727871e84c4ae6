// Assigns the numbers of a Perfetto trace before several threads write its packets: the uuid of each track, the number
// of each interned text, the flow ends of each span.
//
// All packets belong to one sequence, and every text is interned before the first event. Numbers are given in order of
// first use, so the file depends only on the contents of the Trace.
//
// Construction costs O(rows log rows). Thread rule: immutable after construction, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "export/span_lanes.h"
#include "opscope/analysis/memory_instants.h"
#include "opscope/trace.h"

namespace opscope {

// Annotations that stand for columns. The number in the file is the enumerator plus one; keys of `extra` get the
// numbers after kCount.
enum class KnownAnnotation : uint32_t {
  kExternalId,
  kSequence,
  kForwardThread,
  kCorrelation,
  kConcreteInputs,
  kInputTypes,
  kInputStrides,
  kInputDims,
  kCallStack,
  kPythonThread,
  kPythonCaller,
  kPythonId,
  kPythonModule,
  kFinished,
  kBytes,
  kAddress,
  kTotalAllocated,
  kTotalReserved,
  kDeviceType,
  kDeviceId,
  kAsyncId,
  kCount
};
inline constexpr std::string_view kAnnotationNames[] = {"External id",
                                                        "Sequence number",
                                                        "Fwd thread id",
                                                        "correlation",
                                                        "Concrete Inputs",
                                                        "Input type",
                                                        "Input Strides",
                                                        "Input Dims",
                                                        "Call stack",
                                                        "Python thread",
                                                        "Python parent id",
                                                        "Python id",
                                                        "Python module id",
                                                        "finished",
                                                        "Bytes",
                                                        "Addr",
                                                        "Total Allocated",
                                                        "Total Reserved",
                                                        "Device Type",
                                                        "Device Id",
                                                        "id"};

// One end of a flow at a span. Flows get new ids, because one id of the Trace may join several arrows.
struct PerfettoFlowEnd {
  uint64_t id;
  bool arrives;
};

// Async spans of one name and track that do not overlap.
struct AsyncLane {
  TrackId track;
  StringId name;
  std::vector<uint32_t> rows;
};

struct CounterTrack {
  TrackId track;
  StringId name, series;
};

// Gives ids consecutive numbers from 1 in order of first use.
class FirstUseNumbering {
 public:
  explicit FirstUseNumbering(size_t ids) : number_(ids, 0) {}
  void Use(uint32_t id) {
    if (id >= number_.size() || number_[id] != 0) return;  // kNone, or already numbered
    ids_.push_back(id);
    number_[id] = static_cast<uint32_t>(ids_.size());
  }
  uint64_t Of(uint32_t id) const { return number_[id]; }  // REQUIRES: Use(id) was called
  const std::vector<uint32_t>& ids() const { return ids_; }

 private:
  std::vector<uint32_t> number_;  // 0: not used
  std::vector<uint32_t> ids_;
};

class PerfettoPlan {
 public:
  explicit PerfettoPlan(const Trace& trace);

  const ExportTimes& times() const { return times_; }
  const SpanLanes& lanes() const { return lanes_; }
  const MemoryInstants& instants() const { return instants_; }
  const std::vector<AsyncLane>& async_lanes() const { return async_lanes_; }
  const std::vector<CounterTrack>& counter_tracks() const { return counter_tracks_; }

  // Track uuids. A track and its kNested lane share one.
  uint64_t OfProcess(ProcessId process) const { return 1 + Row(process); }
  uint64_t OfTrack(TrackId track) const { return first_track_ + Row(track); }
  uint64_t OfLane(size_t lane) const {
    const Lane& of = lanes_.lanes()[lane];
    return of.kind == LaneKind::kNested ? OfTrack(of.track) : first_lane_ + lane;
  }
  uint64_t OfAsyncLane(size_t lane) const { return first_async_ + lane; }
  uint64_t OfCounter(size_t counter_track) const { return first_counter_ + counter_track; }
  uint64_t OfCounterRow(size_t row) const { return OfCounter(counter_of_row_[row]); }
  uint64_t GlobalTrack() const { return first_counter_ + counter_tracks_.size(); }  // instants of no process

  // Numbers of interned texts.
  uint64_t NameOf(uint32_t span) const;
  uint64_t Name(StringId id) const { return names_.Of(NameRow(id)); }
  uint64_t MemoryName() const { return names_.ids().size() + overloads_.size() + 1; }  // "[memory]", of allocations
  uint64_t Category(StringId id) const { return categories_.Of(Row(id)); }
  uint64_t ArgumentText(ArgsId args, KnownAnnotation which) const {
    return arguments_.Of(Row(args)) * 4 - 3 + static_cast<uint64_t>(which) -
           static_cast<uint64_t>(KnownAnnotation::kConcreteInputs);
  }
  uint64_t StackText(StackId stack) const { return arguments_.ids().size() * 4 + stacks_.Of(Row(stack)); }
  static uint64_t Annotation(KnownAnnotation known) { return static_cast<uint64_t>(known) + 1; }
  uint64_t MemberName(std::string_view key) const { return member_numbers_.find(key).value(); }

  const FirstUseNumbering& names() const { return names_; }                  // StringId
  const FirstUseNumbering& categories() const { return categories_; }        // StringId
  const FirstUseNumbering& arguments() const { return arguments_; }          // ArgsId
  const FirstUseNumbering& stacks() const { return stacks_; }                // StackId
  const std::vector<uint32_t>& overloads() const { return overloads_; }      // a span of each name with overload
  const std::vector<std::string_view>& members() const { return members_; }  // keys of `extra`, as spelt there

  // The range [begin, end) of flow_ends() for a span.
  std::pair<size_t, size_t> FlowEndsOf(uint32_t span) const {
    if (first_flow_end_.empty()) return {0, 0};
    return {first_flow_end_[span], first_flow_end_[span + 1]};
  }
  const std::vector<PerfettoFlowEnd>& flow_ends() const { return flow_ends_; }
  uint64_t flows_without_span() const { return flows_without_span_; }
  uint64_t flows_back_in_time() const { return flows_back_; }

 private:
  // A span of a damaged file may have no name; it gets the empty one.
  static uint32_t NameRow(StringId id) { return id == StringId::kNone ? Row(StringId::kEmpty) : Row(id); }
  void FindTexts();
  void FindMembers(StringId extra);
  void PartAsyncSpans();
  void FindCounters();
  void JoinFlows();

  const Trace& trace_;
  const ExportTimes times_;
  const SpanLanes lanes_;
  const MemoryInstants instants_;
  std::vector<AsyncLane> async_lanes_;
  std::vector<CounterTrack> counter_tracks_;
  std::vector<uint32_t> counter_of_row_;
  uint64_t first_track_ = 0, first_lane_ = 0, first_async_ = 0, first_counter_ = 0;

  FirstUseNumbering names_, categories_, arguments_, stacks_;
  std::vector<uint32_t> overloads_;
  tsl::robin_map<uint64_t, uint64_t, MixedHash> overload_numbers_;  // by name and overload
  std::vector<bool> seen_extra_;                                    // by StringId
  std::vector<std::string_view> members_;
  tsl::robin_map<std::string_view, uint64_t> member_numbers_;

  std::vector<PerfettoFlowEnd> flow_ends_;
  std::vector<uint32_t> first_flow_end_;  // by span, with one entry more at the end; empty without flows
  uint64_t flows_without_span_ = 0, flows_back_ = 0;
};

}  // namespace opscope
