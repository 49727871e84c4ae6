// The ended inputs are a stack. When a range of depth d ends, the inputs of greater depth are its own and are on top.
// So each input is pushed and popped once, however deep the ranges are nested.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/argument_ranges.h"

namespace opscope {

void ArgumentRanges::End(size_t depth, SpanRow* range) {
  size_t first = inputs_.size();
  while (first != 0 && inputs_[first - 1].depth > depth)
    --first;
  const bool has_list = range->args != ArgsId::kNone;
  if (!has_list) {
    std::vector<ArgumentRow> joined;
    for (size_t i = first; i < inputs_.size(); ++i)
      joined.push_back(ArgumentRow::Of(builder_->arguments(inputs_[i].list)[0]));
    range->args = builder_->AddArguments(joined);
  }
  inputs_.resize(first);
  if (!has_list) return;
  const std::span<const Argument> list = builder_->arguments(range->args);
  if (list.size() == 1 && dialects_.IsArgumentRange(builder_->text(range->name), list[0]))
    inputs_.push_back({depth, range->args});
}

}  // namespace opscope
