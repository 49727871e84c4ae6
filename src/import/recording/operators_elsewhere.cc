// Adds a problem if no span is an operator. The usual cause is that the program ran its operators on threads that were
// not recorded, and the user would wonder about an empty table.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/operators_elsewhere.h"

#include <algorithm>

namespace opscope {

void AddOperatorsElsewhere(TraceBuilder* builder) {
  const auto scopes = builder->added_spans().scope;
  const auto is_operator = [](ScopeType scope) {
    return scope != ScopeType::kUnknown && scope != ScopeType::kUserScope;
  };
  for (size_t i = 0; i < builder->track_count(); ++i) {
    // A recording of kernels needs no operators.
    if (builder->track(static_cast<TrackId>(i)).kind == TrackKind::kDeviceStream) return;
  }
  if (std::none_of(scopes.begin(), scopes.end(), is_operator)) builder->AddProblem("operators_elsewhere", -1);
}

}  // namespace opscope
