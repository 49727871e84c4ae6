// Tensors, and what holds them, of column files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/opscope/column_reader.h"
#include "import/opscope/column_rows.h"
#include "wire/schema.h"

namespace opscope {

bool AddTensors(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::tensor::kSpan);
  const ColumnValues span = reader.Read(wire::tensor::kSpan, wire::kNoId);
  const ColumnValues tensor = reader.Read(wire::tensor::kTensor, 0);
  const ColumnValues storage = reader.Read(wire::tensor::kStorage, 0);
  const ColumnValues device_type = reader.Read(wire::tensor::kDeviceType, 0);
  const ColumnValues device = reader.Read(wire::tensor::kDevice, wire::kMinusOne);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const AddedSpan at = ids->Span(span[i]);
    if (at == AddedSpan::kNone) continue;  // of a lost block
    builder->AddTensor({.span = at,
                        .tensor = tensor[i],
                        .storage = storage[i],
                        .device_type = static_cast<int32_t>(device_type[i]),
                        .device = static_cast<int32_t>(device[i])});
  }
  return true;
}

bool AddHeldTensors(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::held_tensor::kTime);
  const ColumnValues time = reader.Read(wire::held_tensor::kTime, 0);
  const ColumnValues track = reader.Read(wire::held_tensor::kTrack, wire::kNoId);
  const ColumnValues owner = reader.Read(wire::held_tensor::kOwner, 0);
  const ColumnValues held_as = reader.Read(wire::held_tensor::kHeldAs, 0);
  const ColumnValues tensor = reader.Read(wire::held_tensor::kTensor, 0);
  const ColumnValues storage = reader.Read(wire::held_tensor::kStorage, 0);
  const ColumnValues device_type = reader.Read(wire::held_tensor::kDeviceType, 0);
  const ColumnValues device = reader.Read(wire::held_tensor::kDevice, wire::kMinusOne);
  const ColumnValues bytes = reader.Read(wire::held_tensor::kBytes, wire::kMinusOne);
  const ColumnValues name = reader.Read(wire::held_tensor::kName, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder->AddHeldTensor(
        {.time = {Signed(time[i])},
         .track = ids->Track(track[i]),
         .owner = owner[i],
         .held_as = static_cast<HeldAs>(std::min<uint64_t>(held_as[i], static_cast<uint64_t>(HeldAs::kOptimizerState))),
         .tensor = tensor[i],
         .storage = storage[i],
         .device_type = static_cast<int32_t>(device_type[i]),
         .device = static_cast<int32_t>(device[i]),
         .bytes = Signed(bytes[i]),
         .name = ids->String(name[i])});
  }
  return true;
}

bool AddTensorLives(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::tensor_life::kProduced);
  const ColumnValues produced = reader.Read(wire::tensor_life::kProduced, 0);
  const ColumnValues duration = reader.Read(wire::tensor_life::kDuration, wire::kMinusOne);
  const ColumnValues track = reader.Read(wire::tensor_life::kTrack, wire::kNoId);
  const ColumnValues tensor = reader.Read(wire::tensor_life::kTensor, 0);
  const ColumnValues op = reader.Read(wire::tensor_life::kOp, 0);
  const ColumnValues address = reader.Read(wire::tensor_life::kAddress, 0);
  const ColumnValues bytes = reader.Read(wire::tensor_life::kBytes, 0);
  const ColumnValues uses = reader.Read(wire::tensor_life::kUses, 0);
  const ColumnValues args = reader.Read(wire::tensor_life::kArgs, wire::kNoId);
  const ColumnValues name = reader.Read(wire::tensor_life::kName, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder->AddTensorLife({.produced = {Signed(produced[i])},
                            .duration = {Signed(duration[i])},
                            .track = ids->Track(track[i]),
                            .tensor = tensor[i],
                            .op = op[i],
                            .address = address[i],
                            .bytes = bytes[i],
                            .uses = static_cast<uint32_t>(uses[i]),
                            .args = ids->Arguments(args[i]),
                            .name = ids->String(name[i])});
  }
  return true;
}

}  // namespace opscope
