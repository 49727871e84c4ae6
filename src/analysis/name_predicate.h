// A question about names, asked once per distinct name and answered from a table afterwards.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

class NamePredicate {
 public:
  using Test = bool (*)(std::string_view name);

  NamePredicate(const Trace& trace, Test test) : trace_(trace), test_(test), answers_(trace.string_count(), kUnknown) {}

  // false for kNone. O(1), but for the first time that a name is seen.
  bool operator()(StringId name) {
    if (name == StringId::kNone) return false;
    uint8_t& answer = answers_[Row(name)];
    if (answer == kUnknown) answer = test_(trace_.text(name)) ? kYes : kNo;
    return answer == kYes;
  }

 private:
  enum Answer : uint8_t { kUnknown, kNo, kYes };

  const Trace& trace_;
  Test test_;
  std::vector<uint8_t> answers_;  // by StringId
};

}  // namespace opscope
