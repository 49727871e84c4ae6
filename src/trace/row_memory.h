// The memory of the columns of added spans and flows. Importers write many rows at once through it, column by column.
//
// Thread rule: as plain arrays: several threads may write different rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/trace.h"

namespace opscope {

// SpanMemory, FlowMemory, ...: a pointer per column to the first of the rows. Null for a sparse column that SpanFields
// does not name. Ids of spans are numbers of addition (AddedSpan).
#define OPSCOPE_TABLE(Name, name, number, documentation) struct Name##Memory {
#define OPSCOPE_COLUMN(type, name, default_value, stored, documentation) type* name = nullptr;
#define OPSCOPE_END_TABLE(Name, column) \
  }                                     \
  ;
#include "opscope/trace_tables.def"

// SpanFields, ...: a flag per column, which matters for sparse columns. An importer must write every row of a sparse
// column that it names here; in the others every row holds the default.
#define OPSCOPE_TABLE(Name, name, number, documentation) struct Name##Fields {
#define OPSCOPE_COLUMN(type, name, default_value, stored, documentation) bool name = false;
#define OPSCOPE_END_TABLE(Name, column) \
  }                                     \
  ;
#include "opscope/trace_tables.def"

}  // namespace opscope
