// Parses recorded arguments for FLOP formulas: numbers, flags and lists arrive as the texts that torch records ("[1,
// 1]", "True"). Products are computed in uint64 and wrap, as torch's do, so that results agree even for absurd sizes.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/flop_arguments.h"

#include <charconv>

namespace opscope {
namespace {

std::optional<bool> BoolOf(std::string_view text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::nullopt;
}

// The argument as one number per dimension; a single number applies to all.
std::optional<std::vector<int64_t>> PerDimension(const Argument& argument, size_t dimensions, const Trace& trace) {
  auto numbers = NumbersOf(trace.text(argument.value));
  if (numbers && numbers->size() == 1) numbers->resize(dimensions, numbers->front());
  if (!numbers || numbers->size() != dimensions) return std::nullopt;
  return numbers;
}

}  // namespace

const Argument* TensorAt(std::span<const Argument> arguments, size_t i) {
  return i < arguments.size() && arguments[i].kind == ArgumentKind::kTensor ? &arguments[i] : nullptr;
}

uint64_t CountOf(const Argument* tensor) {
  if (tensor == nullptr) return 0;
  uint64_t product = 1;
  for (const int64_t size : tensor->sizes)
    product *= static_cast<uint64_t>(size);
  return product;
}

std::optional<std::vector<int64_t>> NumbersOf(std::string_view text) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '[' || text[at] == ']' || text[at] == ',' || text[at] == ' ') {
      ++at;
      continue;
    }
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    numbers.push_back(number);
    at = static_cast<size_t>(end - text.data());
  }
  return numbers;
}

std::optional<int64_t> NumberAt(std::span<const Argument> arguments, size_t i, const Trace& trace) {
  if (i >= arguments.size()) return std::nullopt;
  const auto numbers = NumbersOf(trace.text(arguments[i].value));
  if (!numbers || numbers->size() != 1) return std::nullopt;
  return numbers->front();
}

std::optional<bool> FlagAt(std::span<const Argument> arguments, size_t i, const Trace& trace) {
  if (i >= arguments.size()) return std::nullopt;
  return BoolOf(trace.text(arguments[i].value));
}

std::vector<bool> FlagsAt(std::span<const Argument> arguments, size_t i, const Trace& trace) {
  std::vector<bool> flags;
  if (i >= arguments.size()) return flags;
  std::string_view text = trace.text(arguments[i].value);
  while (!text.empty()) {
    const size_t begin = text.find_first_not_of("[], ");
    if (begin == std::string_view::npos) break;
    const size_t end = text.find_first_of("], ", begin);
    const auto flag = BoolOf(text.substr(begin, end - begin));
    if (!flag) return {};
    flags.push_back(*flag);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end);
  }
  return flags;
}

uint64_t PositionsOf(const Argument& tensor) {
  uint64_t product = 1;
  for (size_t d = 2; d < tensor.sizes.size(); ++d)
    product *= Size(&tensor, d);
  return product;
}

std::optional<uint64_t> ConvolutionOutput(const Argument& input, const Argument& weight,
                                          std::span<const Argument> window, const Trace& trace) {
  const size_t dimensions = input.sizes.size() - 2;
  const auto stride = PerDimension(window[0], dimensions, trace);
  const auto padding = PerDimension(window[1], dimensions, trace);
  const auto dilation = PerDimension(window[2], dimensions, trace);
  if (!stride || !padding || !dilation) return std::nullopt;
  uint64_t positions = 1;
  for (size_t d = 0; d < dimensions; ++d) {
    if ((*stride)[d] <= 0) return std::nullopt;
    // Unsigned, so that hostile sizes wrap and do not overflow.
    const uint64_t reach = static_cast<uint64_t>((*dilation)[d]) * (Size(&weight, 2 + d) - 1);
    const uint64_t room = Size(&input, 2 + d) + 2 * static_cast<uint64_t>((*padding)[d]) - reach - 1;
    positions *= static_cast<uint64_t>(static_cast<int64_t>(room) / (*stride)[d]) + 1;
  }
  return positions;
}

}  // namespace opscope
