// A tensor is identified by its number from its declaration to its erasure, when it becomes a row; tensors that remain
// at the end become rows in the order of their numbers. The bytes of a strided layout are those from the first to the
// last element reached, in wrapping arithmetic, because a damaged recording may have any sizes:
//
//   sizes {2,3}, strides {8,1}, Float32   ->   1*8 + 2*1 + 1 = 11 elements, 44 bytes
// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/tensor_states.h"

#include <algorithm>

#include "base/varint.h"
#include "opscope/megengine/element_types.h"
#include "opscope/record.h"

namespace opscope {
namespace {

// The next list of numbers; false: there is no list.
template <typename Visit>
bool ReadList(ByteReader* reader, const Visit& visit) {
  const auto tag = reader->Fixed<uint32_t>();
  if (!reader->ok() || (tag & 15u) != static_cast<uint32_t>(ArgKind::kIntList)) return false;
  for (uint32_t i = 0; i < tag >> 16 && reader->ok(); ++i) {
    const auto number = reader->Fixed<uint64_t>();
    if (reader->ok()) visit(number);
  }
  return reader->ok();
}

}  // namespace

TensorStates::State& TensorStates::Of(uint64_t tensor) {
  State& state = states_[tensor];
  state.row.tensor = tensor;
  return state;
}

void TensorStates::Declare(uint64_t tensor, StringId name) {
  State& state = Of(tensor);
  if (!state.is_declared) state.row.name = name;
  state.is_declared = true;
}

void TensorStates::Dispatch(uint64_t op, std::span<const std::byte> lists) {
  ByteReader reader(lists);
  ReadList(&reader, [&](uint64_t input) { ++Of(input).row.uses; }) &&
      ReadList(&reader, [&](uint64_t output) { Of(output).row.op = op; });
}

ArgsId TensorStates::Layout(std::span<const std::byte> arguments, StringId type, uint64_t* bytes, int64_t* before) {
  ByteReader reader(arguments);
  const auto tag = reader.Fixed<uint32_t>();
  const uint32_t count = tag >> 16;
  const bool dense = (tag & arg_flags::kContiguous) != 0;
  const bool is_tensor = (tag & 15u) == static_cast<uint32_t>(ArgKind::kTensor) && (tag & arg_flags::kWide) != 0;
  if (!reader.ok() || !is_tensor || count > kMaxMegEngineDimensions) {
    return ArgsId::kNone;
  }
  int64_t numbers[2 * kMaxMegEngineDimensions] = {};
  for (uint32_t i = 0; i < count * (dense ? 1 : 2); ++i)
    numbers[i] = reader.Fixed<int64_t>();
  if (!reader.ok()) return ArgsId::kNone;
  if (dense) {
    uint64_t stride = 1;
    for (uint32_t i = count; i-- > 0; stride *= static_cast<uint64_t>(numbers[i]))
      numbers[count + i] = static_cast<int64_t>(stride);
  }
  const std::span<const int64_t> sizes(numbers, count), strides(numbers + count, count);
  uint64_t low = 0, high = 0;  // two's complement, because a damaged recording may have any sizes
  bool is_empty = false;
  for (uint32_t i = 0; i < count; ++i) {
    is_empty |= sizes[i] == 0;
    const uint64_t reach = (static_cast<uint64_t>(sizes[i]) - 1) * static_cast<uint64_t>(strides[i]);
    (static_cast<int64_t>(reach) < 0 ? low : high) += reach;
  }
  const uint64_t bits = MegEngineElementBits(builder_->text(type));
  *before = is_empty ? 0 : static_cast<int64_t>(low * bits) / 8;
  *bytes = is_empty ? 0 : ((high + 1 - low) * bits + 7) / 8;
  const ArgumentRow row{
      .kind = ArgumentKind::kTensor, .dtype = type, .has_strides = true, .sizes = sizes, .strides = strides};
  return builder_->AddArguments({&row, 1});
}

void TensorStates::Produce(const MegEngineRecord& record, TrackId track) {
  State& state = Of(record.value);
  int64_t before = 0;
  state.row.args = Layout(record.arguments, record.name, &state.row.bytes, &before);
  state.row.address = record.address == 0 ? 0 : record.address + static_cast<uint64_t>(before);
  state.row.produced = record.time;
  state.row.duration = {-1};
  state.row.track = track;
  state.is_alive = true;
}

void TensorStates::Release(uint64_t tensor, Timestamp time) {
  State& state = Of(tensor);
  if (state.is_alive) state.row.duration = LengthOf(state.row.produced, time);
  state.is_alive = false;
}

void TensorStates::Erase(uint64_t tensor) {
  const auto found = states_.find(tensor);
  if (found == states_.end()) return;
  builder_->AddTensorLife(found->second.row);
  states_.erase(found);
}

bool TensorStates::is_alive(uint64_t tensor) const {
  const auto found = states_.find(tensor);
  return found != states_.end() && found->second.is_alive;
}

ArgsId TensorStates::ArgsOf(uint64_t tensor) const {
  const auto found = states_.find(tensor);
  return found == states_.end() ? ArgsId::kNone : found->second.row.args;
}

void TensorStates::Finish() {
  std::vector<uint64_t> left;
  for (const auto& [tensor, state] : states_)
    left.push_back(tensor);
  std::sort(left.begin(), left.end());
  for (const uint64_t tensor : left)
    Erase(tensor);
}

}  // namespace opscope
