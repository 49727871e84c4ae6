// Each track has a stack of open ranges. A row is reserved when its range begins and written when it ends, so rows are
// in pre-order, with known depth and parent, and Build need not sort or nest them. An end closes the newest range with
// its key; open ranges inside it are closed as unfinished.
// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/open_spans.h"

#include <algorithm>

#include "import/megengine/replay_record.h"

namespace opscope {

void OpenSpans::Expect(size_t rows) {
  next_ = static_cast<uint32_t>(builder_->AppendSpans(rows));
  left_ = rows;
}

AddedSpan OpenSpans::TakeRow() {
  if (left_ == 0) return builder_->AppendSpans(1);
  --left_;
  return AddedSpan{next_++};
}

void OpenSpans::Begin(const RangeKey& key, const SpanRow& row) {
  Track& track = tracks_[row.track];
  track.last = std::max(track.last, row.start);
  track.open.push_back({TakeRow(), key, row});
}

// Ends the ranges from this depth on.
void OpenSpans::Close(Track* track, size_t depth, Timestamp time, bool is_finished) {
  track->last = std::max(track->last, time);
  for (size_t at = track->open.size(); at-- > depth;) {
    Open& open = track->open[at];
    open.row.duration = LengthOf(open.row.start, time);
    open.row.depth = static_cast<uint16_t>(std::min<size_t>(at, UINT16_MAX));
    if (at != depth || !is_finished) open.row.flags |= span_flags::kUnfinished;
    open.row.parent = at == 0 ? AddedSpan::kNone : track->open[at - 1].place;
    builder_->SetSpan(open.place, open.row);
  }
  track->open.resize(depth);
}

bool OpenSpans::End(TrackId id, const RangeKey& key, Timestamp time) {
  Track& track = tracks_[id];
  for (size_t at = track.open.size(); at-- > 0;) {
    if (!(track.open[at].key == key)) continue;
    Close(&track, at, time, true);
    return true;
  }
  return false;
}

SpanRow* OpenSpans::Newest(TrackId id, uint32_t event) {
  Track& track = tracks_[id];
  for (size_t at = track.open.size(); at-- > 0;) {
    if (track.open[at].key.event == event) return &track.open[at].row;
  }
  return nullptr;
}

void OpenSpans::Abandon(TrackId id, uint32_t event, Timestamp time) {
  Track& track = tracks_[id];
  for (size_t at = track.open.size(); at-- > 0;) {
    if (track.open[at].key.event == event) return Close(&track, at, time, false);
  }
}

void OpenSpans::Add(const SpanRow& row) {
  builder_->SetSpan(TakeRow(), row);
  const auto [device, is_new] = devices_.try_emplace(row.track, Device{row.start});
  device->second.in_order &= is_new || row.start >= device->second.last;
  device->second.last = row.start;
}

void OpenSpans::Finish() {
  for (auto& [id, track] : tracks_) {
    Close(&track, 0, track.last, false);
    builder_->SetNested(id);
  }
  // A device runs one thing at a time; with a coarse clock they may touch or overlap.
  for (const auto& [id, device] : devices_)
    device.in_order ? builder_->SetPreOrdered(id) : builder_->SetCrossing(id);
  builder_->DropSpanRows(left_);
  left_ = 0;
  tracks_.clear();
}

}  // namespace opscope
