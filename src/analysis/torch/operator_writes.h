// Which arguments a call writes to. A recording knows an operator's name and arguments, not its overload; so every
// overload of the name that fits the arguments counts, as in torch's own memory profiler. A call that fits none (a
// user's range, a kind of argument that is not recorded) may write to any tensor, as far as anyone knows.
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
  bool fits = false;  // some overload does
  std::vector<Writes> by_argument;
};

class OperatorWrites {
 public:
  explicit OperatorWrites(const Trace& trace);

  // Of span `row`, whose tensors have these storages (TensorColumns). Valid until the next call.
  const CallWrites& Of(uint32_t row, std::span<const uint64_t> storages);
  bool empty() const { return overloads_.empty(); }

 private:
  void Match(uint32_t row, std::span<const uint64_t> storages, CallWrites* writes) const;
  // As the codes of OperatorColumns: t T b i f c, 0 for what is None or not recorded, x for what fits nothing.
  std::string Observed(uint32_t row, std::span<const uint64_t> storages) const;

  const Trace& trace_;
  tsl::robin_map<uint32_t, std::vector<std::string_view>> overloads_;  // by name
  std::vector<CallWrites> known_;
  tsl::robin_map<uint64_t, uint32_t> number_;  // of known_, by name and argument list
  CallWrites other_;
};

}  // namespace opscope
