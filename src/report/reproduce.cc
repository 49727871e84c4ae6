// Writes the script of `opscope reproduce`: a comment with what was recorded, the facts as literals, make_arguments(),
// and the part that is the same for every call (reproduce_program.cc). Of aten::mm:
//
//   LIBRARY, NAME, OVERLOAD = "aten", "mm", ""
//   def make_arguments(tensor):
//       return [
//           tensor((4, 5), (5, 1), torch.float32, "normal"),
//           tensor((5, 6), (6, 1), torch.float32, "normal"),
//       ]
//
// The first two lines have no text of the trace: Python reads there in which encoding the file is, and an encoding can
// turn comments into code.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/reproduce.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "opscope/report/missing_data.h"
#include "report/human_units.h"
#include "report/python_literal.h"
#include "report/reproduce_program.h"

namespace opscope {
namespace {

constexpr std::string_view kNotRecorded = "NOT_RECORDED";
constexpr size_t kMaxShapesInComment = 40;

enum class TypeFamily : uint8_t { kFloat, kInteger };

// An element type as traces name it, as Python does, and what its values can be.
struct ElementType {
  std::string_view recorded, python;
  TypeFamily family;
};
constexpr std::array<ElementType, 22> kElementTypes = {{
    {"float", "torch.float32", TypeFamily::kFloat},
    {"double", "torch.float64", TypeFamily::kFloat},
    {"c10::Half", "torch.float16", TypeFamily::kFloat},
    {"c10::BFloat16", "torch.bfloat16", TypeFamily::kFloat},
    {"c10::complex<float>", "torch.complex64", TypeFamily::kFloat},
    {"c10::complex<double>", "torch.complex128", TypeFamily::kFloat},
    {"c10::complex<c10::Half>", "torch.complex32", TypeFamily::kFloat},
    {"c10::Float8_e5m2", "torch.float8_e5m2", TypeFamily::kFloat},
    {"c10::Float8_e4m3fn", "torch.float8_e4m3fn", TypeFamily::kFloat},
    {"c10::Float8_e5m2fnuz", "torch.float8_e5m2fnuz", TypeFamily::kFloat},
    {"c10::Float8_e4m3fnuz", "torch.float8_e4m3fnuz", TypeFamily::kFloat},
    {"long int", "torch.int64", TypeFamily::kInteger},
    {"int", "torch.int32", TypeFamily::kInteger},
    {"short int", "torch.int16", TypeFamily::kInteger},
    {"short", "torch.int16", TypeFamily::kInteger},
    {"signed char", "torch.int8", TypeFamily::kInteger},
    {"unsigned char", "torch.uint8", TypeFamily::kInteger},
    {"bool", "torch.bool", TypeFamily::kInteger},
    {"short unsigned int", "torch.uint16", TypeFamily::kInteger},
    {"unsigned int", "torch.uint32", TypeFamily::kInteger},
    {"long unsigned int", "torch.uint64", TypeFamily::kInteger},
    {"unsigned short", "torch.uint16", TypeFamily::kInteger},
}};

const ElementType* FindElementType(std::string_view recorded) {
  const auto* found = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                   [&](const ElementType& type) { return type.recorded == recorded; });
  return found == kElementTypes.end() ? nullptr : found;
}

// True if an integer tensor of the operator is likely to hold positions in another tensor.
bool TakesIndices(std::string_view name) {
  constexpr std::array<std::string_view, 14> kWords = {"index",  "indices",  "gather",  "scatter", "embedding",
                                                       "take",   "nll_loss", "one_hot", "put",     "cross_entropy",
                                                       "unpool", "select",   "ctc",     "margin"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

// True if the operator wants values from 0 to 1.
bool TakesProbabilities(std::string_view name) {
  return name.starts_with("bernoulli") || name.starts_with("multinomial") || name.starts_with("binary_cross_entropy");
}

// "(4, 5)", "(4,)", "()"
std::string TupleText(std::span<const int64_t> values) {
  std::string out = "(";
  for (size_t i = 0; i < values.size(); ++i)
    out.append(i > 0 ? ", " : "").append(std::to_string(values[i]));
  return out + (values.size() == 1 ? ",)" : ")");
}

// Makes the expressions of one call, and collects what was not recorded.
class ArgumentWriter {
 public:
  ArgumentWriter(const Trace& trace, std::string_view name, std::span<const Argument> arguments)
      : trace_(trace),
        takes_indices_(TakesIndices(name)),
        takes_probabilities_(TakesProbabilities(name)),
        is_one_hot_(name.find("one_hot") != std::string_view::npos) {
    for (const Argument& argument : arguments) {
      RecordType(argument);
      for (const Argument& tensor : argument.tensors)
        RecordType(tensor);
    }
  }

  // A Python expression for the argument at `position`.
  Result<std::string> Expression(const Argument& argument, size_t position) {
    position_ = position;
    switch (argument.kind) {
      case ArgumentKind::kTensor:
        return TensorExpression(argument);
      case ArgumentKind::kUndefined:
        return std::string("None");
      case ArgumentKind::kTensorList:
        return ListExpression(argument);
      case ArgumentKind::kOther:
      case ArgumentKind::kScalar:
      case ArgumentKind::kScalarList:
        break;
    }
    const std::string_view value = trace_.text(argument.value);
    if (std::optional<std::string> literal = PythonLiteral(value)) return *std::move(literal);
    if (value == "None") return std::string("None");
    // Without a type it is None, or an object whose value no recording has, such as a device or a text.
    RecordMissing(argument.kind == ArgumentKind::kOther && value.empty() ? "None or an object"
                  : value.empty()                                        ? "a value"
                                                                         : "the value " + CommentText(value));
    return std::string(kNotRecorded);
  }

  const std::vector<std::string>& missing() const { return missing_; }
  bool has_zeros() const { return has_zeros_; }

 private:
  void RecordType(const Argument& tensor) {
    if (tensor.kind != ArgumentKind::kTensor) return;
    const ElementType* type = FindElementType(trace_.text(tensor.dtype));
    has_float_ = has_float_ || (type != nullptr && type->family == TypeFamily::kFloat);
  }

  void RecordMissing(const std::string& what) {
    missing_.push_back("argument " + std::to_string(position_) + ": " + what);
  }

  Error Impossible(const std::string& what) const {
    return {ErrorCode::kUnsupported, "argument " + std::to_string(position_) + " cannot be made again: " + what};
  }

  const char* Values(const ElementType& type, const Argument& tensor) {
    if (type.family == TypeFamily::kFloat) return takes_probabilities_ ? "\"uniform\"" : "\"normal\"";
    const bool is_index = takes_indices_ ? has_float_ || position_ > 0 || is_one_hot_
                                         : has_float_ && !tensor.sizes.empty() && type.recorded != "bool";
    if (!is_index) return "\"integers\"";
    has_zeros_ = true;
    return "\"zeros\"";
  }

  Result<std::string> TensorExpression(const Argument& tensor) {
    if (tensor.kind == ArgumentKind::kUndefined) return std::string("None");
    if (tensor.layout != TensorLayout::kStrided)
      return Impossible("its layout has no strides (sparse, nested or MKL-DNN)");
    const std::string_view dtype = trace_.text(tensor.dtype);
    const ElementType* type = FindElementType(dtype);
    if (type == nullptr) {
      return Impossible(dtype.empty() ? "its type was not recorded"
                                      : "tensors of the type " + CommentText(dtype) + " cannot be filled");
    }
    std::vector<int64_t> strides(tensor.strides.begin(), tensor.strides.end());
    if (!tensor.has_strides || strides.size() != tensor.sizes.size()) {
      strides = DenseStridesOf(tensor.sizes);
      RecordMissing("strides; those of a contiguous tensor");
    }
    const auto is_negative = [](int64_t value) { return value < 0; };
    if (std::any_of(tensor.sizes.begin(), tensor.sizes.end(), is_negative) ||
        std::any_of(strides.begin(), strides.end(), is_negative)) {
      return Impossible("a size or a stride is negative");
    }
    return "tensor(" + TupleText(tensor.sizes) + ", " + TupleText(strides) + ", " + std::string(type->python) + ", " +
           Values(*type, tensor) + ")";
  }

  static std::vector<int64_t> DenseStridesOf(std::span<const int64_t> sizes) {
    std::vector<int64_t> strides(sizes.size());
    int64_t stride = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      strides[i] = stride;
      if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[i], 1), &stride)) stride = INT64_MAX;
    }
    return strides;
  }

  Result<std::string> ListExpression(const Argument& list) {
    std::string out = "[";
    for (const Argument& tensor : list.tensors) {
      Result<std::string> one = TensorExpression(tensor);
      if (!one.ok()) return one;
      out += "\n            " + one.value() + ",";
    }
    return out + (list.tensors.empty() ? "]" : "\n        ]");
  }

  const Trace& trace_;
  const bool takes_indices_, takes_probabilities_, is_one_hot_;
  bool has_float_ = false;
  bool has_zeros_ = false;
  size_t position_ = 0;
  std::vector<std::string> missing_;
};

std::string ShapeText(const Trace& trace, const Argument& tensor) {
  if (tensor.kind == ArgumentKind::kUndefined) return "undefined";
  std::string out = CommentText(trace.text(tensor.dtype)) + "[";
  for (size_t i = 0; i < tensor.sizes.size(); ++i)
    out.append(i > 0 ? ", " : "").append(std::to_string(tensor.sizes[i]));
  return out + "]";
}

// "float[4, 5] float[5, 6]" of all tensors.
std::string ShapesText(const Trace& trace, std::span<const Argument> arguments) {
  std::string out;
  size_t count = 0;
  const auto add = [&](const Argument& tensor) {
    if (count++ < kMaxShapesInComment) out.append(out.empty() ? "" : ", ").append(ShapeText(trace, tensor));
  };
  for (const Argument& argument : arguments) {
    if (argument.kind == ArgumentKind::kTensor) add(argument);
    for (const Argument& tensor : argument.tensors)
      add(tensor);
  }
  if (count > kMaxShapesInComment) out += " and " + std::to_string(count - kMaxShapesInComment) + " more";
  return out.empty() ? "no tensors" : out;
}

std::string TimeText(const RecordedCall& call) {
  return std::to_string(call.calls) + (call.calls == 1 ? " call" : " calls") + ", min " + HumanTime(call.min_ns) +
         ", median " + HumanTime(call.p50_ns) + ", max " + HumanTime(call.max_ns);
}

std::string DeviceText(const RecordedCall& call) {
  if (call.device == CallDevice::kUnknown) return "unknown";
  if (call.device == CallDevice::kCpu) return "cpu";
  if (call.device_spans == 0 || call.calls == 0) return "cuda";
  return "cuda; work of the device per call: " + HumanTime(call.device_ns / static_cast<int64_t>(call.calls));
}

std::string FullName(const Trace& trace, const RecordedCall& call) {
  const std::string_view overload = trace.text(call.overload);
  return std::string(trace.text(call.name)) + (overload.empty() ? "" : "." + CommentText(overload));
}

std::string OthersText(const RecordedCall& call) {
  return std::to_string(call.other_calls) + (call.other_calls == 1 ? " call of " : " calls of ") +
         std::to_string(call.other_groups) + " other " +
         (call.other_groups == 1 ? "operator or shape" : "operators or shapes") + ", with less total time";
}

bool IsPlainName(std::string_view text) {
  return IsOperatorName("a::" + std::string(text));
}

// The comment at the head of the script: what was recorded, and what the script has to make up.
std::string HeadComment(const Trace& trace, const RecordedCall& call, std::string_view file,
                        const ArgumentWriter& writer) {
  std::string out =
      "#!/usr/bin/env python3\n"
      "# Written by `opscope reproduce`: runs one recorded operator alone and times it. Needs nothing but torch.\n"
      "#\n";
  const auto line = [&out](std::string_view what, const std::string& text) {
    out.append("# ").append(what).append(": ").append(text).append("\n");
  };
  if (!file.empty()) line("file", CommentText(file));
  line("operator", FullName(trace, call));
  line("recorded", TimeText(call));
  line("device", DeviceText(call));
  line("shapes", ShapesText(trace, trace.arguments(call.args)));
  if (call.other_groups > 0) line("also chosen", OthersText(call));
  out += "# values: random; a recording has none\n";
  if (writer.has_zeros()) out += "# indices: 0, which is within the bounds of any tensor\n";
  for (const std::string& missing : writer.missing())
    line("not recorded", missing);
  return out;
}

// LIBRARY, NAME, OVERLOAD, RECORDED_DEVICE and RECORDED_TIME. `name`: "aten::mm".
std::string RecordedFacts(const Trace& trace, const RecordedCall& call, std::string_view name) {
  const std::string_view overload = trace.text(call.overload);
  const size_t colons = name.find("::");
  std::string out = "LIBRARY, NAME = \"";
  out.append(name.substr(0, colons)).append("\", \"").append(name.substr(colons + 2));
  out.append("\"\nOVERLOAD = \"").append(overload).append("\"");
  if (overload.empty()) out += "  # not recorded: the one that fits the arguments";
  out.append("\nRECORDED_DEVICE = \"").append(call.device == CallDevice::kCuda ? "cuda" : "cpu").append("\"");
  if (call.device == CallDevice::kUnknown) out += "  # not recorded";
  out.append("\nRECORDED_TIME = \"").append(TimeText(call));
  if (call.device_spans > 0) out.append("; on ").append(DeviceText(call));
  return out + "\"\n";
}

}  // namespace

Result<std::string> ReproduceScript(const Trace& trace, const RecordedCall& call, std::string_view file) {
  const std::string_view name = trace.text(call.name), overload = trace.text(call.overload);
  if (!IsOperatorName(name))
    return Error{ErrorCode::kInvalidArgument, "'" + CommentText(name) + "' is not an operator"};
  if (!overload.empty() && !IsPlainName(overload)) {
    return Error{ErrorCode::kUnsupported, "the overload '" + CommentText(overload) + "' is not a name in torch"};
  }
  if (call.args == ArgsId::kNone && trace.argument_list_count() == 0) return Error{ErrorCode::kUnsupported, kNoShapes};
  const std::span<const Argument> arguments = trace.arguments(call.args);
  ArgumentWriter writer(trace, name.substr(name.find("::") + 2), arguments);
  std::string list;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Result<std::string> one = writer.Expression(arguments[i], i);
    if (!one.ok()) return Error{one.error().code, FullName(trace, call) + ": " + one.error().message};
    list.append("        ").append(one.value()).append(",\n");
  }
  return HeadComment(trace, call, file, writer) +
         "\nimport argparse\nimport functools\nimport sys\n\nimport torch\nfrom torch.utils import benchmark\n\n" +
         RecordedFacts(trace, call, name) + std::string(kNotRecorded) +
         " = object()\n\n\ndef make_arguments(tensor):\n    return [\n" + list + "    ]\n" +
         std::string(kReproduceProgram);
}

std::string DescribeOtherCalls(const Trace& trace, const RecordedCall& call) {
  if (call.other_groups == 0) return "";
  return "reproduces " + FullName(trace, call) + " (" + std::to_string(call.calls) +
         (call.calls == 1 ? " call" : " calls") + "); also chosen: " + OthersText(call) +
         ". Narrow --where to choose among them, e.g. with \"and duration > " + std::to_string(call.max_ns) + "ns\"";
}

}  // namespace opscope
