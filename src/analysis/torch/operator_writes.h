// Finds the arguments that a call writes. A recording has an operator's name and arguments, not its overload, so every
// overload of the name that fits the arguments counts, as in torch's memory profiler. A call that fits none (a user's
// range, an argument of an unrecorded kind) has unknown effects.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

enum class Writes : uint8_t { kNo, kYes, kUnknown };

struct CallWrites {
  bool fits = false;  // some overload fits
  std::vector<Writes> by_argument;
};

class OperatorWrites {
 public:
  explicit OperatorWrites(const Trace& trace);

  // The effects of the call in span `row`; `storages`: of its tensors (TensorColumns). Valid until the next call.
  const CallWrites& Of(uint32_t row, std::span<const uint64_t> storages);

 private:
  void Match(uint32_t row, std::span<const uint64_t> storages, CallWrites* writes) const;
  // The call's arguments as codes of OperatorColumns: t T b i f c, 0 for None or unrecorded, x for one that fits
  // nothing.
  std::string Observed(uint32_t row, std::span<const uint64_t> storages) const;

  const Trace& trace_;
  tsl::robin_map<uint32_t, std::vector<std::string_view>> overloads_;  // by name
  std::vector<CallWrites> known_;
  tsl::robin_map<uint64_t, uint32_t> number_;  // index in known_, by name and argument list
  CallWrites other_;                           // result for a call with undefined tensors, not cached
};

}  // namespace opscope
