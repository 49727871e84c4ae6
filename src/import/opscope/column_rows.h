// The rows of one table of a column file into a TraceBuilder.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "import/opscope/column_ids.h"
#include "trace/builder.h"
#include "wire/table_block.h"

namespace opscope {

// Adds the rows of a block of any table but spans (column_spans.h); a table of a newer version is skipped. False if the
// columns contradict themselves: then nothing of the block was added, unless the number of a row is what is wrong. A
// row that refers to a row of a lost block keeps what it can.
[[nodiscard]] bool AddTableRows(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);

[[nodiscard]] bool AddArgumentLists(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);

}  // namespace opscope
