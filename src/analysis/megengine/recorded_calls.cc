// Reads the operator calls of a recording or timeline of MegEngine, as input for profile_analyze.
//
//   interpreter  OpDispatch 7
//   worker          conv1 [ Convolution 7 [ Input, Input, Output ] ]      host: the range; wait until the inputs end
//   gpu0:0                                    kernel of 7                 device: the kernel; wait since the launch
//
// A call, its kernels and its tensors are joined by id within a process. Ids repeat where MegEngine recomputes a
// dropped tensor; then the correlation, and of several calls the latest one before the kernel, decides.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opscope/megengine/element_types.h"
#include "opscope/megengine/operator_profile.h"

namespace opscope {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

double Seconds(int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

class CallReader {
 public:
  explicit CallReader(const Trace& trace) : trace_(trace), spans_(trace.spans()) {
    dispatch_ = trace.FindString("OpDispatch").value_or(StringId::kNone);
    input_ = trace.FindString("Input").value_or(StringId::kNone);
    output_ = trace.FindString("Output").value_or(StringId::kNone);
  }

  bool IsCall(uint32_t span) const {
    return spans_.kind[span] == SpanKind::kOperator && IsOnThread(span) && spans_.name[span] != dispatch_;
  }
  bool IsDispatch(uint32_t span) const {
    return dispatch_ != StringId::kNone && spans_.name[span] == dispatch_ && IsOnThread(span);
  }

  MegEngineCalls Read() {
    // Rows are in pre-order: a call precedes the spans inside it.
    std::vector<uint32_t> call_of(spans_.size(), kNone);  // by span: its index in call_times_
    for (uint32_t span = 0; span < spans_.size(); ++span) {
      const SpanId parent = spans_.parent[span];
      if (parent != SpanId::kNone && call_of[Row(parent)] != kNone) ReadPart(span, call_of[Row(parent)]);
      if (!IsCall(span)) continue;
      call_of[span] = static_cast<uint32_t>(call_times_.size());
      ReadCall(span);
    }
    AddHostTimes();
    SortCalls();
    AddKernels();
    CountUntimed();
    return std::move(calls_);
  }

 private:
  // First begin and last end of a call's kernels on one device.
  struct Kernels {
    Timestamp begin, end;
  };

  bool IsOnThread(uint32_t span) const { return trace_.tracks().kind[Row(spans_.track[span])] == TrackKind::kThread; }

  void ReadCall(uint32_t span) {
    MegEngineOperator& opr = calls_.operators.emplace_back();
    opr.type = trace_.text(spans_.name[span]);
    opr.name = ScopesOf(spans_.parent[span]) + opr.type;
    opr.id = std::to_string(spans_.external_id[span]);
    IntegerLists& in_shapes = opr.in_shapes.emplace();
    IntegerLists& in_layouts = opr.in_layouts.emplace();
    opr.out_shapes.emplace();
    opr.memory = 0;
    if (spans_.args[span] != ArgsId::kNone) {
      for (const Argument& input : trace_.arguments(spans_.args[span])) {
        in_shapes.Add(input.sizes);
        // A contiguous input has an empty list.
        in_layouts.Add(input.has_strides && !IsContiguous(input) ? input.strides : std::span<const int64_t>());
        opr.input_dtypes.emplace_back(trace_.text(input.dtype));
        AddMemory(input, &opr);
      }
    }
    calls_of_[NumberOf(span)].by_launch.push_back(static_cast<uint32_t>(call_times_.size()));
    call_times_.push_back({.span = span, .launch = spans_.start[span]});
  }

  // A span directly inside a call: the end of an input is the launch so far, an output has sizes.
  void ReadPart(uint32_t span, uint32_t call) {
    if (spans_.name[span] == input_) call_times_[call].launch = spans_.start[span] + spans_.duration[span];
    if (spans_.name[span] != output_ || spans_.args[span] == ArgsId::kNone) return;
    MegEngineOperator& opr = calls_.operators[call];
    for (const Argument& output : trace_.arguments(spans_.args[span])) {
      if (opr.out_shapes) opr.out_shapes->Add(output.sizes);
      AddMemory(output, &opr);
    }
  }

  void AddHostTimes() {
    for (size_t call = 0; call < call_times_.size(); ++call) {
      const auto& [span, launch] = call_times_[call];
      if (spans_.duration[span].ns < 0) continue;
      calls_.operators[call].host.push_back(
          {.whole = Seconds(spans_.duration[span].ns), .wait = Seconds((launch - spans_.start[span]).ns)});
    }
  }

  // The enclosing ranges as "outer.inner.". A damaged file may nest without bound, so only the innermost 64 count.
  const std::string& ScopesOf(SpanId parent) {
    constexpr size_t kMaxScopes = 64;
    const auto [found, is_new] = scopes_.try_emplace(parent == SpanId::kNone ? kNone : Row(parent));
    if (!is_new) return found->second;
    std::vector<std::string_view> names;
    for (SpanId range = parent; range != SpanId::kNone && names.size() < kMaxScopes; range = spans_.parent[Row(range)])
      names.push_back(trace_.text(spans_.name[Row(range)]));
    std::string& scopes = found->second;
    for (size_t i = names.size(); i-- > 0;)
      scopes.append(names[i]).append(".");
    return scopes;
  }

  // Without the size of one tensor the memory of the operator is unknown.
  void AddMemory(const Argument& tensor, MegEngineOperator* opr) const {
    const double bits = MegEngineElementBits(trace_.text(tensor.dtype));
    if (bits == 0 || tensor.kind != ArgumentKind::kTensor) opr->memory.reset();
    if (!opr->memory) return;
    double elements = tensor.sizes.empty() ? 0 : 1;
    for (const int64_t size : tensor.sizes)
      elements *= static_cast<double>(size);
    *opr->memory += std::ceil(elements * bits / 8);
  }

  static bool IsContiguous(const Argument& tensor) {
    int64_t stride = 1;
    for (size_t i = tensor.sizes.size(); i-- > 0;) {
      if (tensor.sizes[i] != 1 && tensor.strides[i] != stride) return false;
      stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(tensor.sizes[i]));
    }
    return true;
  }

  static uint64_t Pair(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }
  // MegEngine's ids of calls are unique within a process.
  uint64_t NumberOf(uint32_t span) const {
    return Pair(Row(trace_.tracks().process[Row(spans_.track[span])]), spans_.external_id[span]);
  }

  void AddKernels() {
    std::unordered_map<uint64_t, Kernels> kernels;  // by call and track
    std::vector<uint64_t> order;
    for (uint32_t span = 0; span < spans_.size(); ++span) {
      if (spans_.kind[span] != SpanKind::kKernel || IsOnThread(span) || spans_.duration[span].ns < 0) continue;
      const uint32_t call = CallOf(span);
      if (call == kNone) continue;
      const Timestamp begin = spans_.start[span], end = begin + spans_.duration[span];
      const auto [found, is_new] = kernels.try_emplace(Pair(call, Row(spans_.track[span])), Kernels{begin, end});
      if (is_new) order.push_back(found->first);
      found->second = {std::min(found->second.begin, begin), std::max(found->second.end, end)};
    }
    for (const uint64_t key : order) {
      const auto call = static_cast<size_t>(key >> 32);
      const Kernels& on = kernels.at(key);
      calls_.operators[call].device.push_back(
          {.whole = Seconds((on.end - on.begin).ns),
           .wait = Seconds(std::max<int64_t>((on.begin - call_times_[call].launch).ns, 0))});
    }
  }

  // The call that launched the kernel. Several calls share an id if MegEngine recomputes a dropped tensor, or if their
  // ids are unknown (0). Then those with the kernel's correlation come before the others, and the latest one launched
  // before the kernel decides. O(log n) in calls that share the id.
  uint32_t CallOf(uint32_t kernel) const {
    const auto found = calls_of_.find(NumberOf(kernel));
    if (found == calls_of_.end()) return kNone;
    const CallsOfId& calls = found->second;
    const Timestamp start = spans_.start[kernel];
    if (const uint32_t correlation = spans_.correlation[kernel]; correlation != 0) {
      const auto same = std::ranges::equal_range(calls.by_correlation, correlation, {},
                                                 [this](uint32_t call) { return CorrelationOf(call); });
      if (!same.empty()) return LatestBefore(same, start);
    }
    return LatestBefore(calls.by_launch, start);
  }

  // The last of the calls launched until `time`, else the first one. REQUIRES: by launch; not empty.
  uint32_t LatestBefore(std::span<const uint32_t> calls, Timestamp time) const {
    const auto after =
        std::ranges::upper_bound(calls, time, {}, [this](uint32_t call) { return call_times_[call].launch; });
    return after == calls.begin() ? calls.front() : *(after - 1);
  }

  uint32_t CorrelationOf(uint32_t call) const { return spans_.correlation[call_times_[call].span]; }

  void SortCalls() {
    for (auto& [id, calls] : calls_of_) {
      if (calls.by_launch.size() == 1) continue;
      std::ranges::stable_sort(calls.by_launch, {}, [this](uint32_t call) { return call_times_[call].launch; });
      calls.by_correlation = calls.by_launch;
      std::ranges::stable_sort(calls.by_correlation, {}, [this](uint32_t call) { return CorrelationOf(call); });
    }
  }

  void CountUntimed() {
    for (uint32_t span = 0; span < spans_.size(); ++span)
      calls_.untimed += IsDispatch(span) && !calls_of_.contains(NumberOf(span)) ? 1 : 0;
  }

  // Span and launch time of the operator at the same index in calls_.operators.
  struct CallTimes {
    uint32_t span = 0;
    Timestamp launch;
  };

  // Indices in call_times_ of the calls that share an id.
  struct CallsOfId {
    std::vector<uint32_t> by_launch;
    std::vector<uint32_t> by_correlation;  // and then by launch; empty for a single call, which needs no choice
  };

  const Trace& trace_;
  const SpanColumns spans_;
  StringId dispatch_, input_, output_;
  MegEngineCalls calls_;
  std::vector<CallTimes> call_times_;
  std::unordered_map<uint64_t, CallsOfId> calls_of_;  // by process and number
  std::unordered_map<uint32_t, std::string> scopes_;  // by the innermost range
};

}  // namespace

bool HasMegEngineOperators(const Trace& trace) {
  const CallReader reader(trace);
  const bool is_timeline = trace.info().format == "megengine-json";  // may be truncated before its dispatches
  for (uint32_t span = 0; span < trace.spans().size(); ++span)
    if (reader.IsDispatch(span) || (is_timeline && reader.IsCall(span))) return true;
  return false;
}

MegEngineCalls FindMegEngineCalls(const Trace& trace) {
  return CallReader(trace).Read();
}

}  // namespace opscope
