// Sums the spans of a range of time by name, in one pass over all spans.
//
//   outer [0,100)   inner [40,60) in outer      range [50,80): outer has 30, of which inner covers 10; inner has 10
//
// The pass is that of self times (span_walk.h), with every span clipped to the range: a sum of lengths of clipped spans
// is the length of the clipped sum. To look only at the spans of the range would not do: a span that ended before may
// have cut the self time of one that goes on, and that one would be found only through its children.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/select_range.h"

#include <algorithm>
#include <utility>

#include "analysis/row_chunks.h"
#include "analysis/span_walk.h"
#include "base/in_order.h"
#include "base/saturating.h"

namespace opscope {
namespace {

// Sums by name, and the visitor that adds to them.
class SelectionSums {
 public:
  SelectionSums(const Trace& trace, int64_t begin, int64_t end)
      : trace_(trace), begin_(begin), end_(end), index_(trace.string_count(), kNotYet) {}

  void Enter(OpenSpan* span, const OpenSpan*) {
    const SpanColumns& spans = trace_.spans();
    const int64_t start = spans.start[span->row].ns, duration = spans.duration[span->row].ns;
    const int64_t end = SaturatingAdd(start, duration);
    const bool overlaps = start < end_ && (end > begin_ || (duration == 0 && start == begin_));
    if (!overlaps) return;
    SelectedName& sums = Of(spans.name[span->row]);
    ++sums.count;
    const int64_t part = SaturatingSubtract(std::min(end, end_), std::max(start, begin_));
    sums.total_with_recursion_ns = SaturatingAdd(sums.total_with_recursion_ns, part);
  }
  void EnterAncestor(OpenSpan*, const OpenSpan*) {}
  void Close(const OpenSpan&) {}
  void Complete(const OpenSpan& span) {
    const int64_t self = span.self_ns();
    if (self == 0) return;
    SelectedName& sums = Of(trace_.spans().name[span.row]);
    sums.self_ns = SaturatingAdd(sums.self_ns, self);
  }

  void Add(const SelectionSums& other) {
    for (const SelectedName& row : other.rows_) {
      SelectedName& sums = Of(row.name);
      sums.count += row.count;
      sums.total_with_recursion_ns = SaturatingAdd(sums.total_with_recursion_ns, row.total_with_recursion_ns);
      sums.self_ns = SaturatingAdd(sums.self_ns, row.self_ns);
    }
  }
  std::vector<SelectedName> Take() && { return std::move(rows_); }

 private:
  static constexpr uint32_t kNotYet = 0xffffffff;

  SelectedName& Of(StringId name) {
    if (name == StringId::kNone) name = StringId::kEmpty;  // of a damaged file
    uint32_t& index = index_[Row(name)];
    if (index == kNotYet) {
      index = static_cast<uint32_t>(rows_.size());
      rows_.push_back({.name = name});
    }
    return rows_[index];
  }

  const Trace& trace_;
  int64_t begin_, end_;
  std::vector<uint32_t> index_;  // of rows_, by name
  std::vector<SelectedName> rows_;
};

}  // namespace

std::vector<SelectedName> SelectRange(const Trace& trace, int64_t begin_ns, int64_t end_ns, uint32_t max_threads) {
  if (begin_ns >= end_ns || trace.spans().size() == 0) return {};
  const RowChunks chunks(trace.spans().size());
  ThreadTeam team(chunks.Members(max_threads));
  std::vector<SelectionSums> sums;
  for (size_t member = 0; member < team.size(); ++member)
    sums.emplace_back(trace, begin_ns, end_ns);
  SelectionSums whole(trace, begin_ns, end_ns);
  std::vector<WalkedRows> walked(chunks.count());
  InOrder order(walked.size());
  SpansCrossingChunks across;
  const auto complete = [&](const OpenSpan& span) { whole.Complete(span); };
  team.ForEach(chunks.count(), [&](size_t chunk, size_t member) {
    walked[chunk] = SpanWalk(trace, &sums[member], begin_ns, end_ns).Walk(chunks.begin(chunk), chunks.end(chunk));
    order.Finished(chunk, [&](size_t next) { across.Add(std::exchange(walked[next], {}), complete); });
  });
  across.End(complete);
  for (const SelectionSums& part : sums)
    whole.Add(part);
  std::vector<SelectedName> rows = std::move(whole).Take();
  // A span that the range does not overlap has no self time in it; one of a damaged file may all the same.
  std::erase_if(rows, [](const SelectedName& row) { return row.count == 0; });
  std::sort(rows.begin(), rows.end(), [&](const SelectedName& a, const SelectedName& b) {
    if (a.total_with_recursion_ns != b.total_with_recursion_ns)
      return a.total_with_recursion_ns > b.total_with_recursion_ns;
    return trace.text(a.name) < trace.text(b.name);
  });
  return rows;
}

}  // namespace opscope
