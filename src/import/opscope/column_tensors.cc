// Tensors, what holds them, and what operators do with them, of column files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/opscope/column_tables.h"
#include "import/opscope/column_tables_reader.h"
#include "wire/schema.h"

namespace opscope {

bool ColumnTables::AddTensors(const TableBlock& block) {
  Reader reader(block, wire::tensor::kSpan);
  const Values span = reader.Read(wire::tensor::kSpan, wire::kNoId);
  const Values tensor = reader.Read(wire::tensor::kTensor, 0);
  const Values storage = reader.Read(wire::tensor::kStorage, 0);
  const Values device_type = reader.Read(wire::tensor::kDeviceType, 0);
  const Values device = reader.Read(wire::tensor::kDevice, wire::kMinusOne);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const AddedSpan at = Span(span[i]);
    if (at == AddedSpan::kNone) continue;  // of a lost block
    builder_->AddTensor({.span = at,
                         .tensor = tensor[i],
                         .storage = storage[i],
                         .device_type = static_cast<int32_t>(device_type[i]),
                         .device = static_cast<int32_t>(device[i])});
  }
  return true;
}

bool ColumnTables::AddHeldTensors(const TableBlock& block) {
  Reader reader(block, wire::held_tensor::kTime);
  const Values time = reader.Read(wire::held_tensor::kTime, 0);
  const Values track = reader.Read(wire::held_tensor::kTrack, wire::kNoId);
  const Values owner = reader.Read(wire::held_tensor::kOwner, 0);
  const Values held_as = reader.Read(wire::held_tensor::kHeldAs, 0);
  const Values tensor = reader.Read(wire::held_tensor::kTensor, 0);
  const Values storage = reader.Read(wire::held_tensor::kStorage, 0);
  const Values device_type = reader.Read(wire::held_tensor::kDeviceType, 0);
  const Values device = reader.Read(wire::held_tensor::kDevice, wire::kMinusOne);
  const Values bytes = reader.Read(wire::held_tensor::kBytes, wire::kMinusOne);
  const Values name = reader.Read(wire::held_tensor::kName, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder_->AddHeldTensor(
        {.time = {Signed(time[i])},
         .track = Track(track[i]),
         .owner = owner[i],
         .held_as = static_cast<HeldAs>(std::min<uint64_t>(held_as[i], static_cast<uint64_t>(HeldAs::kOptimizerState))),
         .tensor = tensor[i],
         .storage = storage[i],
         .device_type = static_cast<int32_t>(device_type[i]),
         .device = static_cast<int32_t>(device[i]),
         .bytes = Signed(bytes[i]),
         .name = String(name[i])});
  }
  return true;
}

bool ColumnTables::AddTensorLives(const TableBlock& block) {
  Reader reader(block, wire::tensor_life::kProduced);
  const Values produced = reader.Read(wire::tensor_life::kProduced, 0);
  const Values duration = reader.Read(wire::tensor_life::kDuration, wire::kMinusOne);
  const Values track = reader.Read(wire::tensor_life::kTrack, wire::kNoId);
  const Values tensor = reader.Read(wire::tensor_life::kTensor, 0);
  const Values op = reader.Read(wire::tensor_life::kOp, 0);
  const Values address = reader.Read(wire::tensor_life::kAddress, 0);
  const Values bytes = reader.Read(wire::tensor_life::kBytes, 0);
  const Values uses = reader.Read(wire::tensor_life::kUses, 0);
  const Values args = reader.Read(wire::tensor_life::kArgs, wire::kNoId);
  const Values name = reader.Read(wire::tensor_life::kName, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder_->AddTensorLife({.produced = {Signed(produced[i])},
                             .duration = {Signed(duration[i])},
                             .track = Track(track[i]),
                             .tensor = tensor[i],
                             .op = op[i],
                             .address = address[i],
                             .bytes = bytes[i],
                             .uses = static_cast<uint32_t>(uses[i]),
                             .args = args[i] - 1 < arguments_.size() ? arguments_[args[i] - 1] : ArgsId::kNone,
                             .name = String(name[i])});
  }
  return true;
}

bool ColumnTables::AddOperators(const TableBlock& block) {
  Reader reader(block, wire::op::kName);
  const Values name = reader.Read(wire::op::kName, wire::kNoId);
  const Values arguments = reader.Read(wire::op::kArguments, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    if (String(name[i]) == StringId::kNone || String(arguments[i]) == StringId::kNone) continue;
    builder_->AddOperator(String(name[i]), String(arguments[i]));
  }
  return true;
}

}  // namespace opscope
