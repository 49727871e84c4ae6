// Paddle's FLOP formulas (paddle.utils.flops), reproduced exactly so that tables agree. Shapes come by argument name:
// {"X": [[2, 3]], "Y": [[3, 4]]}; operators of dynamic mode write the names in lower case. Results are
// cached by name and members, since a loop repeats them. Overflow saturates: a hostile file may hold any size.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/paddle/flops.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "analysis/paddle/operator_name.h"
#include "base/hash.h"
#include "base/json_members.h"
#include "base/saturating.h"
#include "base/text.h"

namespace opscope {
namespace {

using Shape = std::vector<int64_t>;

int64_t Product(const int64_t* begin, const int64_t* end) {
  int64_t product = 1;
  for (; begin != end; ++begin)
    product = SaturatingMultiply(product, *begin);
  return product;
}
int64_t Product(const Shape& shape) {
  return Product(shape.data(), shape.data() + shape.size());
}

std::string_view Inside(std::string_view bracketed) {
  return bracketed.size() < 2 ? std::string_view() : bracketed.substr(1, bracketed.size() - 2);
}

// Parses "[1, 2]", or a single number.
Shape NumbersOf(std::string_view text) {
  Shape numbers;
  if (text.starts_with('[')) text = Inside(text);
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.push_back(number);
    at = std::find(stop, end, ',');
    while (at != end && (*at == ',' || *at == ' '))
      ++at;
  }
  return numbers;
}

class Call {
 public:
  explicit Call(std::string_view members)
      : shapes_(Inside(FindJsonMember(members, "input_shapes"))),
        attributes_(Inside(FindJsonMember(members, "attributes"))) {}

  // The first shape of an argument.
  std::optional<Shape> ShapeOf(std::string_view slot) const {
    std::string_view list = FindJsonMember(shapes_, slot);
    if (list.empty()) list = FindJsonMember(shapes_, LowerCase(slot));
    list = Inside(list);
    if (!list.starts_with('[')) return std::nullopt;
    return NumbersOf(list.substr(0, EndOfJsonValue(list, 0)));
  }
  bool IsTrue(std::string_view attribute) const {
    const std::string_view value = FindJsonMember(attributes_, attribute);
    return !value.empty() && value != "false" && value != "0" && value != "0.0";
  }
  Shape NumbersOfAttribute(std::string_view attribute) const {
    return NumbersOf(FindJsonMember(attributes_, attribute));
  }

 private:
  std::string_view shapes_, attributes_;
};

int64_t EachElement(const Call& call, int64_t times) {
  const auto shape = call.ShapeOf("X");
  return shape ? SaturatingMultiply(Product(*shape), times) : 0;
}

int64_t Relu(const Call& call) {
  return EachElement(call, 1);
}
int64_t Softmax(const Call& call) {
  return EachElement(call, 3);
}
int64_t Gelu(const Call& call) {
  return EachElement(call, 5);
}
int64_t LayerNorm(const Call& call) {
  return EachElement(call, call.IsTrue("epsilon") ? 8 : 7);
}

int64_t Elementwise(const Call& call) {
  const auto x = call.ShapeOf("X"), y = call.ShapeOf("Y");
  if (!x || !y) return 0;
  int64_t product = 1;
  for (size_t i = 0; i < std::max(x->size(), y->size()); ++i) {
    const int64_t of_x = i < x->size() ? (*x)[x->size() - 1 - i] : 1;
    const int64_t of_y = i < y->size() ? (*y)[y->size() - 1 - i] : 1;
    product = SaturatingMultiply(product, std::max(of_x, of_y));
  }
  return product;
}

int64_t MatrixProduct(const Call& call, bool transposes_x, bool transposes_y) {
  auto x = call.ShapeOf("X"), y = call.ShapeOf("Y");
  if (!x || !y || x->size() < 2 || y->empty() || (transposes_y && y->size() < 2)) return 0;
  if (transposes_x) std::swap((*x)[x->size() - 1], (*x)[x->size() - 2]);
  if (transposes_y) std::swap((*y)[y->size() - 1], (*y)[y->size() - 2]);
  int64_t products = 1;
  for (size_t back = std::max(x->size(), y->size()); back > 2; --back) {
    const int64_t of_x = back <= x->size() ? (*x)[x->size() - back] : 1;
    const int64_t of_y = back <= y->size() ? (*y)[y->size() - back] : 1;
    products = SaturatingMultiply(products, std::max(of_x, of_y));
  }
  const int64_t inner = SaturatingMultiply((*x)[x->size() - 2], x->back());
  return SaturatingMultiply(2, SaturatingMultiply(products, SaturatingMultiply(inner, y->back())));
}
int64_t Matmul(const Call& call) {
  return MatrixProduct(call, call.IsTrue("transpose_X") || call.IsTrue("transpose_x"),
                       call.IsTrue("transpose_Y") || call.IsTrue("transpose_y"));
}
int64_t MatmulV2(const Call& call) {
  return MatrixProduct(call, call.IsTrue("trans_x"), call.IsTrue("trans_y"));
}

// Rounds down. REQUIRES: divisor > 0
int64_t FloorQuotient(int64_t dividend, int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

bool IsNegative(int64_t size) {
  return size < 0;
}

// 0 for sizes, strides or groups that no convolution has.
int64_t Convolution(const Call& call) {
  const auto input = call.ShapeOf("Input"), weight = call.ShapeOf("Filter"), bias = call.ShapeOf("Bias");
  const Shape groups = call.NumbersOfAttribute("groups");
  if (!input || !weight || input->size() < 2 || weight->size() < input->size() || groups.empty() || groups[0] <= 0)
    return 0;
  if (std::ranges::any_of(*input, IsNegative) || std::ranges::any_of(*weight, IsNegative)) return 0;
  Shape steps[3] = {call.NumbersOfAttribute("paddings"), call.NumbersOfAttribute("strides"),
                    call.NumbersOfAttribute("dilations")};
  const size_t dims = input->size() - 2;
  for (Shape& each : steps) {
    if (each.size() == 1) each.resize(dims, each[0]);
    if (each.size() < dims) return 0;
  }
  int64_t active = (*input)[0];
  for (size_t i = 0; i < dims; ++i) {
    if (steps[1][i] <= 0) return 0;
    const int64_t reach = SaturatingAdd(SaturatingMultiply(steps[2][i], (*weight)[i + 2] - 1), 1);
    const int64_t padded = SaturatingAdd((*input)[i + 2], SaturatingMultiply(2, steps[0][i]));
    const int64_t room = SaturatingSubtract(padded, reach);
    active = SaturatingMultiply(active, SaturatingAdd(FloorQuotient(room, steps[1][i]), 1));
  }
  const int64_t macs =
      SaturatingMultiply(SaturatingMultiply(Product(weight->data() + 2, weight->data() + weight->size()), (*input)[1]),
                         FloorQuotient((*weight)[0], groups[0]));
  const int64_t flops = SaturatingMultiply(2, SaturatingMultiply(macs, active));
  return bias ? SaturatingAdd(flops, SaturatingMultiply((*weight)[0], active)) : flops;
}

struct Formula {
  std::string_view name;
  int64_t (*of)(const Call& call);
};
constexpr Formula kFormulas[] = {{"conv2d", Convolution},
                                 {"elementwise_add", Elementwise},
                                 {"elementwise_div", Elementwise},
                                 {"elementwise_mul", Elementwise},
                                 {"elu", Relu},
                                 {"gelu", Gelu},
                                 {"layer_norm", LayerNorm},
                                 {"leaky_relu", Relu},
                                 {"matmul", Matmul},
                                 {"matmul_v2", MatmulV2},
                                 {"pool", Relu},
                                 {"prelu", Relu},
                                 {"relu", Relu},
                                 {"relu6", Relu},
                                 {"silu", Relu},
                                 {"softmax", Softmax}};

const Formula* FindFormula(std::string_view name) {
  const std::string op = PaddleOperatorName(name);
  const auto found =
      std::find_if(std::begin(kFormulas), std::end(kFormulas), [&](const auto& f) { return f.name == op; });
  return found == std::end(kFormulas) ? nullptr : found;
}

}  // namespace

int64_t PaddleFlops(std::string_view name, std::string_view members) {
  const Formula* const formula = FindFormula(name);
  return formula == nullptr ? 0 : formula->of(Call(members));
}

std::vector<int64_t> PaddleFlopsOfNodes(const Trace& trace, const PaddleNodeTrees& trees) {
  std::vector<int64_t> flops;
  tsl::robin_map<uint64_t, int64_t, MixedHash> known;  // FLOPs by name and members
  for (size_t node = 0; node < trees.size(); ++node) {
    if (trees.is_root(node) || trees.type[node] != PaddleEventType::kOperator) continue;
    const uint32_t span = Row(trees.span[node]);
    const StringId name = trace.spans().name[span], extra = trace.spans().extra[span];
    if (extra == StringId::kNone) continue;
    const auto [found, is_new] = known.try_emplace((uint64_t{Row(name)} << 32) | Row(extra), 0);
    if (is_new) found.value() = PaddleFlops(trace.text(name), trace.text(extra));
    if (found->second == 0) continue;
    if (flops.empty()) flops.resize(trees.size());
    flops[node] = found->second;
  }
  return flops;
}

}  // namespace opscope
