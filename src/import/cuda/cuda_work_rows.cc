// Build must sort rows that are not in the order of their tracks and times, which costs more than writing them. Records
// of all streams are mixed, but those of one stream are in order. So this is a counting sort: the rows of each stream
// are counted, each stream gets a block of rows, and each record goes to the next row of its block.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_work_rows.h"

#include <numeric>

namespace opscope {

void CudaWorkRows::Begin() {
  groups_.clear();
  rows_.clear();
  least_ = UINT32_MAX, greatest_ = 0;
  has_optional_ = false;
  placed_ = added_ = arrows_ = 0;
}

uint32_t CudaWorkRows::GroupOf(uint32_t device, uint32_t stream) {
  const auto [group, is_new] = groups_.try_emplace({device, stream}, static_cast<uint32_t>(rows_.size()));
  if (is_new) rows_.push_back(0);
  return group->second;
}

// Rows are grouped only if all work gets a row, because a reserved row in a group must not stay empty. Numbers wrap: a
// number is before that of a call if the distance is less than half of all numbers.
void CudaWorkRows::Place(bool has_calls, uint32_t earliest_call, bool has_ids) {
  constexpr uint32_t kHalf = uint32_t{1} << 31;
  placed_ = std::accumulate(rows_.begin(), rows_.end(), size_t{0});
  if (placed_ == 0) return;
  const bool none_is_before = !has_calls || (least_ >= earliest_call && greatest_ - earliest_call < kHalf);
  is_grouped_ = !has_optional_ && none_is_before;
  uint32_t next = 0;
  for (uint32_t& row : rows_)
    row = std::exchange(next, next + row);
  first_ = static_cast<uint32_t>(builder_->span_count());
  memory_ =
      builder_->AppendSpanRows(placed_, {.kind = true, .correlation = true, .external_id = has_ids, .extra = true});
  arrow_memory_ = builder_->AppendFlowRows(placed_);
}

void CudaWorkRows::End() {
  builder_->DropSpanRows(placed_ - added_);
  builder_->DropFlowRows(placed_ - arrows_);
}

}  // namespace opscope
