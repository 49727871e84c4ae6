// SPDX-License-Identifier: Apache-2.0
#include "trace/storage.h"

namespace opscope {

template <typename Visit>
void TraceStorage::ForEachColumn(Visit visit) {
  processes.ForEach(visit), tracks.ForEach(visit), spans.ForEach(visit), async_spans.ForEach(visit);
  instants.ForEach(visit), counters.ForEach(visit), flows.ForEach(visit), allocations.ForEach(visit);
  steps.ForEach(visit), python_calls.ForEach(visit), problems.ForEach(visit), metadata.ForEach(visit);
}

uint64_t TraceStorage::memory_bytes() {
  uint64_t bytes = sizeof(*this) + strings.memory_bytes() + stacks.memory_bytes() + arguments.memory_bytes();
  ForEachColumn([&bytes](auto& column) { bytes += column.memory_bytes(); });
  return bytes;
}

void TraceStorage::Freeze() {
  stacks.DropIndex();
  arguments.DropIndex();
  spans.ShrinkToFit();
  ForEachColumn([](auto& column) { column.shrink_to_fit(); });
  views_ = {.processes = processes.view(),
            .tracks = tracks.view(),
            .spans = spans.view(),
            .async_spans = async_spans.view(),
            .instants = instants.view(),
            .counters = counters.view(),
            .flows = flows.view(),
            .allocations = allocations.view(),
            .steps = steps.view(),
            .frames = stacks.frames(),
            .stacks = stacks.stacks(),
            .python_calls = python_calls.view(),
            .problems = problems.view(),
            .metadata = metadata.view()};
  views_.memory_bytes = memory_bytes();
  for (const uint8_t severity : views_.problems.severity) {
    views_.is_partial |= severity != static_cast<uint8_t>(ProblemSeverity::kInfo);
  }
}

}  // namespace opscope
