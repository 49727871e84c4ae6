// What each version of each storage is for, found from the data flow and from what modules and optimizers hold. The
// rules, their order and what overrides what are those of torch's memory profiler; docs/analyses.md lists them.
//
// Thread rule: pure function; the result is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/torch/data_flow.h"
#include "opscope/torch/memory_timeline.h"
#include "opscope/torch/tensor_keys.h"
#include "opscope/trace.h"

namespace opscope {

// A category may be known of a tensor, of one of its storages, or of one version of that; the first that is known
// counts.
class MemoryCategories {
 public:
  MemoryCategories(const TensorKeys& keys, const DataFlow& flow);

  MemoryCategory Of(uint32_t key, uint32_t version) const;

  void SetTensor(uint32_t key, MemoryCategory category);
  void SetStorage(uint32_t key, MemoryCategory category) { of_storage_[key] = category; }
  void SetVersionIfUnset(uint32_t key, uint32_t version, MemoryCategory category);

  // Numbers the pairs of key and version, without gaps.
  size_t NumberOf(uint32_t key, uint32_t version) const { return first_version_[key] + version; }
  size_t version_count() const { return of_version_.size(); }
  // A key that the data flow does not know, but SetTensor does.
  bool is_named(uint32_t key) const { return is_named_[key] != 0; }

 private:
  const TensorKeys& keys_;
  std::vector<MemoryCategory> of_tensor_, of_storage_, of_version_;
  std::vector<size_t> first_version_;  // by key, and one more
  std::vector<uint8_t> is_named_;      // by key
};

[[nodiscard]] MemoryCategories FindMemoryCategories(const Trace& trace, const TensorKeys& keys, const DataFlow& flow);

}  // namespace opscope
