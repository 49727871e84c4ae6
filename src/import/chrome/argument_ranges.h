// Builds the argument list of an operator from nested ranges that describe its inputs:
//
//   B ADD  B Input 0  E  B Input 64  E  B Output 76  E  E
//            {64,64}       {1}            {64,64}
//
//   The lists of the inputs, in their order, are the argument list of ADD: {64,64}, {1}.
//
// Which ranges are inputs: ChromeDialect::is_argument_range.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "import/chrome/dialect.h"
#include "trace/builder.h"

namespace opscope {

// The argument ranges of one track.
class ArgumentRanges {
 public:
  ArgumentRanges(const ChromeDialects& dialects, TraceBuilder* builder) : dialects_(dialects), builder_(builder) {}

  // Call this at the end of a range, after the ends of all ranges in it. `depth`: number of enclosing ranges.
  void End(size_t depth, SpanRow* range);

 private:
  struct Input {
    size_t depth = 0;
    ArgsId list = ArgsId::kNone;
  };
  const ChromeDialects& dialects_;
  TraceBuilder* builder_;
  std::vector<Input> inputs_;  // ended inputs of open ranges, by ascending depth
};

}  // namespace opscope
