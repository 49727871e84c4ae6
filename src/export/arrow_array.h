// One table as an Arrow array and its schema; arrow_stream.cc makes a stream of the two.
//
// Ownership: every array (table, column, dictionary) owns what it needs by itself, because readers
// may move children out and release them later and elsewhere. `release` of a parent releases the
// children that were not moved.
//
// Thread rule: building is one thread; releasing any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "opscope/arrow.h"
#include "opscope/table.h"

namespace opscope {

void MakeArrowSchema(const TableView& table, ArrowSchema* out);

// REQUIRES: table is of *trace.
void MakeArrowArray(std::shared_ptr<const Trace> trace, const TableView& table, ArrowArray* out);

}  // namespace opscope
