// Each thread has a stack of open calls. An end is searched from the innermost call, which nearly always is the one
// that ends. Closing a generator early or switching greenlets ends a call further out: it stays in the stack, marked as
// closed, until all calls above it have ended. A program with many greenlets has many open calls, so only the innermost
// 32 are compared; the others are found by an index of identities, built at the first such search.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/calls.h"

#include <algorithm>
#include <utility>

namespace opscope {

// The record's kind is decisive, not its name. The first recordings had no CallKind, so that all their calls are
// kPython; in them only names of Python functions contain "): ".
SpanKind RecordingCalls::KindOf(const Record& record, StringId name) {
  if (record.source != RecordSource::kPython) return kKindOfCategory;
  switch (static_cast<CallKind>(record.scope)) {
    case CallKind::kPython:
      break;
    case CallKind::kFunction:
      return SpanKind::kCFunction;
    case CallKind::kModule:
      return SpanKind::kModule;
    case CallKind::kCollector:
      return kForcedOther;
    default:
      return kKindOfCategory;  // written by a newer version
  }
  if (Row(name) >= of_python_.size()) of_python_.resize(Row(name) + 1, kKindOfCategory);
  SpanKind& known = of_python_[Row(name)];
  if (known == kKindOfCategory) {
    const std::string_view text = builder_->text(name);
    const bool has_line = text.find("): ") != std::string_view::npos;
    const SpanKind by_name = has_line ? SpanKind::kPythonFunction : KindOfPythonCall(text);
    known = by_name == SpanKind::kOther ? kForcedOther : by_name;
  }
  return known;
}

void RecordingCalls::BeginThread(TrackId track) {
  track_ = track;
  open_.clear();
  by_identity_.clear();
  indexed_ = 0;
  seen_ = false;
}

void RecordingCalls::AddSpan(const OpenCall& call, Timestamp end, uint8_t flags) {
  if (starts_ != nullptr && call.is_python)
    starts_->AddCall(call.start, std::max(end, call.start), call.kind == SpanKind::kCFunction);
  builder_->AddSpan({.start = call.start,
                     .duration = std::max(end, call.start) - call.start,
                     .name = call.name,
                     .category = call.category,
                     .track = track_,
                     .flags = flags,
                     .kind = call.kind,
                     .extra = call.extra});
}

void RecordingCalls::Enter(const Record& record, Timestamp time, StringId name, StringId category, StringId extra) {
  const bool is_python = record.source == RecordSource::kPython;
  seen_ = true;
  seen_python_ |= is_python;
  open_.push_back({time, record.value, name, category, extra, is_python, KindOf(record, name)});
}

void RecordingCalls::Exit(const Record& record, Timestamp time) {
  seen_ = true;
  constexpr size_t kNear = 32;
  const size_t far = open_.size() - std::min(open_.size(), kNear);
  size_t found = open_.size();
  while (found > far && !(open_[found - 1].is_open && open_[found - 1].identity == record.value))
    --found;
  if (found == far) found = FindFar(record.value, far);
  if (found == 0) return builder_->AddProblem("stray_end", -1);
  AddSpan(open_[found - 1], time, 0);
  Close(found - 1);
}

size_t RecordingCalls::FindFar(uint64_t identity, size_t count) {
  for (; indexed_ < count; ++indexed_) {
    OpenCall& call = open_[indexed_];
    if (call.is_open) call.around = std::exchange(by_identity_[call.identity], indexed_ + 1);
  }
  const auto found = by_identity_.find(identity);
  return found == by_identity_.end() ? 0 : found->second;
}

// REQUIRES: it is the innermost open call of its identity.
void RecordingCalls::Close(size_t call) {
  if (call < indexed_) {
    const auto found = by_identity_.find(open_[call].identity);
    found.value() = open_[call].around;
    if (found->second == 0) by_identity_.erase(found);
  }
  open_[call].is_open = false;
  while (!open_.empty() && !open_.back().is_open)
    open_.pop_back();
  indexed_ = std::min(indexed_, open_.size());
}

// The outermost first: of calls that began and ended together the first one is the caller.
void RecordingCalls::EndThread(Timestamp last) {
  for (const OpenCall& call : open_) {
    if (!call.is_open) continue;
    // Python runs inside its functions from beginning to end, so open calls are normal.
    if (!call.is_python) builder_->AddProblem("unfinished_scope", -1);
    AddSpan(call, last, span_flags::kUnfinished);
  }
  open_.clear();
}

}  // namespace opscope
