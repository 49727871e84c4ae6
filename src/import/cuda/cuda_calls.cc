// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_calls.h"

#include <algorithm>

namespace opscope {
namespace {

// Spans of one track that nest, as a walk forward in time: what is open at a time.
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
      open_.push_back(rows_[next_]);
    }
    CloseUntil(time);
  }
  uint32_t operator_id() const {
    for (size_t i = open_.size(); i-- > 0;) {
      const uint32_t row = open_[i];
      if (spans_.category[row] == cpu_op_ && row < external_ids_.size()) return external_ids_[row];
    }
    return 0;
  }
  AddedSpan range() const {
    for (size_t i = open_.size(); i-- > 0;) {
      if (spans_.category[open_[i]] == user_annotation_) return AddedSpan{open_[i]};
    }
    return AddedSpan::kNone;
  }

 private:
  void CloseUntil(Timestamp time) {
    while (!open_.empty() && spans_.start[open_.back()] + spans_.duration[open_.back()] < time)
      open_.pop_back();
  }

  const SpanColumns& spans_;
  const std::span<const uint32_t> external_ids_;
  const StringId cpu_op_, user_annotation_;
  std::vector<uint32_t> rows_, open_;
  size_t next_ = 0;
};

}  // namespace

CudaCalls::CudaCalls(TraceBuilder* builder, const CudaWords& words)
    : builder_(builder),
      words_(words),
      runtime_(builder->Intern(words.runtime_call)),
      driver_(builder->Intern(words.driver_call)),
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

const CudaCalls::Name& CudaCalls::NameOf(StringId raw, bool is_driver) {
  std::vector<Name>& names = names_[is_driver ? 1 : 0];
  if (Row(raw) >= names.size()) names.resize(Row(raw) + 1);
  Name& name = names[Row(raw)];
  if (name.name == StringId::kNone) {
    const std::string text(builder_->text(raw));
    name.name = builder_->Intern(words_.CallName(text));
    name.is_shown = words_.IsShownCall(text, is_driver);
    name.is_launch = words_.IsLaunch(text);
  }
  return name;
}

TrackId CudaCalls::TrackOf(uint32_t thread) {
  if (thread == last_thread_ && last_track_ != TrackId::kNone) return last_track_;
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

void CudaCalls::Add(const CudaRecord& record, uint32_t thread, StringId members) {
  if (calls_.empty()) earliest_ = first_ = last_ = record.correlation;
  if (static_cast<int32_t>(record.correlation - earliest_) < 0) earliest_ = record.correlation;
  first_ = std::min(first_, record.correlation), last_ = std::max(last_, record.correlation);
  calls_.push_back({.start = record.start,
                    .duration = record.duration,
                    .correlation = record.correlation,
                    .name = record.name,
                    .members = members,
                    .track = TrackOf(thread),
                    .is_driver = record.event == CudaEvent::kDriverCall});
}

void CudaCalls::PlaceAmongOperators() {
  std::vector<std::vector<uint32_t>> calls(builder_->track_count()), rows(builder_->track_count());
  std::vector<uint8_t> has_calls(builder_->track_count(), 0);
  for (const TrackId track : tracks_)
    has_calls[Row(track)] = 1;
  const SpanColumns spans = builder_->added_spans();
  bool has_rows = false;
  for (uint32_t row = 0; row < spans.start.size(); ++row) {
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
}

void CudaCalls::Place() {
  PlaceAmongOperators();
  if (!calls_.empty()) AddSpans();
  IndexByCorrelation();
}

void CudaCalls::AddSpans() {
  const auto first = static_cast<uint32_t>(builder_->span_count());
  const SpanMemory spans = builder_->AppendSpanRows(
      calls_.size(), {.kind = true, .correlation = true, .external_id = has_external_ids_, .extra = true});
  uint32_t row = 0;
  for (size_t i = 0; i < calls_.size(); ++i) {
    CudaCall& call = calls_[i];
    const Name& name = NameOf(call.name, call.is_driver);
    call.name = name.name;
    call.is_launch = name.is_launch;
    if (!name.is_shown) continue;
    if (call.duration.ns < 0) {
      builder_->AddProblem("negative_duration", -1);
      call.duration = {};
    }
    call.span = AddedSpan{first + row};
    spans.start[row] = call.start, spans.duration[row] = call.duration;
    spans.name[row] = call.name, spans.category[row] = call.is_driver ? driver_ : runtime_;
    spans.track[row] = call.track;
    spans.parent[row] = SpanId::kNone, spans.depth[row] = 0;
    spans.kind[row] = call.is_driver ? SpanKind::kDriverCall : SpanKind::kRuntimeCall;
    spans.correlation[row] = call.correlation;
    if (spans.external_id != nullptr) spans.external_id[row] = call.external_id;
    spans.extra[row] = call.members;
    ++row;
  }
  builder_->DropSpanRows(calls_.size() - row);
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
    uint32_t& place = by_correlation_[calls_[i].correlation - first_];
    if (place == 0 || calls_[place - 1].is_driver) place = i + 1;
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
