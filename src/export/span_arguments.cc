// Keys, values and their order are those of ChromeRowWriter::WriteArguments (chrome_spans.cc), which writes whole
// blocks of events and cannot write the arguments of one span alone.
// SPDX-License-Identifier: Apache-2.0
#include "export/span_arguments.h"

#include <algorithm>

#include "base/json_members.h"
#include "base/text.h"

namespace opscope {

void SpanArguments::operator()(uint32_t span, std::string* members) const {
  const SpanColumns& spans = trace_->spans();
  const auto next = [&](std::string_view text) -> std::string& {
    return members->append(members->empty() ? "" : ",").append(text);
  };
  if (const ArgsId id = spans.args[span]; id != ArgsId::kNone) {
    next(texts_->values_types_strides(id));
    next(texts_->dims(id));
  }
  const uint8_t flags = spans.flags[span];
  const bool is_python = trace_->text(spans.category[span]) == "python_function";
  if ((flags & span_flags::kUnfinished) != 0 && !is_python) next("\"finished\":false");
  if (const std::string_view overload = trace_->text(spans.overload[span]); !overload.empty())
    AppendJsonString(&next("\"opscope.overload\":"), overload);
  if ((flags & span_flags::kStep) != 0) {
    if (const std::optional<int64_t> number = steps_->Of(span)) AppendInt(&next("\"opscope.step\":"), *number);
  }
  if ((flags & span_flags::kAsync) != 0) next("\"opscope.async\":\"").append(AsyncReason(flags)).append("\"");
  if (of_framework_) of_framework_(span, members);
  if (const std::string_view extra = trace_->text(spans.extra[span]); !extra.empty()) {
    if (AreJsonMembers(extra)) {
      next(extra);
    } else {
      AppendJsonString(&next("\"extra\":"), extra);
    }
  }
  if (is_python) AppendPythonCall(span, members);
  if (spans.sequence[span] >= 0) {
    AppendUint(&next("\"Fwd thread id\":"), spans.forward_thread[span]);
    AppendInt(&next("\"Sequence number\":"), spans.sequence[span]);
  }
  if (spans.correlation[span] != 0) AppendUint(&next("\"correlation\":"), spans.correlation[span]);
  if (spans.external_id[span] != 0) AppendUint(&next("\"External id\":"), spans.external_id[span]);
}

void SpanArguments::AppendPythonCall(uint32_t span, std::string* members) const {
  const PythonCallColumns& calls = trace_->python_calls();
  const auto found = std::lower_bound(calls.span.begin(), calls.span.end(), SpanId{span});
  if (found == calls.span.end() || *found != SpanId{span}) return;
  const auto call = static_cast<size_t>(found - calls.span.begin());
  const auto next = [&](std::string_view key) -> std::string& {
    return members->append(members->empty() ? "" : ",").append(key);
  };
  if (calls.thread[call] >= 0) AppendInt(&next("\"Python thread\":"), calls.thread[call]);
  if (calls.module_id[call] >= 0) AppendInt(&next("\"Python module id\":"), calls.module_id[call]);
  if (calls.caller[call] != 0) AppendUint(&next("\"Python parent id\":"), calls.caller[call]);
  AppendUint(&next("\"Python id\":"), calls.id[call]);
}

}  // namespace opscope
