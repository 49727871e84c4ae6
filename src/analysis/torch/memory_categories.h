// The category of each version of each storage (parameter, gradient, activation, ...), derived from the data flow and
// from the tensors that modules and optimizers hold. Rules and precedence are those of torch's memory profiler;
// docs/reference/memory_timeline.md lists them. Look-ups are O(1).
//
// Thread rule: pure function; the result is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/torch/data_flow.h"
#include "opscope/torch/memory_timeline.h"
#include "opscope/torch/tensor_keys.h"
#include "opscope/trace.h"

namespace opscope {

// A category may be set for a tensor, a storage, or one version of a storage; the first of these that is set counts.
class MemoryCategories {
 public:
  MemoryCategories(const TensorKeys& keys, const DataFlow& flow);

  MemoryCategory Of(uint32_t key, uint32_t version) const;

  void SetTensor(uint32_t key, MemoryCategory category);
  void SetStorage(uint32_t key, MemoryCategory category) { of_storage_[key] = category; }
  void SetVersionIfUnset(uint32_t key, uint32_t version, MemoryCategory category);

  // A dense number for each pair of key and version.
  size_t NumberOf(uint32_t key, uint32_t version) const { return first_version_[key] + version; }
  size_t version_count() const { return of_version_.size(); }
  // True if SetTensor was called with the key.
  bool is_named(uint32_t key) const { return is_named_[key] != 0; }

 private:
  const TensorKeys& keys_;
  std::vector<MemoryCategory> of_tensor_, of_storage_, of_version_;
  std::vector<size_t> first_version_;  // by key, with one entry more
  std::vector<uint8_t> is_named_;      // by key
};

// O(edges) per rule.
[[nodiscard]] MemoryCategories FindMemoryCategories(const Trace& trace, const TensorKeys& keys, const DataFlow& flow);

}  // namespace opscope
