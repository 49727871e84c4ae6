// "Module Hierarchy" of a span, as torch writes it for operators of TorchScript: the calls from the outermost on, each
// with its object, its type and its method:
//
//   TOP(Net)::forward.fc(Linear)::forward.SELF(Linear)::helper.
//
// SELF is a method of the object before it, a name without a type a function. Spans of one place share the text.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// The modules of such a text: {"TOP(Net)", "fc(Linear)"}.
std::vector<std::string> ModulesOfHierarchy(std::string_view hierarchy);

class ModuleHierarchyTexts {
 public:
  explicit ModuleHierarchyTexts(const Trace& trace);
  bool any() const { return any_; }  // false: no span has such a text
  // The modules that `extra` of a span tells; empty: none. Valid until the next call.
  const std::vector<std::string>& PathOf(StringId extra);

 private:
  const Trace& trace_;
  bool any_ = false;
  std::vector<uint32_t> known_;  // by StringId: row of paths_ plus one, 0: not asked yet
  std::vector<std::vector<std::string>> paths_;
};

}  // namespace opscope
