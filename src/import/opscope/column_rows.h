// The rows of one table of a column file into a TraceBuilder, a function per table (`wire/schema.h`). Each reads all
// its columns first. False: they contradict themselves, and nothing of the block was added, unless a row's number is
// what lies. A row that refers to something that is not there (a lost block) keeps what it can.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "import/opscope/column_ids.h"
#include "trace/builder.h"
#include "wire/table_block.h"

namespace opscope {

[[nodiscard]] bool AddProcesses(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddTracks(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddAsyncSpans(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddInstants(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddCounters(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddFlows(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddAllocations(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddSteps(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddPythonCalls(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddFrames(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddStacks(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddArguments(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddProblems(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddMetadata(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddTensors(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddHeldTensors(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddTensorLives(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);
[[nodiscard]] bool AddOperators(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);

}  // namespace opscope
