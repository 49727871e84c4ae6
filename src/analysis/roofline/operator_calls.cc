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
// the first decides about shells: rows are in pre-order, so all operators inside a shell are decided before it.
//
// The pass forward keeps the open calls on a stack and adds each to its group when it closes. What remains by span is
// one byte for its role and four for its group, to which the pass over the launches adds the times of the device. Arrays
// of times by span take twice as long: much of it goes into page faults.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/operator_calls.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>

#include "analysis/device_work.h"
#include "analysis/name_predicate.h"
#include "analysis/torch/flop_calls.h"
#include "analysis/track_spans.h"
#include "base/hash.h"
#include "base/huge_pages.h"
#include "base/saturating.h"
#include "opscope/megengine/element_types.h"

namespace opscope {
namespace {

constexpr uint32_t kNoGroup = 0xffffffff;

template <typename T>
std::vector<T> FilledOnHugePages(size_t count, T value) {
  std::vector<T> filled;
  ReserveOnHugePages(&filled, count);
  filled.resize(count, value);
  return filled;
}

bool HasEmptyTensor(const Trace& trace, ArgsId args) {
  for (const Argument& argument : trace.arguments(args)) {
    if (argument.kind != ArgumentKind::kTensor) continue;
    if (std::find(argument.sizes.begin(), argument.sizes.end(), 0) != argument.sizes.end()) return true;
  }
  return false;
}

bool HasMegEngineTypes(const Trace& trace) {
  for (uint32_t list = 0; list < trace.argument_list_count(); ++list) {
    for (const Argument& argument : trace.arguments(ArgsId{list}))
      if (argument.kind == ArgumentKind::kTensor && MegEngineElementBits(trace.text(argument.dtype)) > 0) return true;
  }
  return false;
}

// Decides about the spans of threads from the last row to the first.
class RoleFinder {
 public:
  RoleFinder(const Trace& trace, OperatorNames* names)
      : trace_(trace),
        spans_(trace.spans()),
        names_(*names),
        flop_calls_(FindFlopCalls(trace, FlopRuleSet::kAll).whole),
        roles_(FilledOnHugePages<OperatorRole>(spans_.size(), OperatorRole::kNone)),
        counts_inside_(FilledOnHugePages<uint8_t>(spans_.size(), 0)) {}

  std::vector<OperatorRole> Find() {
    const TrackColumns& tracks = trace_.tracks();
    for (uint32_t track = static_cast<uint32_t>(tracks.size()); track-- > 0;) {
      if (tracks.kind[track] != TrackKind::kThread) continue;
      const uint32_t first = tracks.first_span[track];
      for (uint32_t span = first + tracks.span_count[track]; span-- > first;)
        Decide(span);
    }
    return std::move(roles_);
  }

 private:
  bool IsHostOperator(uint32_t span) const {
    return spans_.kind[span] == SpanKind::kOperator && (spans_.flags[span] & span_flags::kAsync) == 0;
  }

  void Decide(uint32_t span) {
    bool counts_inside = counts_inside_[span] != 0;
    if (IsHostOperator(span)) {
      const NamedOperator& op = names_.Of(spans_.name[span]);
      const bool counts = Counts(span, op, counts_inside);
      const bool is_bookkeeping = op.is_bookkeeping || (op.has_formula() && counts_inside);
      roles_[span] = counts           ? OperatorRole::kFormula
                     : is_bookkeeping ? OperatorRole::kBookkeeping
                                      : OperatorRole::kUnknown;
      counts_inside |= counts;
    }
    if (counts_inside && spans_.parent[span] != SpanId::kNone) counts_inside_[Row(spans_.parent[span])] = 1;
  }

  bool Counts(uint32_t span, const NamedOperator& op, bool counts_inside) {
    if (op.flops != nullptr) return HasFlops(span) || (!counts_inside && HasEmptyTensor(trace_, spans_.args[span]));
    if (op.rule == nullptr) return false;
    return op.rule->is_shell ? !counts_inside : !IsCalledByItself(span, *op.rule);
  }

  // REQUIRES: the spans of successive calls decrease.
  bool HasFlops(uint32_t span) {
    while (!flop_calls_.empty() && flop_calls_.back().row > span)
      flop_calls_.pop_back();
    return !flop_calls_.empty() && flop_calls_.back().row == span && flop_calls_.back().flops != 0;
  }

  // True for the inner aten::abs of one that calls another of its overloads.
  bool IsCalledByItself(uint32_t span, const CostRule& rule) {
    const SpanId parent = spans_.parent[span];
    return parent != SpanId::kNone && IsHostOperator(Row(parent)) && names_.Of(spans_.name[Row(parent)]).rule == &rule;
  }

  const Trace& trace_;
  const SpanColumns spans_;
  OperatorNames& names_;
  std::vector<FlopCall> flop_calls_;
  std::vector<OperatorRole> roles_;
  std::vector<uint8_t> counts_inside_;  // by span: 1 if an operator inside it counts
};

class CallGrouper {
 public:
  CallGrouper(const Trace& trace, const std::vector<uint8_t>* selected, OperatorNames* names)
      : trace_(trace),
        spans_(trace.spans()),
        selected_(selected),
        names_(*names),
        roles_(RoleFinder(trace, names).Find()),
        group_of_(FilledOnHugePages<uint32_t>(spans_.size(), kNoGroup)) {}

  OperatorCalls Run() {
    const TrackColumns& tracks = trace_.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] != TrackKind::kThread) continue;
      for (const uint32_t span : SpansOfTrack(trace_, track))
        Open(span);
      CloseUntil(SpanId::kNone);
    }
    AddDeviceWork();
    return std::move(calls_);
  }

 private:
  static constexpr size_t kNoRow = SIZE_MAX;

  struct OpenSpan {
    uint32_t span = 0;
    bool has_row = false;
    size_t row_around = kNoRow;  // index in open_ of the innermost span with a row, itself included
    int64_t end = 0;             // ns, clipped to those of the spans around
    int64_t own_ns = 0;          // without those inside that have a row
  };

  struct CallKey {
    uint64_t name_and_arguments = 0;
    StringId attributes = StringId::kNone;
    bool operator==(const CallKey&) const = default;
  };
  struct CallKeyHash {
    size_t operator()(const CallKey& key) const {
      return MixedHash()(key.name_and_arguments ^ MixedHash()(Row(key.attributes)));
    }
  };

  // Closes all but the ancestors of a child of `parent`.
  void CloseUntil(SpanId parent) {
    while (!open_.empty() && (parent == SpanId::kNone || open_.back().span > Row(parent))) {
      const OpenSpan& closed = open_.back();
      // Negative where damaged input has siblings that overlap.
      if (closed.has_row && group_of_[closed.span] != kNoGroup) {
        CallGroup& group = calls_.groups[group_of_[closed.span]];
        group.host_ns = SaturatingAdd(group.host_ns, std::max<int64_t>(0, closed.own_ns));
      }
      open_.pop_back();
    }
  }

  void Open(uint32_t span) {
    CloseUntil(spans_.parent[span]);
    const size_t at = open_.size();
    // Filled in place: GCC copies a local object by wide loads, which wait for the narrow stores before them.
    OpenSpan& opened = open_.emplace_back();
    opened.span = span;
    const int64_t start = spans_.start[span].ns;
    opened.end = SaturatingAdd(start, spans_.duration[span].ns);
    if (at > 0) {
      opened.end = std::min(opened.end, std::max(start, open_[at - 1].end));
      opened.row_around = open_[at - 1].row_around;
    }
    const bool is_inside = opened.row_around != kNoRow;
    OpenSpan& around = open_[is_inside ? opened.row_around : at];
    const OperatorRole role = roles_[span];
    const bool is_part = role != OperatorRole::kFormula && is_inside && roles_[around.span] == OperatorRole::kFormula;
    if (role == OperatorRole::kNone || is_part) {
      if (is_inside) group_of_[span] = group_of_[around.span];
      return;
    }
    opened.has_row = true;
    opened.own_ns = SaturatingSubtract(opened.end, start);
    if (is_inside) around.own_ns = SaturatingSubtract(around.own_ns, opened.own_ns);
    opened.row_around = at;
    if (IsSelected(selected_, span)) group_of_[span] = AddCall(span, role);
  }

  uint32_t AddCall(uint32_t span, OperatorRole role) {
    const CallKey key = {uint64_t{Row(spans_.name[span])} << 32 | Row(spans_.args[span]),
                         names_.HasAttributes(spans_.name[span]) ? spans_.extra[span] : StringId::kNone};
    constexpr std::array<uint32_t, 4> kNone = {kNoGroup, kNoGroup, kNoGroup, kNoGroup};
    uint32_t& number = numbers_.try_emplace(key, kNone).first.value()[static_cast<size_t>(role)];
    if (number == kNoGroup) {
      number = static_cast<uint32_t>(calls_.groups.size());
      calls_.groups.push_back({.span = span, .role = role});
    }
    ++calls_.groups[number].calls;
    return number;
  }

  // Products of floats may round their inputs to 19 bits, which is up to eight times faster. "s1688" is the instruction.
  static bool IsNameOfTf32(std::string_view kernel) {
    return kernel.find("tf32") != std::string_view::npos || kernel.find("s1688") != std::string_view::npos;
  }

  // The device time of a kernel, copy or set belongs to the row around its launcher.
  void AddDeviceWork() {
    const LaunchColumns& launches = trace_.launches();
    const TrackColumns& tracks = trace_.tracks();
    WorkFinder works(trace_);
    NamePredicate is_tf32(trace_, IsNameOfTf32);
    for (size_t i = 0; i < launches.size(); ++i) {
      const uint32_t span = Row(launches.span[i]);
      const TrackId track = spans_.track[span];
      if (track == TrackId::kNone || tracks.kind[Row(track)] != TrackKind::kDeviceStream ||
          !works.ClassOf(span).has_value())
        continue;
      calls_.has_device_work = true;
      const uint32_t number = launches.launcher[i] == SpanId::kNone ? kNoGroup : group_of_[Row(launches.launcher[i])];
      if (number == kNoGroup) continue;
      CallGroup& group = calls_.groups[number];
      group.device_ns = SaturatingAdd(group.device_ns, spans_.duration[span].ns);
      if (!group.uses_tf32) group.uses_tf32 = is_tf32(spans_.name[span]);
    }
  }

  const Trace& trace_;
  const SpanColumns spans_;
  const std::vector<uint8_t>* selected_;
  OperatorNames& names_;
  const std::vector<OperatorRole> roles_;
  // By span: the group of the innermost span with a row, itself included.
  std::vector<uint32_t> group_of_;
  std::vector<OpenSpan> open_;
  tsl::robin_map<CallKey, std::array<uint32_t, 4>, CallKeyHash> numbers_;  // groups by role
  OperatorCalls calls_;
};

}  // namespace

OperatorNames::OperatorNames(const Trace& trace)
    : trace_(trace),
      has_megengine_types_(HasMegEngineTypes(trace)),
      names_(trace.string_count()),
      is_known_(names_.size(), 0) {
}

OperatorCalls GroupOperatorCalls(const Trace& trace, const std::vector<uint8_t>* selected, OperatorNames* names) {
  return CallGrouper(trace, selected, names).Run();
}

}  // namespace opscope
