// Maps the name ids of numbered steps to one id per framework, so that grouping by name joins all steps at no cost per
// span: "ProfilerStep#3" and "ProfilerStep#4" both get the id of the first such name, and CommonStepName supplies the
// text "ProfilerStep*".
// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_names.h"

#include <map>
#include <numeric>
#include <utility>

namespace opscope {

StepNames::StepNames(const Trace& trace) {
  std::vector<std::pair<uint32_t, uint32_t>> steps;  // id of a step's name, id that represents all of them
  std::map<std::string_view, uint32_t> first;
  for (uint32_t name = 0; name < trace.string_count(); ++name) {
    if (const auto all = CommonStepName(trace.text(StringId{name})); all)
      steps.emplace_back(name, first.try_emplace(*all, name).first->second);
  }
  if (steps.size() == first.size()) return;
  joined_.resize(size_t{steps.back().first} + 1);
  std::iota(joined_.begin(), joined_.end(), 0u);
  for (const auto& [name, stands] : steps)
    joined_[name] = stands;
}

}  // namespace opscope
