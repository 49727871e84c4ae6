// Which operators of a trace have a row of the roofline, and the time that belongs to each.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/roofline/operator_cost.h"
#include "opscope/trace.h"

namespace opscope {

// How an operator counts.
enum class OperatorRole : uint8_t {
  // No operator, or a part of the operator with a formula around it.
  kNone,
  // Has a row, and its cost is that of its formula.
  kFormula,
  // Has a row without cost: a view, or one that leaves its work to operators inside it.
  kBookkeeping,
  // Has a row of unknown cost.
  kUnknown,
};

struct OperatorRows {
  // By span.
  std::vector<OperatorRole> role;
  // By span: its time without that of spans with a row inside it, in ns; 0 without a row.
  std::vector<int64_t> host_ns;
  // By span: device time that belongs to its row, in ns. Empty if the trace has no work of a device.
  std::vector<int64_t> device_ns;
  // By span: 1 if a kernel of its row works in TF32, as its name says. As long as device_ns.
  std::vector<uint8_t> uses_tf32;
};

// What each name of a trace means, by StringId.
using OperatorNames = std::vector<NamedOperator>;
OperatorNames FindOperators(const Trace& trace);

// O(spans + launches).
OperatorRows FindOperatorRows(const Trace& trace, const OperatorNames& names);

}  // namespace opscope
