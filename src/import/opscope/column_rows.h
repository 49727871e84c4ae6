// Adds the rows of a column file's table to a TraceBuilder.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "import/opscope/column_ids.h"
#include "trace/builder.h"
#include "wire/table_block.h"

namespace opscope {

// Adds the rows of a block of any table except spans (column_spans.h); an unknown table, from a newer version, is
// skipped. False if the columns are inconsistent: then nothing of the block was added, unless the number of a row is at
// fault. A row that refers to a row of a lost block is added without the reference.
[[nodiscard]] bool AddTableRows(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);

[[nodiscard]] bool AddArgumentLists(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder);

}  // namespace opscope
