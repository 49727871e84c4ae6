// Memory to read in which every byte is 0x00, or every byte is 0xff, and which costs next to nothing however long it
// is: the pages are one page (zeros) or one small piece (ones) of the machine, mapped again and again.
//
//   ConstantMemory ones(0xff);
//   auto* none = static_cast<const StringId*>(ones.AtLeast(rows * sizeof(StringId)));   // all kNone
//
// Thread rule: one thread at a time in AtLeast; what it returned may be read by any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace opscope {

class ConstantMemory {
 public:
  explicit ConstantMemory(uint8_t byte) : byte_(byte) {}

  // Stays valid as long as this object, also after larger requests. Throws AllocationFailure.
  const void* AtLeast(size_t bytes);

 private:
  struct Unmap {
    size_t bytes;
    void operator()(std::byte* memory) const;
  };
  using Mapping = std::unique_ptr<std::byte, Unmap>;

  Mapping Map(size_t bytes) const;

  uint8_t byte_;
  size_t bytes_ = 0;  // of the newest
  std::vector<Mapping> mappings_;
};

}  // namespace opscope
