// SPDX-License-Identifier: Apache-2.0
#include "trace/storage.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace opscope {

template <typename Visit>
void TraceStorage::ForEachColumn(Visit visit) {
  processes.ForEach(visit), tracks.ForEach(visit), spans.ForEach(visit), launches.ForEach(visit);
  async_spans.ForEach(visit);
  instants.ForEach(visit), counters.ForEach(visit), flows.ForEach(visit), allocations.ForEach(visit);
  tensors.ForEach(visit), held_tensors.ForEach(visit), tensor_lives.ForEach(visit);
  operators.ForEach(visit);
  steps.ForEach(visit), python_calls.ForEach(visit), problems.ForEach(visit), metadata.ForEach(visit);
}

template <typename Visit>
void TraceStorage::ForEachTime(Visit visit) {
  ForEachColumn([&](auto& column) {
    if constexpr (std::is_same_v<decltype(column), Column<Timestamp>&>) {
      for (size_t row = 0; row < column.size(); ++row)
        visit(&column[row]);
    }
  });
}

Timestamp TraceStorage::PlaceRowsWithoutTime(Timestamp first_elsewhere) {
  Timestamp first = first_elsewhere;
  ForEachTime([&](const Timestamp* time) { first = EarlierOf(first, *time); });
  if (first == kNoTime) first = {};
  ForEachTime([&](Timestamp* time) {
    if (*time == kNoTime) *time = first;
  });
  return first;
}

void TensorTable::OrderBySpan() {
  if (std::is_sorted(span.view().begin(), span.view().end())) return;
  std::vector<uint32_t> order(span.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) { return span[a] < span[b]; });
  ForEach([&order](auto& column) {
    std::remove_reference_t<decltype(column)> moved;
    moved.resize_unset(order.size());
    for (size_t row = 0; row < order.size(); ++row)
      moved[row] = column[order[row]];
    column = std::move(moved);
  });
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
            .launches = launches.view(),
            .async_spans = async_spans.view(),
            .instants = instants.view(),
            .counters = counters.view(),
            .flows = flows.view(),
            .allocations = allocations.view(),
            .tensors = tensors.view(),
            .held_tensors = held_tensors.view(),
            .tensor_lives = tensor_lives.view(),
            .operators = operators.view(),
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
