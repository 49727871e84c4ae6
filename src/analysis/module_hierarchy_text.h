// Parses the member "Module Hierarchy" that torch writes for operators of TorchScript: the calls from the outermost on,
// each as object(type)::method.
//
//   TOP(Net)::forward.fc(Linear)::forward.SELF(Linear)::helper.
//
// SELF is a call within the preceding object; a name with an empty type is a function.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// The modules of the text above: {"TOP(Net)", "fc(Linear)"}.
std::vector<std::string> ModulesOfHierarchy(std::string_view hierarchy);

class ModuleHierarchyTexts {
 public:
  explicit ModuleHierarchyTexts(const Trace& trace);
  bool any() const { return any_; }  // false if no span has such a text
  // The modules in the extra members of a span; empty if none. Valid until the next call.
  const std::vector<std::string>& PathOf(StringId extra);

 private:
  const Trace& trace_;
  bool any_ = false;
  std::vector<uint32_t> known_;  // by StringId: index in paths_ plus one; 0: not parsed yet
  std::vector<std::vector<std::string>> paths_;
};

}  // namespace opscope
