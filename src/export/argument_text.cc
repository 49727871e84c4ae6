// Renders each distinct argument list once, in Kineto's spelling: [[2, 4], []] for sizes, "float" for types, "2" for
// values. Traces store equal lists once, so a million calls of a training loop share some hundred texts, and a span
// that is written only copies bytes.
// SPDX-License-Identifier: Apache-2.0
#include "export/argument_text.h"

#include <span>
#include <string_view>

#include "base/text.h"

namespace opscope {
namespace {

void AppendSizes(std::string* out, std::span<const int64_t> sizes) {
  *out += '[';
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i != 0) *out += ", ";
    AppendInt(out, sizes[i]);
  }
  *out += ']';
}

// `"Name": [item, item]`
template <typename AppendItem>
void AppendList(std::string* out, std::string_view name, std::span<const Argument> arguments, AppendItem append_item) {
  out->append("\"").append(name).append("\": [");
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i != 0) *out += ", ";
    append_item(arguments[i]);
  }
  *out += ']';
}

// Appends "[2, 4]", for a tensor list "[[3], [3]]"; of(argument) returns sizes or strides.
template <typename Of>
void AppendShape(std::string* out, const Argument& argument, Of of) {
  if (argument.kind != ArgumentKind::kTensorList || argument.tensors.empty()) {
    AppendSizes(out, argument.kind == ArgumentKind::kTensor ? of(argument) : std::span<const int64_t>());
    return;
  }
  *out += '[';
  for (size_t i = 0; i < argument.tensors.size(); ++i) {
    if (i != 0) *out += ", ";
    AppendSizes(out, of(argument.tensors[i]));
  }
  *out += ']';
}

}  // namespace

ArgumentKeys ArgumentKeysWithValues(const Trace& trace) {
  ArgumentKeys keys{.values = false, .types = false, .strides = false};
  for (size_t i = 0; i < trace.argument_list_count(); ++i) {
    for (const Argument& argument : trace.arguments(static_cast<ArgsId>(i))) {
      keys.values |= !trace.text(argument.value).empty();
      keys.types |= !trace.text(argument.dtype).empty();
      keys.strides |= argument.has_strides;
      for (const Argument& tensor : argument.tensors)
        keys.strides |= tensor.has_strides;
    }
  }
  return keys;
}

ArgumentTexts::ArgumentTexts(const Trace& trace, const ArgumentKeys& keys)
    : before_stack_(trace.argument_list_count()), dims_(trace.argument_list_count()) {
  for (size_t i = 0; i < before_stack_.size(); ++i) {
    const std::span<const Argument> arguments = trace.arguments(static_cast<ArgsId>(i));
    std::string* out = &before_stack_[i];
    const auto append = [&](bool is_known, std::string_view name, const auto& append_item) {
      if (!is_known) return;
      if (!out->empty()) out->append(", ");
      AppendList(out, name, arguments, append_item);
    };
    append(keys.values, "Concrete Inputs", [&](const Argument& a) { AppendJsonString(out, trace.text(a.value)); });
    append(keys.types, "Input type", [&](const Argument& a) { AppendJsonString(out, trace.text(a.dtype)); });
    append(keys.strides, "Input Strides", [&](const Argument& a) {
      AppendShape(out, a, [](const Argument& t) { return t.has_strides ? t.strides : std::span<const int64_t>(); });
    });
    AppendList(&dims_[i], "Input Dims", arguments,
               [&](const Argument& a) { AppendShape(&dims_[i], a, [](const Argument& t) { return t.sizes; }); });
  }
}

}  // namespace opscope
