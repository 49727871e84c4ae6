// Parses "Module Hierarchy" texts of TorchScript operators (format: module_hierarchy_text.h). Operators at one place of
// a script share the text, so paths are cached by text id.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/module_hierarchy_text.h"

#include <algorithm>

namespace opscope {
namespace {

constexpr std::string_view kMember = "\"Module Hierarchy\": \"";

std::string_view HierarchyIn(std::string_view members) {
  const size_t at = members.find(kMember);
  if (at == std::string_view::npos) return {};
  members.remove_prefix(at + kMember.size());
  return members.substr(0, members.find('"'));  // names of modules need no escapes
}

}  // namespace

std::vector<std::string> ModulesOfHierarchy(std::string_view hierarchy) {
  std::vector<std::string> modules;
  while (!hierarchy.empty()) {
    const size_t type = hierarchy.find('('), end_of_type = hierarchy.find(")::");
    if (type == std::string_view::npos || end_of_type == std::string_view::npos || type > end_of_type) break;
    const bool is_function = type + 1 == end_of_type;
    if (!is_function && hierarchy.substr(0, type) != "SELF") modules.emplace_back(hierarchy.substr(0, end_of_type + 1));
    const size_t next = hierarchy.find('.', end_of_type);
    if (next == std::string_view::npos) break;
    hierarchy.remove_prefix(next + 1);
  }
  return modules;
}

ModuleHierarchyTexts::ModuleHierarchyTexts(const Trace& trace) : trace_(trace) {
  const std::span<const StringId> extras = trace.spans().extra;
  any_ = std::any_of(extras.begin(), extras.end(), [&](StringId extra) {
    return extra != StringId::kNone && !HierarchyIn(trace.text(extra)).empty();
  });
  if (any_) known_.assign(trace.string_count(), 0);
  paths_.emplace_back();
}

const std::vector<std::string>& ModuleHierarchyTexts::PathOf(StringId extra) {
  if (extra == StringId::kNone) return paths_[0];
  uint32_t& known = known_[Row(extra)];
  if (known == 0) {
    std::vector<std::string> path = ModulesOfHierarchy(HierarchyIn(trace_.text(extra)));
    if (path.empty()) {
      known = 1;
    } else {
      paths_.push_back(std::move(path));
      known = static_cast<uint32_t>(paths_.size());
    }
  }
  return paths_[known - 1];
}

}  // namespace opscope
