// Finds the operators that have a row, such that no time counts twice:
//
//   aten::linear [0, 100)      leaves its work to addmm: bookkeeping, 100 - 8 - 80 = 12
//     aten::t [5, 13)          a view: bookkeeping, 8
//     aten::addmm [15, 95)     has a formula: 80 - 20 = 60
//       aten::copy_ [20, 40)   has a formula of its own: 20
//       aten::empty [50, 52)   part of addmm
//
// An operator of a heavy family (products, convolutions, attention) counts where FlopsOfSpans counts it, so that FLOPs
// are those of the operator summary. One of a light family counts always, but a shell (aten::zero_, which calls
// aten::fill_) only if it calls no operator that counts. aten::abs calls another overload of aten::abs, and aten::mul_
// may call aten::mul: the inner one is part of the outer one, and its work counts once. The pass from the last row to
// the first decides about shells: rows are in pre-order, so all operators inside a shell are decided before it. The
// pass forward gives each span the innermost row around it and subtracts times.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/operator_rows.h"

#include <algorithm>

#include "analysis/device_work.h"
#include "analysis/name_predicate.h"
#include "analysis/torch/flops.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr uint32_t kNoOwner = 0xffffffff;

bool IsHostOperator(const Trace& trace, size_t span) {
  const SpanColumns& spans = trace.spans();
  return spans.kind[span] == SpanKind::kOperator && (spans.flags[span] & span_flags::kAsync) == 0 &&
         spans.track[span] != TrackId::kNone && trace.tracks().kind[Row(spans.track[span])] == TrackKind::kThread;
}

const NamedOperator& OperatorAt(const Trace& trace, const OperatorNames& names, size_t span) {
  static const NamedOperator none;
  const StringId name = trace.spans().name[span];
  return Row(name) < names.size() ? names[Row(name)] : none;
}

bool HasEmptyTensor(const Trace& trace, ArgsId args) {
  for (const Argument& argument : trace.arguments(args)) {
    if (argument.kind != ArgumentKind::kTensor) continue;
    if (std::find(argument.sizes.begin(), argument.sizes.end(), 0) != argument.sizes.end()) return true;
  }
  return false;
}

// True for the inner aten::abs of one that calls another of its overloads.
bool IsCalledByItself(const Trace& trace, const OperatorNames& names, size_t span, const CostRule& rule) {
  const SpanId parent = trace.spans().parent[span];
  return !rule.is_shell && parent != SpanId::kNone && IsHostOperator(trace, Row(parent)) &&
         OperatorAt(trace, names, Row(parent)).rule == &rule;
}

// Decides from the last row to the first; kNone stays where a span is no operator.
std::vector<OperatorRole> RolesOf(const Trace& trace, const OperatorNames& names) {
  const SpanColumns& spans = trace.spans();
  const std::vector<int64_t> flops = FlopsOfSpans(trace);
  std::vector<OperatorRole> roles(spans.size(), OperatorRole::kNone);
  std::vector<uint8_t> has_formula_inside(spans.size(), 0);
  for (size_t span = spans.size(); span-- > 0;) {
    bool counts_inside = has_formula_inside[span] != 0;
    if (IsHostOperator(trace, span)) {
      const NamedOperator& op = OperatorAt(trace, names, span);
      bool counts = false;
      if (op.flops != nullptr) {
        counts = (!flops.empty() && flops[span] != 0) || (!counts_inside && HasEmptyTensor(trace, spans.args[span]));
      } else if (op.rule != nullptr) {
        counts = (!op.rule->is_shell || !counts_inside) && !IsCalledByItself(trace, names, span, *op.rule);
      }
      const bool is_bookkeeping = op.is_bookkeeping || (op.has_formula() && counts_inside);
      roles[span] = counts           ? OperatorRole::kFormula
                    : is_bookkeeping ? OperatorRole::kBookkeeping
                                     : OperatorRole::kUnknown;
      counts_inside |= counts;
    }
    if (counts_inside && spans.parent[span] != SpanId::kNone) has_formula_inside[Row(spans.parent[span])] = 1;
  }
  return roles;
}

// Products of floats may round their inputs to 19 bits, which is up to eight times faster. "s1688" is the instruction.
bool IsNameOfTf32(std::string_view kernel) {
  return kernel.find("tf32") != std::string_view::npos || kernel.find("s1688") != std::string_view::npos;
}

// Fills device_ns and uses_tf32. The device time of a kernel, copy or set belongs to the operator row that owns its
// launcher.
void AddDeviceWork(const Trace& trace, const std::vector<uint32_t>& owner, OperatorRows* rows) {
  const LaunchColumns& launches = trace.launches();
  std::vector<int64_t>& times = rows->device_ns;
  WorkFinder works(trace);
  NamePredicate is_tf32(trace, IsNameOfTf32);
  for (size_t i = 0; i < launches.size(); ++i) {
    const uint32_t span = Row(launches.span[i]);
    const TrackId track = trace.spans().track[span];
    if (track == TrackId::kNone || trace.tracks().kind[Row(track)] != TrackKind::kDeviceStream ||
        !works.ClassOf(span).has_value())
      continue;
    if (times.empty()) {
      times.assign(trace.spans().size(), 0);
      rows->uses_tf32.assign(times.size(), 0);
    }
    const uint32_t row = launches.launcher[i] == SpanId::kNone ? kNoOwner : owner[Row(launches.launcher[i])];
    if (row == kNoOwner) continue;
    times[row] = SaturatingAdd(times[row], trace.spans().duration[span].ns);
    if (is_tf32(trace.spans().name[span])) rows->uses_tf32[row] = 1;
  }
}

}  // namespace

OperatorNames FindOperators(const Trace& trace) {
  OperatorNames names(trace.string_count());
  std::vector<uint8_t> is_known(names.size(), 0);
  const SpanColumns& spans = trace.spans();
  for (size_t span = 0; span < spans.size(); ++span) {
    const uint32_t name = Row(spans.name[span]);
    if (name >= names.size() || is_known[name] != 0) continue;
    is_known[name] = 1;
    names[name] = FindOperator(trace.text(spans.name[span]));
  }
  return names;
}

OperatorRows FindOperatorRows(const Trace& trace, const OperatorNames& names) {
  const SpanColumns& spans = trace.spans();
  OperatorRows rows{.role = RolesOf(trace, names),
                    .host_ns = std::vector<int64_t>(spans.size(), 0),
                    .device_ns = {},
                    .uses_tf32 = {}};
  std::vector<uint32_t> owner(spans.size(), kNoOwner);
  std::vector<int64_t> end(spans.size(), 0);  // clipped to that of the spans around
  for (size_t span = 0; span < spans.size(); ++span) {
    const SpanId parent = spans.parent[span];
    const uint32_t around = parent == SpanId::kNone ? kNoOwner : owner[Row(parent)];
    owner[span] = around;
    const int64_t start = spans.start[span].ns;
    end[span] = SaturatingAdd(start, spans.duration[span].ns);
    if (parent != SpanId::kNone) end[span] = std::min(end[span], std::max(start, end[Row(parent)]));
    OperatorRole& role = rows.role[span];
    if (role == OperatorRole::kNone) continue;
    const bool is_part =
        role != OperatorRole::kFormula && around != kNoOwner && rows.role[around] == OperatorRole::kFormula;
    if (is_part) {
      role = OperatorRole::kNone;
      continue;
    }
    const int64_t length = SaturatingSubtract(end[span], start);
    rows.host_ns[span] = length;
    if (around != kNoOwner) rows.host_ns[around] = SaturatingSubtract(rows.host_ns[around], length);
    owner[span] = static_cast<uint32_t>(span);
  }
  for (int64_t& time : rows.host_ns)
    time = std::max<int64_t>(0, time);  // negative where damaged input has siblings that overlap
  AddDeviceWork(trace, owner, &rows);
  return rows;
}

}  // namespace opscope
