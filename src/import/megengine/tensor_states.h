// The tensors of a MegEngine window: from declare to erase, and each one's row of tensor_lives.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "import/megengine/replay_record.h"
#include "trace/builder.h"

namespace opscope {

class TensorStates {
 public:
  explicit TensorStates(TraceBuilder* builder) : builder_(builder) {}

  void Declare(uint64_t tensor, StringId name);
  void Dispatch(uint64_t op, std::span<const std::byte> lists);
  // track: the device's.
  void Produce(const MegEngineRecord& record, TrackId track);
  void Release(uint64_t tensor, Timestamp time);
  void Erase(uint64_t tensor);
  bool is_alive(uint64_t tensor) const;
  // The argument list of one tensor; kNone: it was never produced.
  ArgsId ArgsOf(uint64_t tensor) const;
  // Adds the rows of the tensors that were not erased.
  void Finish();

  // Decodes sizes and strides of a tensor of this element type. bytes: from the first to the last element. before:
  // offset in bytes of the lowest address from the first element, 0 or less. kNone: the arguments are malformed.
  ArgsId Layout(std::span<const std::byte> arguments, StringId type, uint64_t* bytes, int64_t* before);

 private:
  struct State {
    TensorLifeRow row;
    bool is_declared = false, is_alive = false;
  };
  State& Of(uint64_t tensor);

  TraceBuilder* builder_;
  tsl::robin_map<uint64_t, State> states_;
};

}  // namespace opscope
