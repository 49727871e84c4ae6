// The limits of `opscope check`: options of the command line and rules files (TOML).
//
//   --max op_self_ns:aten::mm=2000000 --max-increase step_p50_ns=5%
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/check.h"
#include "opscope/result.h"

namespace opscope {

struct CheckRules {
  std::string baseline = {};  // path of a file; "": the rules have none
  std::vector<CheckLimit> limits = {};
};

// METRIC[:NAME]=N. kInvalidArgument says what is wrong.
[[nodiscard]] Result<CheckLimit> ParseLimit(LimitKind kind, std::string_view text);

// The text of a rules file. kInvalidArgument: it breaks the format; the message has the line or the number of the rule.
[[nodiscard]] Result<CheckRules> ParseCheckRules(std::string_view text);

}  // namespace opscope
