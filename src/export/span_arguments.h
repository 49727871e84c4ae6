// The arguments of a span as the object "args" of Kineto's JSON has them, for writers of other formats. What only that
// format needs is left out: call stacks, numbers of events, and ids that the writer makes up.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "export/argument_text.h"
#include "export/chrome_own_members.h"
#include "export/framework_members.h"
#include "opscope/trace.h"

namespace opscope {

// A copyable function object. The Trace must outlive it.
class SpanArguments {
 public:
  explicit SpanArguments(const Trace& trace)
      : trace_(&trace),
        texts_(std::make_shared<const ArgumentTexts>(trace)),
        steps_(std::make_shared<const OwnStepNumbers>(trace)) {
    if (const FrameworkMembers members = MegEngineMembersBesideKineto(trace)) of_framework_ = members();
  }

  // Appends `"Input Dims": [[2]],"correlation":7`; nothing for a span without arguments.
  void operator()(uint32_t span, std::string* members) const;

 private:
  void AppendPythonCall(uint32_t span, std::string* members) const;

  const Trace* trace_;
  std::shared_ptr<const ArgumentTexts> texts_;
  std::shared_ptr<const OwnStepNumbers> steps_;
  AppendSpanMembers of_framework_;  // null: none
};

}  // namespace opscope
