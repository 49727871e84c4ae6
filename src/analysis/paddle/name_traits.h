// Properties that Paddle's rules derive from names, computed once per name. O(1) per look-up.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "opscope/trace.h"

namespace opscope {

class PaddleNameTraits {
 public:
  enum Trait : uint8_t {
    kKnown = 1,
    kMemoryManipulation = 2,  // of a range: memcpy, memset
    kCommunicationOperator = 4,
    kCommunicationKernel = 8,
  };

  explicit PaddleNameTraits(const Trace& trace) : trace_(trace), traits_(trace.string_count()) {}

  bool Has(StringId name, Trait trait) {
    uint8_t& traits = traits_[Row(name)];
    if (traits == 0) traits = TraitsOf(trace_.text(name));
    return (traits & trait) != 0;
  }

 private:
  static uint8_t TraitsOf(std::string_view name) {
    const std::string lower = LowerCase(name);
    const auto has = [&](std::initializer_list<std::string_view> words, Trait trait) {
      for (const std::string_view word : words)
        if (lower.find(word) != std::string::npos) return static_cast<int>(trait);
      return 0;
    };
    return static_cast<uint8_t>(kKnown | has({"memcpy", "memorycopy", "memset"}, kMemoryManipulation) |
                                has({"allreduce", "broadcast", "rpc"}, kCommunicationOperator) |
                                has({"nccl", "xccl"}, kCommunicationKernel));
  }

  const Trace& trace_;
  std::vector<uint8_t> traits_;
};

}  // namespace opscope
