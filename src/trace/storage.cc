// Functions over all tables at once are generated from trace_tables.def, so a new table needs no line here.
// Freeze gives back spare capacity, takes the public views, and drops the indexes that only adding needs.
// The table `arguments` is derived at its first use: its rows repeat the argument lists, and few readers
// need it.
// SPDX-License-Identifier: Apache-2.0
#include "trace/storage.h"

#include <type_traits>

namespace opscope {

template <typename Visit>
void TraceStorage::ForEachColumn(Visit visit) {
#define OPSCOPE_TABLE(Name, name, number, documentation) name.ForEach(visit);
#define OPSCOPE_DERIVED_TABLE(Name, name, documentation)
#include "opscope/trace_tables.def"
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

Timestamp TraceStorage::FillMissingTimes(Timestamp first_elsewhere) {
  Timestamp first = first_elsewhere;
  ForEachTime([&](const Timestamp* time) { first = EarlierOf(first, *time); });
  if (first == kNoTime) first = {};
  ForEachTime([&](Timestamp* time) {
    if (*time == kNoTime) *time = first;
  });
  return first;
}

uint64_t TraceStorage::memory_bytes() {
  uint64_t bytes = sizeof(*this) + strings.memory_bytes() + stack_index.memory_bytes() + argument_lists.memory_bytes();
  ForEachColumn([&bytes](auto& column) { bytes += column.memory_bytes(); });
  return bytes;
}

void TraceStorage::Freeze() {
  stack_index.Clear();
  argument_lists.DropIndex();
  spans.ShrinkToFit();
  ForEachColumn([](auto& column) { column.shrink_to_fit(); });
#define OPSCOPE_TABLE(Name, name, number, documentation) views_.name = name.view();
#define OPSCOPE_DERIVED_TABLE(Name, name, documentation)
#include "opscope/trace_tables.def"
  views_.memory_bytes = memory_bytes();
  for (const ProblemSeverity severity : views_.problems.severity)
    views_.is_partial |= severity != ProblemSeverity::kInfo;
}

const ArgumentValueColumns& TraceStorage::arguments() const {
  std::call_once(flat_arguments_.made, [this] {
    ArgumentValueTable& table = flat_arguments_.table;
    for (uint32_t list = 0; list < argument_lists.size(); ++list) {
      uint32_t position = 0;
      for (const Argument& argument : argument_lists.list(ArgsId{list})) {
        const auto add = [&](const Argument& value, int32_t element) {
          table.Add({.list = ArgsId{list},
                     .position = position,
                     .element = element,
                     .kind = value.kind,
                     .dtype = value.dtype,
                     .value = value.value,
                     .sizes = value.sizes,
                     .strides = value.strides,
                     .layout = value.layout});
        };
        add(argument, columns::arguments::element::kDefault);
        for (size_t i = 0; i < argument.tensors.size(); ++i)
          add(argument.tensors[i], static_cast<int32_t>(i));
        ++position;
      }
    }
    flat_arguments_.view = table.view();
  });
  return flat_arguments_.view;
}

}  // namespace opscope
