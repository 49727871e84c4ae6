// The work of devices: kernels, copies and sets on the tracks of streams, what class each is of, and which call of the
// host launched it. docs/analyses.md, "Devices", has the rules.
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
  bool uses_tensor_cores = false;        // so the kernel's name says
  SpanId operator_span = SpanId::kNone;  // that launched it
  bool is_eligible = false;              // that operator can use tensor cores
};

// Which spans are work. Remembers of each name what it says.
class WorkFinder {
 public:
  explicit WorkFinder(const Trace& trace)
      : trace_(trace),
        communicates_(trace.string_count(), kUnknown),
        uses_tensor_cores_(trace.string_count(), kUnknown),
        is_eligible_(trace.string_count(), kUnknown) {}

  // nullopt: the span is none. REQUIRES: it is a span of a stream. O(log n) in launches.
  std::optional<DeviceWork> WorkOf(uint32_t span);

 private:
  enum Answer : uint8_t { kUnknown, kNo, kYes };

  template <typename Ask>
  bool Remember(std::vector<uint8_t>* answers, StringId name, const Ask& ask);
  SpanId OperatorOf(uint32_t span) const;

  const Trace& trace_;
  std::vector<uint8_t> communicates_, uses_tensor_cores_, is_eligible_;  // an Answer by StringId
};

// From works to the calls that launched them: of the host spans of their rank with their correlation the one that
// begins first. A host span is a nested one of a thread, but for the ranges of steps and of the recording itself.
class LaunchCalls {
 public:
  explicit LaunchCalls(const Trace& trace) : trace_(trace) {}

  // kNone: nothing is known to have launched the span. O(log n), the first time O(n log n) in host spans with a
  // correlation.
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
  std::vector<Call> calls_;  // sorted, the first of each rank and correlation
};

}  // namespace opscope
