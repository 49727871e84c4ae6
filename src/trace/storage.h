// What a Trace owns: all columns and, once frozen, the public views of them.
//
// Thread rule: one thread at a time until Freeze, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/argument_table.h"
#include "trace/span_table.h"
#include "trace/stack_table.h"
#include "trace/string_pool.h"
#include "trace/tables.h"

namespace opscope {

class TraceStorage {
 public:
  TraceInfo info;
  StringPool strings;
  ProcessTable processes;
  TrackTable tracks;
  SpanTable spans;
  LaunchTable launches;
  AsyncSpanTable async_spans;
  InstantTable instants;
  CounterTable counters;
  FlowTable flows;
  AllocationTable allocations;
  TensorTable tensors;
  HeldTensorTable held_tensors;
  TensorLifeTable tensor_lives;
  OperatorTable operators;
  StepTable steps;
  StackTable stacks;
  PythonCallTable python_calls;
  ArgumentTable arguments;
  ProblemTable problems;
  MetadataTable metadata;
  bool has_own_kinds = false;

  Timestamp PlaceRowsWithoutTime(Timestamp first_elsewhere);  // as that of TraceBuilder
  // Gives back what the columns hold in reserve and fixes the views.
  void Freeze();
  uint64_t memory_bytes();

  struct Views {
    ProcessColumns processes;
    TrackColumns tracks;
    SpanColumns spans;
    LaunchColumns launches;
    AsyncSpanColumns async_spans;
    InstantColumns instants;
    CounterColumns counters;
    FlowColumns flows;
    AllocationColumns allocations;
    TensorColumns tensors;
    HeldTensorColumns held_tensors;
    TensorLifeColumns tensor_lives;
    OperatorColumns operators;
    StepColumns steps;
    FrameColumns frames;
    StackColumns stacks;
    PythonCallColumns python_calls;
    ProblemColumns problems;
    MetadataColumns metadata;
    uint64_t memory_bytes = 0;
    bool is_partial = false;
  };
  const Views& views() const { return views_; }

 private:
  template <typename Visit>
  void ForEachColumn(Visit visit);
  template <typename Visit>
  void ForEachTime(Visit visit);

  Views views_;
};

}  // namespace opscope
