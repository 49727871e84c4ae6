// A fast hash of bytes for tables in memory. Not for files: its values may change between versions.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace opscope {

inline uint64_t HashBytes(std::span<const std::byte> bytes) {
  constexpr uint64_t kFirst = 0x9e3779b97f4a7c15u, kSecond = 0xc2b2ae3d27d4eb4fu;
  uint64_t hash = bytes.size() * kFirst;
  const std::byte* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * kSecond;
    hash ^= hash >> 32;
  }
  uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, at, left);
  hash = (hash ^ tail) * kFirst;
  return hash ^ (hash >> 29);
}

// For tables keyed by integers. The standard hash of an integer is the integer, and tables with a power of two
// of buckets look at its low bits only: keys that differ in high bits alone would all meet in one bucket.
struct MixedHash {
  size_t operator()(uint64_t key) const {
    key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(key ^ (key >> 29));
  }
};

}  // namespace opscope
