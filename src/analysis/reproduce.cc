// Groups the calls of operators by name, overload and arguments, and chooses the group that took most time:
//
//   aten::mm   [4, 5] [5, 6]   3 us + 4 us      <- chosen
//   aten::mm   [8, 8] [8, 8]   5 us
//
// Equal argument lists have one id, so a group is three numbers and a call costs one look-up; texts are looked at once
// per distinct name. Durations are collected for the chosen group alone: a list per group would hold all spans. The
// subtree of a call is a range of rows, so its launches are found by a binary search for the last call before the
// launcher; climbing the parents of every launcher would cost the depth of the trace.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/reproduce.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "analysis/duration_quantiles.h"
#include "analysis/name_predicate.h"
#include "analysis/track_spans.h"
#include "base/hash.h"
#include "base/saturating.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr int32_t kCpuDeviceType = 0, kCudaDeviceType = 1;  // torch's numbers

bool IsIdentifier(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || IsDigit(c); });
}

struct CallKey {
  StringId name = StringId::kEmpty, overload = StringId::kNone;
  ArgsId args = ArgsId::kNone;
  bool operator==(const CallKey&) const = default;
};

struct CallKeyHash {
  size_t operator()(const CallKey& key) const {
    const uint64_t names = (uint64_t{Row(key.name)} << 32) | Row(key.overload);
    return MixedHash()(names ^ (uint64_t{Row(key.args)} * 0x9e3779b97f4a7c15u));
  }
};

struct CallGroup {
  CallKey key;
  uint32_t first = 0;
  uint64_t calls = 0;
  int64_t total_ns = 0;
};

// Which spans count, decided once per name.
class CallsOfOperators {
 public:
  CallsOfOperators(const Trace& trace, const std::vector<uint8_t>* selected)
      : spans_(trace.spans()), selected_(selected), has_operator_name_(trace, &IsOperatorName) {}

  bool Selects(size_t row) const { return IsSelected(selected_, row); }
  bool IsCall(size_t row) {
    if (!Selects(row) || (spans_.flags[row] & span_flags::kUnfinished) != 0) return false;
    return spans_.kind[row] == SpanKind::kOperator && has_operator_name_(spans_.name[row]);
  }

 private:
  const SpanColumns& spans_;
  const std::vector<uint8_t>* selected_;
  NamePredicate has_operator_name_;
};

CallKey CallKeyOf(const SpanColumns& spans, size_t row) {
  return {spans.name[row], spans.overload[row], spans.args[row]};
}

std::vector<CallGroup> GroupCalls(const SpanColumns& spans, CallsOfOperators* calls) {
  tsl::robin_map<CallKey, size_t, CallKeyHash> numbers;
  std::vector<CallGroup> groups;
  for (size_t row = 0; row < spans.size(); ++row) {
    if (!calls->IsCall(row)) continue;
    const CallKey key = CallKeyOf(spans, row);
    const auto [found, is_new] = numbers.try_emplace(key, groups.size());
    if (is_new) groups.push_back({.key = key, .first = static_cast<uint32_t>(row)});
    CallGroup& group = groups[found->second];
    ++group.calls;
    group.total_ns = SaturatingAdd(group.total_ns, spans.duration[row].ns);
  }
  return groups;
}

// Groups are in the order of their first rows, so the first of equals wins.
const CallGroup& LargestGroup(const std::vector<CallGroup>& groups) {
  return *std::max_element(groups.begin(), groups.end(), [](const CallGroup& a, const CallGroup& b) {
    const bool a_has = a.key.args != ArgsId::kNone, b_has = b.key.args != ArgsId::kNone;
    return a_has != b_has ? b_has : a.total_ns < b.total_ns;
  });
}

// The first row behind the subtree of a span.
uint32_t EndOfSubtree(const SpanColumns& spans, uint32_t row) {
  uint32_t end = row + 1;
  while (end < spans.size() && spans.parent[end] != SpanId::kNone && Row(spans.parent[end]) >= row)
    ++end;
  return end;
}

// Adds what the calls in `rows` (ascending) launched. A call inside another one of them is part of it.
void AddLaunches(const Trace& trace, const std::vector<uint32_t>& rows, RecordedCall* call) {
  const SpanColumns& spans = trace.spans();
  const LaunchColumns& launches = trace.launches();
  std::vector<uint32_t> begins, ends;  // of the subtrees of outermost calls
  for (const uint32_t row : rows) {
    if (!ends.empty() && row < ends.back()) continue;
    begins.push_back(row);
    ends.push_back(EndOfSubtree(spans, row));
  }
  for (size_t i = 0; i < launches.size(); ++i) {
    const uint32_t span = Row(launches.span[i]), launcher = Row(launches.launcher[i]);
    if (span >= spans.size() || launcher >= spans.size()) continue;
    const TrackId track = spans.track[span];
    if (track == TrackId::kNone || trace.tracks().kind[Row(track)] != TrackKind::kDeviceStream) continue;
    const auto after = std::upper_bound(begins.begin(), begins.end(), launcher);
    if (after == begins.begin() || launcher >= ends[static_cast<size_t>(after - begins.begin()) - 1]) continue;
    ++call->device_spans;
    call->device_ns = SaturatingAdd(call->device_ns, spans.duration[span].ns);
  }
}

// The device of the tensors of the first call, if the trace has it.
CallDevice DeviceOfTensors(const Trace& trace, SpanId call) {
  const TensorColumns& tensors = trace.tensors();
  const auto first = std::lower_bound(tensors.span.begin(), tensors.span.end(), call);
  const auto last = std::upper_bound(first, tensors.span.end(), call);
  CallDevice device = CallDevice::kUnknown;
  for (auto at = first; at != last; ++at) {
    const int32_t type = tensors.device_type[static_cast<size_t>(at - tensors.span.begin())];
    if (type == kCudaDeviceType) return CallDevice::kCuda;
    device = type == kCpuDeviceType ? CallDevice::kCpu : device;
  }
  return device;
}

// What the chosen spans are, if none is an operator.
Error NoOperator(const Trace& trace, const CallsOfOperators& calls) {
  const SpanColumns& spans = trace.spans();
  uint64_t chosen = 0, unfinished = 0;
  size_t first = 0;
  for (size_t row = spans.size(); row-- > 0;) {
    if (!calls.Selects(row)) continue;
    ++chosen;
    first = row;
    unfinished += (spans.flags[row] & span_flags::kUnfinished) != 0 ? 1 : 0;
  }
  if (chosen == 0) return {ErrorCode::kInvalidArgument, "no span is chosen"};
  const std::string name(trace.text(spans.name[first]));
  std::string message =
      "none of the " + std::to_string(chosen) + " chosen spans is a call of an operator of torch: '" + name + "' ";
  if (unfinished == chosen) {
    message += "is unfinished";
  } else if (spans.kind[first] == SpanKind::kOperator) {
    message += name.find("Backward") != std::string::npos || name.find("autograd") != std::string::npos
                   ? "is a node of autograd; choose an operator below it, such as one with \"name ~ aten\""
                   : "has no name of the form library::operator";
  } else {
    message.append("is of the kind ").append(SpanKindName(spans.kind[first]));
    message += "; \"kind = operator\" chooses operators";
  }
  return {ErrorCode::kInvalidArgument, message};
}

}  // namespace

bool IsOperatorName(std::string_view name) {
  const size_t colons = name.find("::");
  return colons != std::string_view::npos && IsIdentifier(name.substr(0, colons)) &&
         IsIdentifier(name.substr(colons + 2));
}

Result<RecordedCall> ChooseCall(const Trace& trace, const std::vector<uint8_t>* selected) {
  const SpanColumns& spans = trace.spans();
  CallsOfOperators calls(trace, selected);
  const std::vector<CallGroup> groups = GroupCalls(spans, &calls);
  if (groups.empty()) return NoOperator(trace, calls);
  const CallGroup& group = LargestGroup(groups);
  std::vector<uint32_t> rows;
  std::vector<int64_t> durations;
  uint64_t all_calls = 0;
  for (const CallGroup& one : groups)
    all_calls += one.calls;
  for (size_t row = group.first; row < spans.size(); ++row) {
    if (!(CallKeyOf(spans, row) == group.key) || !calls.IsCall(row)) continue;
    rows.push_back(static_cast<uint32_t>(row));
    durations.push_back(spans.duration[row].ns);
  }
  RecordedCall call{.name = group.key.name,
                    .overload = group.key.overload,
                    .args = group.key.args,
                    .first = SpanId{group.first},
                    .calls = group.calls,
                    .total_ns = group.total_ns,
                    .min_ns = *std::min_element(durations.begin(), durations.end()),
                    .max_ns = *std::max_element(durations.begin(), durations.end()),
                    .other_groups = groups.size() - 1,
                    .other_calls = all_calls - group.calls};
  call.p50_ns = QuantilesOf(durations).p50_ns;
  AddLaunches(trace, rows, &call);
  call.device = call.device_spans > 0 ? CallDevice::kCuda : DeviceOfTensors(trace, call.first);
  return call;
}

}  // namespace opscope
