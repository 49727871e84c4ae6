// The arguments of a span as the object "args" of Kineto's JSON has them, for writers of other formats. What only that
// format needs is left out: call stacks, numbers of events, ids that the writer makes up, and lists of values, types or
// strides if no argument of the trace has one.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "export/argument_text.h"
#include "export/chrome_own_members.h"
#include "export/framework_members.h"
#include "opscope/report/html.h"
#include "opscope/trace.h"

namespace opscope {

// A copyable function object. The Trace must outlive it.
class SpanArguments {
 public:
  explicit SpanArguments(const Trace& trace)
      : trace_(&trace),
        python_function_(trace.FindString("python_function").value_or(StringId::kNone)),
        texts_(std::make_shared<const ArgumentTexts>(trace, ArgumentKeysWithValues(trace))),
        steps_(std::make_shared<const OwnStepNumbers>(trace)),
        extra_checks_(trace.string_count()) {
    if (const FrameworkMembers members = MegEngineMembersBesideKineto(trace)) append_framework_members_ = members();
  }

  // Appends `"Input type": ["float"],"Input Dims": [[2]]`: what spans with this list have in common.
  void AppendList(ArgsId list, std::string* members) const;
  // Appends what else the span has, integers apart. Fastest where the rows of spans ascend.
  void AppendOwn(uint32_t span, std::vector<IntegerArgument>* integers, std::string* members);

 private:
  enum class ExtraCheck : uint8_t { kUnknown, kMembers, kOther };

  void AppendPythonCall(uint32_t span, std::vector<IntegerArgument>* integers, std::string* members);

  const Trace* trace_;
  StringId python_function_;  // kNone: no span has this category
  std::shared_ptr<const ArgumentTexts> texts_;
  std::shared_ptr<const OwnStepNumbers> steps_;
  AppendSpanMembers append_framework_members_;  // null: the framework adds no members
  size_t next_python_call_ = 0;
  std::vector<ExtraCheck> extra_checks_;  // by StringId: whether the text is members of an object
};

}  // namespace opscope
