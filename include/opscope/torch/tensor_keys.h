// One key per storage that tensors have used, from its allocation to its free, and one number per tensor: storages
// belong to one tensor when the same tensor object has had both. Addresses are told apart by what was allocated and
// freed between, so this needs everything in order of time.
//
// A key is the storage's place in the order (tensor, storage), which is also the order in which torch lists them.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

inline constexpr uint32_t kNoKey = 0xffffffff;

struct StorageKey {
  uint32_t tensor = 0;
  int32_t device_type = 0, device = -1;
  uint64_t address = 0;
};

struct TensorKeys {
  std::vector<StorageKey> keys;
  uint32_t tensor_count = 0;  // their numbers are below
  // By row of the table; kNoKey: no storage, or none that a tensor has used.
  std::vector<uint32_t> of_tensor, of_held, of_allocation;
};

// The same for every storage, in order of first appearance, also those without an address and without a tensor: what
// torch's event tree calls `id` and `allocation_id`.
struct TensorStorages {
  std::vector<uint32_t> of_tensor, of_held, of_allocation;  // by row of the table: a storage
  std::vector<uint32_t> tensor;                             // by storage: number of its tensor, kNoKey: none
};

[[nodiscard]] TensorKeys FindTensorKeys(const Trace& trace, TensorStorages* storages = nullptr);

}  // namespace opscope
