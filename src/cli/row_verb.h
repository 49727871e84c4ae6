// A verb that analyses the chosen spans of each input and prints rows.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/rows.h"
#include "cli/selection.h"
#include "cli/verb.h"
#include "opscope/trace.h"

namespace opscope {

struct RowVerb {
  std::string name;
  std::string description;
  std::string sort_help;
  std::function<int(const Trace& trace, const std::string& file, const RowVerb& verb, Answers* answers)> print;
  std::vector<Option> more_options = {};  // of this verb alone; `print` owns their targets
  std::function<Status()> check = {};     // whether they make sense; none: any do
  // As the command line has it, when `print` is called.
  CommonOptions common = {};
  RowVerbOptions rows = {};
  std::optional<SpanFilter> filter = {};
};

Verb MakeRowVerb(RowVerb verb);

}  // namespace opscope
