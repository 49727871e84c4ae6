// The rows of a TraceBuilder that importers may change until Build.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/builder.h"
#include "trace/nesting.h"

namespace opscope {

struct TraceBuilder::Pending {
  std::vector<ProcessRow> processes;
  std::vector<TrackRow> tracks;
  std::vector<Nesting> nesting;                             // by track
  std::unordered_map<uint32_t, size_t> row_of_metadata;     // by key
  std::unordered_map<uint32_t, StringId> ranks_of_problem;  // by kind
  bool has_python_calls = false;
  bool fill_stacks = false;
};

}  // namespace opscope
