// Device work: kernels, copies and sets on stream tracks, with the class of each and the host call that launched it.
// docs/reference/devices.md, has the rules.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

enum class WorkClass : uint8_t { kCompute, kCommunication, kCopy };

struct DeviceWork {
  uint32_t span = 0;
  WorkClass work_class = WorkClass::kCompute;
  SpanKind kind = SpanKind::kKernel;     // kKernel, kCopy or kSet
  int64_t begin = 0, end = 0;            // ns
  bool uses_tensor_cores = false;        // by the kernel's name
  SpanId operator_span = SpanId::kNone;  // the operator that launched it; kNone: unknown
  bool is_eligible = false;              // the operator can use tensor cores
};

// Classifies device spans. Caches the result per name.
class WorkFinder {
 public:
  explicit WorkFinder(const Trace& trace)
      : trace_(trace),
        communicates_(trace.string_count(), kUnknown),
        uses_tensor_cores_(trace.string_count(), kUnknown),
        is_eligible_(trace.string_count(), kUnknown) {}

  // nullopt if the span is no work. REQUIRES: the span is on a stream. O(log launches).
  std::optional<DeviceWork> WorkOf(uint32_t span);

 private:
  enum Answer : uint8_t { kUnknown, kNo, kYes };

  template <typename Ask>
  bool Memoize(std::vector<uint8_t>* answers, StringId name, const Ask& ask);
  SpanId OperatorOf(uint32_t span) const;

  const Trace& trace_;
  std::vector<uint8_t> communicates_, uses_tensor_cores_, is_eligible_;  // Answer by StringId
};

// Finds the call that launched a device span: among the host spans of its rank with its correlation, the one that
// begins first. Host spans are the nested spans of threads, except steps and the span of the recording itself.
class LaunchCalls {
 public:
  explicit LaunchCalls(const Trace& trace) : trace_(trace) {}

  // kNone if no call is known. O(log n); the first call sorts the n host spans with a correlation, O(n log n).
  SpanId LaunchOf(uint32_t span);

 private:
  struct Call {
    int32_t rank = -1;
    uint32_t correlation = 0;
    int64_t begin = 0;
    uint32_t span = 0;
    auto operator<=>(const Call&) const = default;
  };

  void FindCalls();

  const Trace& trace_;
  bool are_found_ = false;
  std::vector<Call> calls_;  // sorted; only the first of each rank and correlation
};

}  // namespace opscope
