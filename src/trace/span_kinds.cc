// Derives the kind of a span from its category: exact categories first, then suffixes ("_driver"), then for
// Python calls and user ranges the name. Formats spell Python calls differently; a function of Python has a
// line number (HasLine), "train.py(12): step", and a C function has none, "<built-in function len>".
// SPDX-License-Identifier: Apache-2.0
#include "trace/span_kinds.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace opscope {
namespace {

constexpr std::string_view kNames[] = {"other",
                                       "operator",
                                       "kernel",
                                       "copy",
                                       "set",
                                       "communication",
                                       "synchronization",
                                       "runtime_call",
                                       "driver_call",
                                       "user_range",
                                       "step",
                                       "module",
                                       "python_function",
                                       "c_function",
                                       "data_loading",
                                       "optimizer",
                                       "backward",
                                       "forward",
                                       "device_annotation",
                                       "overhead"};
static_assert(std::size(kNames) == kSpanKinds);

constexpr KindOfText kCategories[] = {
    // Kineto's and opscope's; importers of other formats use them too
    {"cpu_op", SpanKind::kOperator},
    {"kernel", SpanKind::kKernel},
    {"gpu_memcpy", SpanKind::kCopy},
    {"gpu_memset", SpanKind::kSet},
    {"collective_comm", SpanKind::kCommunication},
    {"cuda_sync", SpanKind::kSynchronization},
    {"user_annotation", SpanKind::kUserRange},
    {"gpu_user_annotation", SpanKind::kDeviceAnnotation},
    {"python_function", SpanKind::kPythonFunction},
    {"overhead", SpanKind::kOverhead},
    {kStepCategory, SpanKind::kStep},
    // Paddle's; the first four are also Kineto's before 2022
    {"Operator", SpanKind::kOperator},
    {"Kernel", SpanKind::kKernel},
    {"Memcpy", SpanKind::kCopy},
    {"Memset", SpanKind::kSet},
    {"PythonOp", SpanKind::kOperator},
    {"UserDefined", SpanKind::kUserRange},
    {"PythonUserDefined", SpanKind::kUserRange},
    {"ProfileStep", SpanKind::kStep},
    {"Dataloader", SpanKind::kDataLoading},
    {"Forward", SpanKind::kForward},
    {"Backward", SpanKind::kBackward},
    {"Optimization", SpanKind::kOptimizer},
    {"Communication", SpanKind::kCommunication},
    {"CudaRuntime", SpanKind::kRuntimeCall},
    {"MluRuntime", SpanKind::kRuntimeCall},
    // XLA's lines of a device
    {"XLA Ops", SpanKind::kKernel},
    {"Steps", SpanKind::kStep},
    // ONNX Runtime's
    {"Node", SpanKind::kOperator},
    // VizTracer's
    {"FEE", SpanKind::kPythonFunction},
};

// Ranges that torch's optimizers and loaders open around themselves, and its process groups around a call.
constexpr KindOfText kRanges[] = {
    {"Optimizer.", SpanKind::kOptimizer}, {"enumerate(DataLoader)", SpanKind::kDataLoading},
    {"nccl:", SpanKind::kCommunication},  {"gloo:", SpanKind::kCommunication},
    {"mpi:", SpanKind::kCommunication},   {"ucc:", SpanKind::kCommunication},
};

constexpr std::string_view kModuleCall = "nn.Module: ";

bool EndsInNumber(std::string_view text, char before) {
  const size_t at = text.find_last_not_of("0123456789");
  return at != std::string_view::npos && at + 1 < text.size() && text[at] == before;
}

// "train.py(12): step" and "<string>(1): step" are functions of Python; "<built-in function len>" and
// "<method 'step' of 'Plan' objects>" are not.
bool HasLine(std::string_view name) {
  if (name.starts_with('$')) return EndsInNumber(name.substr(0, name.find(' ')), ':');
  if (name.ends_with(')') && EndsInNumber(name.substr(0, name.size() - 1), ':')) return true;
  const size_t file = name.starts_with('<') ? name.find('>') : 0;
  const size_t end = name.find("): ", file == std::string_view::npos ? name.size() : file);
  const size_t before = end == std::string_view::npos ? end : name.find_last_not_of("0123456789", end - 1);
  const bool is_call = before != std::string_view::npos && before + 1 < end && name[before] == '(';
  return is_call && (file == 0 || before == file + 1);
}

}  // namespace

std::string_view SpanKindName(SpanKind kind) {
  return kNames[std::min<size_t>(static_cast<size_t>(kind), kSpanKinds - 1)];
}

std::optional<SpanKind> SpanKindFromName(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<SpanKind>(found - std::begin(kNames));
}

std::span<const KindOfText> KnownCategories() {
  return kCategories;
}
std::span<const KindOfText> KnownRanges() {
  return kRanges;
}

SpanKind KindOfCategory(std::string_view category) {
  const auto* known = std::ranges::find(kCategories, category, &KindOfText::text);
  if (known != std::end(kCategories)) return known->kind;
  if (category.ends_with("_driver")) return SpanKind::kDriverCall;
  return IsRuntimeCategory(category) ? SpanKind::kRuntimeCall : SpanKind::kOther;
}

SpanKind KindOfPythonCall(std::string_view name) {
  if (name.starts_with(kModuleCall)) return SpanKind::kModule;
  if (name == "Python GC") return SpanKind::kOther;
  return HasLine(name) ? SpanKind::kPythonFunction : SpanKind::kCFunction;
}

std::string_view ModuleOfCall(std::string_view name) {
  return name.starts_with(kModuleCall) ? name.substr(kModuleCall.size()) : name;
}

SpanKind KindOfName(SpanKind of_category, std::string_view name) {
  if (of_category == SpanKind::kPythonFunction) return KindOfPythonCall(name);
  for (const auto& [prefix, kind] : kRanges) {
    if (name.starts_with(prefix)) return kind;
  }
  return of_category;
}

}  // namespace opscope
