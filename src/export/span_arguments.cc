// Keys, values and their order are those of ChromeRowWriter::WriteArguments (chrome_spans.cc), which writes whole
// blocks of events and cannot write the arguments of one span alone.
// SPDX-License-Identifier: Apache-2.0
#include "export/span_arguments.h"

#include "base/json_members.h"
#include "base/text.h"
#include "export/python_call.h"

namespace opscope {

namespace {

std::string& NextMember(std::string_view key, std::string* members) {
  return members->append(members->empty() ? "" : ",").append(key);
}

// Integers that a double holds go apart, others stay digits.
void AddUint(std::string_view key, uint64_t value, std::vector<IntegerArgument>* integers, std::string* members) {
  if (value <= uint64_t{1} << 53) {
    integers->push_back({key, static_cast<int64_t>(value)});
  } else {
    AppendUint(&NextMember("\"", members).append(key).append("\":"), value);
  }
}

}  // namespace

void SpanArguments::AppendList(ArgsId list, std::string* members) const {
  if (const std::string& text = texts_->values_types_strides(list); !text.empty()) NextMember(text, members);
  NextMember(texts_->dims(list), members);
}

void SpanArguments::AppendOwn(uint32_t span, std::vector<IntegerArgument>* integers, std::string* members) {
  const SpanColumns& spans = trace_->spans();
  const uint8_t flags = spans.flags[span];
  const bool is_python = python_function_ != StringId::kNone && spans.category[span] == python_function_;
  if ((flags & span_flags::kUnfinished) != 0 && !is_python) NextMember("\"finished\":false", members);
  if (const std::string_view overload = trace_->text(spans.overload[span]); !overload.empty())
    AppendJsonString(&NextMember("\"opscope.overload\":", members), overload);
  if ((flags & span_flags::kStep) != 0) {
    if (const std::optional<int64_t> number = steps_->Of(span))
      AppendInt(&NextMember("\"opscope.step\":", members), *number);
  }
  if ((flags & span_flags::kAsync) != 0)
    NextMember("\"opscope.async\":\"", members).append(AsyncReason(flags)).append("\"");
  if (append_framework_members_) append_framework_members_(span, members);
  if (const std::string_view extra = trace_->text(spans.extra[span]); !extra.empty()) {
    ExtraCheck& check = extra_checks_[Row(spans.extra[span])];
    if (check == ExtraCheck::kUnknown) check = AreJsonMembers(extra) ? ExtraCheck::kMembers : ExtraCheck::kOther;
    if (check == ExtraCheck::kMembers) {
      NextMember(extra, members);
    } else {
      AppendJsonString(&NextMember("\"extra\":", members), extra);
    }
  }
  if (is_python) AppendPythonCall(span, integers, members);
  if (spans.sequence[span] >= 0) {
    AddUint("Fwd thread id", spans.forward_thread[span], integers, members);
    AddUint("Sequence number", static_cast<uint64_t>(spans.sequence[span]), integers, members);
  }
  if (spans.correlation[span] != 0) AddUint("correlation", spans.correlation[span], integers, members);
  if (spans.external_id[span] != 0) AddUint("External id", spans.external_id[span], integers, members);
}

void SpanArguments::AppendPythonCall(uint32_t span, std::vector<IntegerArgument>* integers, std::string* members) {
  const PythonCallColumns& calls = trace_->python_calls();
  const size_t at = FindPythonCall(calls, SpanId{span}, &next_python_call_);
  if (at == calls.size()) return;
  if (calls.thread[at] >= 0) AddUint("Python thread", static_cast<uint64_t>(calls.thread[at]), integers, members);
  if (calls.module_id[at] >= 0)
    AddUint("Python module id", static_cast<uint64_t>(calls.module_id[at]), integers, members);
  if (calls.caller[at] != 0) AddUint("Python parent id", calls.caller[at], integers, members);
  AddUint("Python id", calls.id[at], integers, members);
}

}  // namespace opscope
