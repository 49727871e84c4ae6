// SPDX-License-Identifier: Apache-2.0
#include "import/recording_calls.h"

#include <algorithm>

namespace opscope {

void RecordingCalls::BeginThread(TrackId track) {
  track_ = track;
  open_.clear();
  seen_ = false;
}

void RecordingCalls::AddSpan(const OpenCall& call, Timestamp end, uint8_t flags) {
  if (starts_ != nullptr && call.is_python) starts_->AddCall(call.start, std::max(end, call.start), call.is_c_function);
  builder_->AddSpan({.start = call.start,
                     .duration = std::max(end, call.start) - call.start,
                     .name = call.name,
                     .category = call.category,
                     .track = track_,
                     .flags = flags});
}

void RecordingCalls::Enter(const Record& record, Timestamp time, StringId name, StringId category) {
  const bool is_python = record.source == RecordSource::kPython;
  seen_ = true;
  seen_python_ |= is_python;
  const bool is_c_function = is_python && record.scope == static_cast<uint8_t>(CallKind::kFunction);
  open_.push_back({time, record.value, name, category, is_python, is_c_function});
}

void RecordingCalls::Exit(const Record& record, Timestamp time) {
  seen_ = true;
  for (size_t i = open_.size(); i > 0; --i) {
    if (open_[i - 1].identity != record.value) continue;
    AddSpan(open_[i - 1], time, 0);
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i - 1));
    return;
  }
  builder_->AddProblem("stray_end", -1);
}

// The outermost first: of calls that began and ended together the first one is the caller.
void RecordingCalls::EndThread(Timestamp last) {
  for (const OpenCall& call : open_) {
    // Python runs in its functions from its beginning to its end: that some are open is no news.
    if (!call.is_python) builder_->AddProblem("unfinished_scope", -1);
    AddSpan(call, last, span_flags::kUnfinished);
  }
  open_.clear();
}

}  // namespace opscope
