// Two lookups per device record must be cheap: the call by correlation number, and the operator around the call.
// Correlation numbers of a window are nearly consecutive, so the index is an array from the first to the last number;
// if they are sparse it is a sorted list. Operators are found before any device record is read: per thread, calls and
// operators are visited together in order of time, with a stack of the open ones:
//
//   operators   [ aten::linear   [ aten::addmm ]        ]
//   calls                           ^ cudaLaunchKernel -> External id of aten::addmm
//
// A search per call would cost the logarithm of the number of operators for each.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_calls.h"

#include <algorithm>
#include <new>

namespace opscope {
namespace {

// A walk forward in time over nested spans of one track: the spans that are open at each time.
class OpenSpans {
 public:
  OpenSpans(const SpanColumns& spans, std::span<const uint32_t> external_ids, StringId cpu_op, StringId user_annotation)
      : spans_(spans), external_ids_(external_ids), cpu_op_(cpu_op), user_annotation_(user_annotation) {}

  void Begin(std::vector<uint32_t> rows) {
    rows_ = std::move(rows);
    const auto is_before = [&](uint32_t a, uint32_t b) {
      if (spans_.start[a] != spans_.start[b]) return spans_.start[a] < spans_.start[b];
      return spans_.duration[a] > spans_.duration[b];
    };
    if (!std::is_sorted(rows_.begin(), rows_.end(), is_before)) std::stable_sort(rows_.begin(), rows_.end(), is_before);
    next_ = 0;
    open_.clear();
  }

  // REQUIRES: not before the time of the last call.
  void MoveTo(Timestamp time) {
    for (; next_ < rows_.size() && spans_.start[rows_[next_]] <= time; ++next_) {
      CloseUntil(spans_.start[rows_[next_]]);
      Open(rows_[next_]);
    }
    CloseUntil(time);
  }
  uint32_t operator_id() const { return open_.empty() ? 0 : open_.back().operator_id; }
  AddedSpan range() const { return open_.empty() ? AddedSpan::kNone : open_.back().range; }

 private:
  // A span, and the innermost operator and range among the span and its ancestors.
  struct OpenSpan {
    uint32_t row;
    uint32_t operator_id;
    AddedSpan range;
  };
  void Open(uint32_t row) {
    OpenSpan span{row, operator_id(), range()};
    if (spans_.category[row] == cpu_op_ && row < external_ids_.size()) span.operator_id = external_ids_[row];
    if (spans_.category[row] == user_annotation_) span.range = AddedSpan{row};
    open_.push_back(span);
  }
  void CloseUntil(Timestamp time) {
    while (!open_.empty() && spans_.start[open_.back().row] + spans_.duration[open_.back().row] < time)
      open_.pop_back();
  }

  const SpanColumns& spans_;
  const std::span<const uint32_t> external_ids_;
  const StringId cpu_op_, user_annotation_;
  std::vector<uint32_t> rows_;
  std::vector<OpenSpan> open_;
  size_t next_ = 0;
};

}  // namespace

CudaCalls::CudaCalls(TraceBuilder* builder, const CudaNaming& naming)
    : builder_(builder),
      naming_(naming),
      runtime_(builder->Intern(naming.runtime_call)),
      driver_(builder->Intern(naming.driver_call)),
      cpu_op_(builder->Intern("cpu_op")),
      user_annotation_(builder->Intern("user_annotation")) {
}

void CudaCalls::Begin(ProcessId process, int64_t pid) {
  process_ = process;
  calls_.clear();
  has_external_ids_ = false;
  threads_.clear();
  last_track_ = TrackId::kNone;
  for (uint32_t track = 0; track < builder_->track_count(); ++track) {
    const TrackRow& row = builder_->track(TrackId{track});
    if (row.kind != TrackKind::kThread || builder_->process(row.process).pid != pid) continue;
    threads_.try_emplace(static_cast<uint32_t>(row.tid), TrackId{track});
  }
}

void CudaCalls::Reserve(size_t count) {
  calls_.reserve(count);
  rows_ = count;
  used_ = 0;
  first_row_ = static_cast<uint32_t>(builder_->span_count());
  if (count > 0) spans_ = builder_->AppendSpanRows(count, {.kind = true, .correlation = true, .extra = true});
}

const CudaCalls::Name& CudaCalls::NewName(StringId raw, bool is_driver) {
  std::vector<Name>& names = names_[is_driver ? 1 : 0];
  if (Row(raw) >= names.size()) names.resize(Row(raw) + 1);
  const std::string text(builder_->text(raw));
  return names[Row(raw)] = {.name = builder_->Intern(naming_.CallName(text)),
                            .is_shown = naming_.IsShownCall(text, is_driver),
                            .is_launch = naming_.IsLaunch(text)};
}

TrackId CudaCalls::FindTrack(uint32_t thread) {
  const auto [found, is_new] = threads_.try_emplace(thread, TrackId::kNone);
  if (is_new) {
    found->second =
        builder_->AddTrack({.process = process_, .kind = TrackKind::kThread, .tid = static_cast<int64_t>(thread)});
  }
  last_thread_ = thread;
  last_track_ = found->second;
  tracks_.insert(last_track_);
  return last_track_;
}

AddedSpan CudaCalls::AddSpan(const CudaRecord& record, const Name& name, TrackId track, StringId members) {
  const bool is_driver = record.event == CudaEvent::kDriverCall;
  const size_t row = used_++;
  spans_.start[row] = record.start, spans_.duration[row] = record.duration;
  if (record.duration.ns < 0) {
    builder_->AddProblem("negative_duration", -1);
    spans_.duration[row] = {};
  }
  spans_.name[row] = name.name, spans_.category[row] = is_driver ? driver_ : runtime_;
  spans_.track[row] = track;
  spans_.parent[row] = SpanId::kNone, spans_.depth[row] = 0;
  spans_.kind[row] = is_driver ? SpanKind::kDriverCall : SpanKind::kRuntimeCall;
  spans_.correlation[row] = record.correlation;
  spans_.extra[row] = members;
  return static_cast<AddedSpan>(first_row_ + row);
}

// REQUIRES: not more calls than there are rows.
void CudaCalls::Add(const CudaRecord& record, uint32_t thread, StringId members) {
  if (calls_.empty()) earliest_ = first_ = last_ = record.correlation;
  if (static_cast<int32_t>(record.correlation - earliest_) < 0) earliest_ = record.correlation;
  first_ = std::min(first_, record.correlation), last_ = std::max(last_, record.correlation);
  const bool is_driver = record.event == CudaEvent::kDriverCall;
  const Name& name = NameOf(record.name, is_driver);
  const TrackId track = TrackOf(thread);
  const AddedSpan span = name.is_shown ? AddSpan(record, name, track, members) : AddedSpan::kNone;
  calls_.resize_unset(calls_.size() + 1);
  // constructed in place: copying a temporary would stall on its partial stores
  ::new (&calls_.back()) CudaCall{.start = record.start,
                                  .correlation = record.correlation,
                                  .track = track,
                                  .span = span,
                                  .is_driver = is_driver,
                                  .is_launch = name.is_launch};
}

void CudaCalls::PlaceAmongOperators() {
  std::vector<std::vector<uint32_t>> calls(builder_->track_count()), rows(builder_->track_count());
  std::vector<uint8_t> has_calls(builder_->track_count(), 0);
  for (const TrackId track : tracks_)
    has_calls[Row(track)] = 1;
  const SpanColumns spans = builder_->added_spans();
  bool has_rows = false;
  for (uint32_t row = 0; row < first_row_; ++row) {
    const bool is_of_interest = spans.category[row] == cpu_op_ || spans.category[row] == user_annotation_;
    if (!is_of_interest || has_calls[Row(spans.track[row])] == 0) continue;
    if ((spans.flags[row] & span_flags::kAsync) != 0) continue;
    rows[Row(spans.track[row])].push_back(row);
    has_rows = true;
  }
  if (!has_rows) return;
  for (uint32_t i = 0; i < calls_.size(); ++i)
    calls[Row(calls_[i].track)].push_back(i);
  OpenSpans open(spans, builder_->external_ids(), cpu_op_, user_annotation_);
  for (size_t track = 0; track < calls.size(); ++track) {
    if (calls[track].empty() || rows[track].empty()) continue;
    const auto is_before = [&](uint32_t a, uint32_t b) { return calls_[a].start < calls_[b].start; };
    if (!std::is_sorted(calls[track].begin(), calls[track].end(), is_before)) {
      std::stable_sort(calls[track].begin(), calls[track].end(), is_before);
    }
    open.Begin(std::move(rows[track]));
    for (const uint32_t i : calls[track]) {
      open.MoveTo(calls_[i].start);
      calls_[i].external_id = open.operator_id();
      has_external_ids_ |= calls_[i].external_id != 0;
      calls_[i].range = open.range();
    }
  }
  if (!has_external_ids_) return;
  const std::span<uint32_t> ids = builder_->external_ids();
  for (const CudaCall& call : calls_.view()) {
    if (call.span != AddedSpan::kNone) ids[static_cast<uint32_t>(call.span)] = call.external_id;
  }
}

void CudaCalls::Place() {
  if (rows_ > 0) builder_->DropSpanRows(rows_ - used_);
  PlaceAmongOperators();
  IndexByCorrelation();
}

void CudaCalls::IndexByCorrelation() {
  by_correlation_.clear();
  sorted_.clear();
  if (calls_.empty()) return;
  const uint64_t range = uint64_t{last_} - first_ + 1;
  if (range > 8 * uint64_t{calls_.size()} + 1024) {
    for (uint32_t i = 0; i < calls_.size(); ++i)
      sorted_.emplace_back(calls_[i].correlation, i);
    std::stable_sort(sorted_.begin(), sorted_.end(), [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      return calls_[a.second].is_driver < calls_[b.second].is_driver;
    });
    return;
  }
  by_correlation_.reserve(range);
  by_correlation_.resize(range, 0);
  for (uint32_t i = 0; i < calls_.size(); ++i) {
    uint32_t& entry = by_correlation_[calls_[i].correlation - first_];
    if (entry == 0 || (calls_[entry - 1].is_driver && !calls_[i].is_driver)) entry = i + 1;
  }
}

const CudaCall* CudaCalls::FindInList(uint32_t correlation) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(correlation, uint32_t{0}),
                                      [](const auto& a, const auto& b) { return a.first < b.first; });
  return found == sorted_.end() || found->first != correlation ? nullptr : &calls_[found->second];
}

bool CudaCalls::IsBeforeAll(uint32_t correlation) const {
  return !calls_.empty() && static_cast<int32_t>(correlation - earliest_) < 0;
}

}  // namespace opscope
