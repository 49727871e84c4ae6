// Identifies the storages that tensors have used. Each storage has one key from its
// allocation to its free, each tensor one number: two storages belong to one tensor
// if the same tensor object has had both. Allocators reuse addresses, so
// allocations and frees between two uses distinguish them; this needs all rows in
// order of time.
//
// A key is the storage's index in the order (tensor, storage), the order in which
// torch lists them.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// No storage.
inline constexpr uint32_t kNoKey = 0xffffffff;

// One storage.
struct StorageKey {
  // Number of its tensor, below TensorKeys::tensor_count.
  uint32_t tensor = 0;
  // As in AllocationColumns.
  int32_t device_type = 0, device = -1;
  // Address while it lived.
  uint64_t address = 0;
};

// Keys of all storages that tensors have used.
struct TensorKeys {
  std::vector<StorageKey> keys;
  // Number of tensors.
  uint32_t tensor_count = 0;
  // By row of tensors, held_tensors and allocations: the key; kNoKey: no storage,
  // or one that no tensor used.
  std::vector<uint32_t> of_tensor, of_held, of_allocation;
};

// The same for every storage in order of first appearance, also without an address
// or a tensor: what torch's event tree calls `id` and `allocation_id`.
struct TensorStorages {
  // By row of tensors, held_tensors and allocations: the storage.
  std::vector<uint32_t> of_tensor, of_held, of_allocation;
  // By storage: number of its tensor; kNoKey: none.
  std::vector<uint32_t> tensor;
};

// O(n log n) in tensors and allocations. Fills *storages if it is not null.
[[nodiscard]] TensorKeys FindTensorKeys(const Trace& trace, TensorStorages* storages = nullptr);

}  // namespace opscope
