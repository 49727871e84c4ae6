// Which operators of a trace have a row of the roofline, and the time that belongs to each, in groups of equal calls.
//
// Thread rule: pure functions; OperatorNames is for one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/roofline/operator_cost.h"
#include "opscope/trace.h"

namespace opscope {

// Finds the formula for each name of a trace: torch's, or MegEngine's if the trace has tensors of MegEngine's types.
// Looks each name up at its first use.
class OperatorNames {
 public:
  // O(strings + arguments)
  explicit OperatorNames(const Trace& trace);
  // O(1), but for the first time that a name is seen.
  const NamedOperator& Of(StringId name) {
    static const NamedOperator none;
    if (Row(name) >= names_.size()) return none;
    if (is_known_[Row(name)] == 0) {
      is_known_[Row(name)] = 1;
      names_[Row(name)] = Find(trace_.text(name));
    }
    return names_[Row(name)];
  }
  // Whether the cost of the operator depends on the attributes of a call. O(1) likewise.
  bool HasAttributes(StringId name) { return has_megengine_types_ && Of(name).has_attributes; }

 private:
  NamedOperator Find(std::string_view name) const {
    const NamedOperator found = FindOperator(name);
    const bool is_torch = found.has_formula() || found.is_bookkeeping;
    return is_torch || !has_megengine_types_ ? found : FindMegEngineOperator(name);
  }

  const Trace& trace_;
  const bool has_megengine_types_;
  std::vector<NamedOperator> names_;  // by StringId
  std::vector<uint8_t> is_known_;
};

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

// Calls of one name with one argument list and one role. Calls of an operator of MegEngine have equal attributes, too.
struct CallGroup {
  uint32_t span = 0;  // any of them
  OperatorRole role = OperatorRole::kNone;
  uint64_t calls = 0;
  int64_t host_ns = 0;     // without the time of operators inside that have a row
  int64_t device_ns = 0;   // of kernels, copies and sets that the calls launched
  bool uses_tf32 = false;  // a kernel of theirs works in TF32, as its name says
};

struct OperatorCalls {
  std::vector<CallGroup> groups;
  bool has_device_work = false;
};

// selected: 1 for each span whose call counts; null: all. O(spans + launches).
OperatorCalls GroupOperatorCalls(const Trace& trace, const std::vector<uint8_t>* selected, OperatorNames* names);

}  // namespace opscope
