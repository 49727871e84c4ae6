// One table as an Arrow array and its schema (C data interface); arrow_stream.cc makes a stream of the two.
//
// Ownership: every array (table, column, dictionary) owns its memory, because readers may move children out and release
// them later and on another thread. `release` of a parent releases the children that were not moved.
//
// Thread rule: one thread builds; any thread may release.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "opscope/arrow.h"
#include "opscope/table.h"

namespace opscope {

void MakeArrowSchema(const TableView& table, ArrowSchema* out);

// REQUIRES: `table` is a table of *trace. Number columns are not copied: the array keeps the Trace alive.
void MakeArrowArray(std::shared_ptr<const Trace> trace, const TableView& table, ArrowArray* out);

}  // namespace opscope
