// What a column file says of the trace as a whole: problems, metadata, schemas of operators.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/opscope/column_reader.h"
#include "import/opscope/column_rows.h"
#include "wire/schema.h"

namespace opscope {

bool AddProblems(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::problem::kKind);
  const ColumnValues kind = reader.Read(wire::problem::kKind, wire::kNoId);
  const ColumnValues severity = reader.Read(wire::problem::kSeverity, 0);
  const ColumnValues count = reader.Read(wire::problem::kCount, 0);
  const ColumnValues first_offset = reader.Read(wire::problem::kFirstOffset, wire::kMinusOne);
  const ColumnValues message = reader.Read(wire::problem::kMessage, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const auto known = std::min<uint64_t>(severity[i], static_cast<uint64_t>(ProblemSeverity::kError));
    builder->RestoreProblem(builder->text(ids->String(kind[i])), static_cast<ProblemSeverity>(known), count[i],
                            Signed(first_offset[i]), builder->text(ids->String(message[i])));
  }
  return true;
}

bool AddMetadata(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::metadata::kKey);
  const ColumnValues key = reader.Read(wire::metadata::kKey, wire::kNoId);
  const ColumnValues json = reader.Read(wire::metadata::kJson, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    if (ids->String(key[i]) == StringId::kNone || ids->String(json[i]) == StringId::kNone) continue;
    builder->AddMetadata(builder->text(ids->String(key[i])), builder->text(ids->String(json[i])));
  }
  return true;
}

bool AddOperators(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::op::kName);
  const ColumnValues name = reader.Read(wire::op::kName, wire::kNoId);
  const ColumnValues arguments = reader.Read(wire::op::kArguments, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    if (ids->String(name[i]) == StringId::kNone || ids->String(arguments[i]) == StringId::kNone) continue;
    builder->AddOperator(ids->String(name[i]), ids->String(arguments[i]));
  }
  return true;
}

}  // namespace opscope
