// Reserves span rows for device work, grouped by stream, so that Build need not move them. If some work might get no
// row, the rows are in the order of the records instead.
//
//   Begin; Count for each work that may get a row; Place; Add for each that gets one, AddArrow if it has a flow; End
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/builder.h"

namespace opscope {

struct CudaWork {
  Timestamp start = {};
  Duration duration = {};
  StringId name = StringId::kEmpty, category = StringId::kEmpty;
  TrackId track = TrackId::kNone;
  SpanKind kind = kForcedOther;
  uint32_t correlation = 0, external_id = 0;
  StringId extra = StringId::kNone;
};

class CudaWorkRows {
 public:
  explicit CudaWorkRows(TraceBuilder* builder) : builder_(builder) {}

  void Begin();
  // The group of a stream. Groups are numbered in the order of their first record.
  uint32_t GroupOf(uint32_t device, uint32_t stream);
  // is_optional: the work may get no row, even if its correlation number is not before those of all calls.
  void Count(uint32_t group, uint32_t correlation, bool is_optional) {
    ++rows_[group];
    least_ = std::min(least_, correlation), greatest_ = std::max(greatest_, correlation);
    has_optional_ |= is_optional;
  }
  // Reserves the rows. earliest_call: correlation number of the first call, if has_calls. has_ids: some row has an
  // external id.
  void Place(bool has_calls, uint32_t earliest_call, bool has_ids);
  // Adds a flow that ends at one of the rows.
  void AddArrow(const FlowRow& arrow) {
    const size_t row = arrows_++;
    arrow_memory_.id[row] = arrow.id;
    arrow_memory_.category[row] = arrow.category, arrow_memory_.name[row] = arrow.name;
    arrow_memory_.start_time[row] = arrow.start_time, arrow_memory_.start_track[row] = arrow.start_track;
    arrow_memory_.start_span[row] = static_cast<SpanId>(arrow.start_span);
    arrow_memory_.end_time[row] = arrow.end_time, arrow_memory_.end_track[row] = arrow.end_track;
    arrow_memory_.end_span[row] = static_cast<SpanId>(arrow.end_span);
  }
  AddedSpan Add(uint32_t group, const CudaWork& work) {
    const uint32_t row = rows_[is_grouped_ ? group : 0]++;
    memory_.start[row] = work.start, memory_.duration[row] = work.duration;
    memory_.name[row] = work.name, memory_.category[row] = work.category;
    memory_.track[row] = work.track;
    memory_.parent[row] = SpanId::kNone, memory_.depth[row] = 0;
    memory_.kind[row] = work.kind;
    memory_.correlation[row] = work.correlation;
    if (memory_.external_id != nullptr) memory_.external_id[row] = work.external_id;
    memory_.extra[row] = work.extra;
    ++added_;
    return static_cast<AddedSpan>(first_ + row);
  }
  void End();

 private:
  TraceBuilder* builder_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> groups_;  // by device and stream
  std::vector<uint32_t> rows_;                                // by group: the number of rows; after Place the next row
  uint32_t least_ = UINT32_MAX, greatest_ = 0;                // correlation numbers
  bool has_optional_ = false, is_grouped_ = false;
  SpanMemory memory_;
  FlowMemory arrow_memory_;
  uint32_t first_ = 0;
  size_t placed_ = 0, added_ = 0, arrows_ = 0;
};

}  // namespace opscope
