// Finds the node of a path by its parent's node and its last name. An open-addressing table of 8-byte buckets: 32 bits
// of the hash (the tag) and the number of the node. A million paths of a program without repetition are a million
// insertions; a map of (key, node) pairs takes three times as long, because it moves pairs when it grows.
//
//   PathIndex index;
//   if (index.Find(parent, name) == PathIndex::kNone) index.Add(parent, name, node);
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace opscope {

class PathIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  uint32_t Find(uint32_t parent, uint32_t name) {
    if ((count_ + 1) * 4 >= slots_.size() * 3) Grow();
    const uint64_t key = uint64_t{parent} << 32 | name;
    const uint32_t tag = TagOf(key);
    size_t at = tag >> shift_;
    for (; slots_[at] != 0; at = (at + 1) & mask_) {
      const auto node = static_cast<uint32_t>(slots_[at]) - 1;
      if (static_cast<uint32_t>(slots_[at] >> 32) == tag && keys_[node] == key) return node;
    }
    free_ = at;
    return kNone;
  }

  // REQUIRES: Find(parent, name) was called just before and gave kNone; no smaller node is added later.
  void Add(uint32_t parent, uint32_t name, uint32_t node) {
    const uint64_t key = uint64_t{parent} << 32 | name;
    keys_.resize(node + size_t{1});
    keys_[node] = key;
    slots_[free_] = uint64_t{TagOf(key)} << 32 | (node + uint64_t{1});
    ++count_;
  }

 private:
  static uint32_t TagOf(uint64_t key) {
    key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15u;
    return static_cast<uint32_t>((key ^ (key << 29)) >> 32);
  }

  // The high bits of the tag say where a path belongs, so the new table is written from its begin to its end.
  void Grow() {
    std::vector<uint64_t> larger(slots_.empty() ? 1024 : slots_.size() * 2, 0);
    mask_ = larger.size() - 1;
    shift_ = static_cast<unsigned>(std::countl_zero(static_cast<uint32_t>(mask_)));
    for (const uint64_t slot : slots_) {
      if (slot == 0) continue;
      size_t at = static_cast<uint32_t>(slot >> 32) >> shift_;
      while (larger[at] != 0)
        at = (at + 1) & mask_;
      larger[at] = slot;
    }
    slots_.swap(larger);
  }

  std::vector<uint64_t> slots_;  // tag and node + 1; 0: free
  std::vector<uint64_t> keys_;   // by node: parent and name
  size_t count_ = 0, mask_ = 0, free_ = 0;
  unsigned shift_ = 0;  // from a tag to its bucket
};

}  // namespace opscope
