// Products are computed in uint64, which wraps as torch's do.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/flops.h"

#include <charconv>
#include <optional>
#include <utility>

namespace opscope {
namespace {

struct FormulaRow {
  std::string_view op;
  FlopsFormula formula;
};
constexpr FormulaRow kFormulas[] = {
    {"aten::conv2d", FlopsFormula::kConv2d},
    {"aten::mm", FlopsFormula::kMatrixProduct},
    {"aten::addmm", FlopsFormula::kAddedMatrixProduct},
    {"aten::bmm", FlopsFormula::kBatchedProduct},
    {"aten::baddbmm", FlopsFormula::kAddedBatchedProduct},
    {"aten::mul", FlopsFormula::kElementwise},
    {"aten::add", FlopsFormula::kElementwise},
};

uint64_t Count(std::span<const int64_t> sizes) {
  uint64_t product = 1;
  for (int64_t size : sizes)
    product *= static_cast<uint64_t>(size);
  return product;
}

const Argument* TensorAt(std::span<const Argument> arguments, size_t i) {
  return i < arguments.size() && arguments[i].kind == ArgumentKind::kTensor ? &arguments[i] : nullptr;
}

// "[1, 2]" as numbers, "3" as one; nullopt for anything else.
std::optional<std::vector<int64_t>> ReadInts(std::string_view text) {
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

// 2 N Ho Wo kh kw Cin Cout / groups
uint64_t Conv2d(std::span<const Argument> arguments, const Trace& trace) {
  const Argument* input = TensorAt(arguments, 0);
  const Argument* weight = TensorAt(arguments, 1);
  if (arguments.size() < 7 || !input || !weight || input->sizes.size() != 4 || weight->sizes.size() != 4) return 0;
  const auto stride = ReadInts(trace.text(arguments[3].value));
  const auto padding = ReadInts(trace.text(arguments[4].value));
  const auto dilation = ReadInts(trace.text(arguments[5].value));
  const auto groups = ReadInts(trace.text(arguments[6].value));
  if (!stride || !padding || !dilation || !groups || stride->size() != 2 || padding->size() != 2 ||
      dilation->size() != 2 || groups->size() != 1 || groups->front() == 0 || (*stride)[0] == 0 || (*stride)[1] == 0) {
    return 0;
  }
  uint64_t output = static_cast<uint64_t>(input->sizes[0]);
  for (size_t d = 0; d < 2; ++d) {
    // Unsigned on purpose: hostile sizes wrap instead of overflowing.
    const auto reach = static_cast<uint64_t>((*dilation)[d]) * (static_cast<uint64_t>(weight->sizes[2 + d]) - 1);
    const auto span = static_cast<uint64_t>(input->sizes[2 + d]) + 2 * static_cast<uint64_t>((*padding)[d]) - reach - 1;
    // A stride of -1 could overflow the division; no convolution has one.
    if ((*stride)[d] < 0) return 0;
    output *= static_cast<uint64_t>(static_cast<int64_t>(span) / (*stride)[d] + 1);
  }
  const uint64_t per_output = static_cast<uint64_t>(weight->sizes[2]) * static_cast<uint64_t>(weight->sizes[3]) *
                              static_cast<uint64_t>(input->sizes[1]) * static_cast<uint64_t>(weight->sizes[0]);
  return 2 * output * per_output / static_cast<uint64_t>(groups->front());
}

// 2 M K N, times the batch
uint64_t Product(const Argument* left, const Argument* right, bool is_batched) {
  if (!left || !right || left->sizes.empty() || right->sizes.empty()) return 0;
  const auto inner = static_cast<uint64_t>(left->sizes.back());
  const auto batch = is_batched ? static_cast<uint64_t>(left->sizes.front()) : 1;
  if (inner == 0 || batch == 0) return 0;
  return Count(left->sizes) / inner / batch * Count(right->sizes) * 2;
}

}  // namespace

FlopsFormula FormulaOf(std::string_view op) {
  for (const FormulaRow& row : kFormulas) {
    if (row.op == op) return row.formula;
  }
  return FlopsFormula::kNone;
}

int64_t FlopsOfCall(FlopsFormula formula, std::span<const Argument> arguments, const Trace& trace) {
  const Argument* first = TensorAt(arguments, 0);
  const Argument* second = TensorAt(arguments, 1);
  const Argument* third = TensorAt(arguments, 2);
  switch (formula) {
    case FlopsFormula::kNone:
      return 0;
    case FlopsFormula::kConv2d:
      return static_cast<int64_t>(Conv2d(arguments, trace));
    case FlopsFormula::kMatrixProduct:
      return static_cast<int64_t>(Product(first, second, false));
    case FlopsFormula::kAddedMatrixProduct:
      return first ? static_cast<int64_t>(Product(second, third, false)) : 0;
    case FlopsFormula::kBatchedProduct:
      return static_cast<int64_t>(Product(first, second, true));
    case FlopsFormula::kAddedBatchedProduct:
      return first ? static_cast<int64_t>(Product(second, third, true)) : 0;
    case FlopsFormula::kElementwise:
      return first ? static_cast<int64_t>(Count(first->sizes)) : 0;
  }
  return 0;
}

std::vector<int64_t> FlopsOfSpans(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  std::vector<int64_t> flops(spans.size(), 0);
  std::vector<std::pair<StringId, FlopsFormula>> present;
  for (const FormulaRow& row : kFormulas) {
    if (auto name = trace.FindString(row.op)) present.emplace_back(*name, row.formula);
  }
  if (present.empty()) return flops;
  for (size_t row = 0; row < spans.size(); ++row) {
    if (spans.args[row] == ArgsId::kNone) continue;
    for (const auto& [name, formula] : present) {
      if (spans.name[row] == name) flops[row] = FlopsOfCall(formula, trace.arguments(spans.args[row]), trace);
    }
  }
  return flops;
}

std::vector<int64_t> FlopsOfEvents(const Trace& trace, const FunctionEvents& events) {
  const std::vector<int64_t> of_span = FlopsOfSpans(trace);
  std::vector<int64_t> flops(events.size(), 0);
  for (size_t i = 0; i < events.size(); ++i) {
    if (events.span[i] != SpanId::kNone) flops[i] = of_span[Row(events.span[i])];
  }
  return flops;
}

}  // namespace opscope
