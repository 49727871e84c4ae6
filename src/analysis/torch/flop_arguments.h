// Accessors of recorded call arguments, for FLOP formulas.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// The i-th argument if it is a tensor, else null.
const Argument* TensorAt(std::span<const Argument> arguments, size_t i);
// Number of elements; 0 for null.
uint64_t CountOf(const Argument* tensor);
// Size of a dimension. REQUIRES: the tensor has it.
inline uint64_t Size(const Argument* tensor, size_t dimension) {
  return static_cast<uint64_t>(tensor->sizes[dimension]);
}

// Parses "[1, 2]" or "3"; nullopt for anything else.
std::optional<std::vector<int64_t>> NumbersOf(std::string_view text);
// The i-th argument if it is a number or a list of one number.
std::optional<int64_t> NumberAt(std::span<const Argument> arguments, size_t i, const Trace& trace);
// The i-th argument if it is a bool.
std::optional<bool> FlagAt(std::span<const Argument> arguments, size_t i, const Trace& trace);
// The i-th argument if it is a list of bools, else empty.
std::vector<bool> FlagsAt(std::span<const Argument> arguments, size_t i, const Trace& trace);

// Product of the sizes after batch and channels: the number of positions.
uint64_t PositionsOf(const Argument& tensor);
// Number of output positions of a convolution. `window`: stride, padding and dilation, each one number or one per
// dimension. nullopt if the arguments are not a valid convolution. REQUIRES: input has at least two dimensions.
std::optional<uint64_t> ConvolutionOutput(const Argument& input, const Argument& weight,
                                          std::span<const Argument> window, const Trace& trace);

}  // namespace opscope
