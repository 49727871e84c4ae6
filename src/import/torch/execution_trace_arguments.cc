// Values, shapes, types and strides are parallel arrays with different nesting. Each argument is read by its type:
// "Tensor(float)" has a row of numbers, "GenericList[...]" lists of them, and any other type is a scalar, which is
// printed as Kineto would. Tensors also become rows of the tensor table, with their storage.
// SPDX-License-Identifier: Apache-2.0
#include "import/torch/execution_trace_arguments.h"

#include <deque>
#include <string>

#include "import/text/json_number.h"
#include "import/text/json_walk.h"

namespace opscope {
namespace {

using Values = std::vector<JsonValue>;
using Sizes = std::vector<int64_t>;

// The items of an array; false if it is not an array.
bool Split(std::string_view text, Values* items) {
  items->clear();
  JsonScanner scanner(text);
  if (text.empty()) return true;
  if (scanner.Peek() != '[') return false;
  return WalkArray(&scanner, [&] { return scanner.ReadValue(&items->emplace_back()); });
}

// "cuda:1" as torch's DeviceType and index.
void ReadDevice(std::string_view text, TensorRow* row) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  static constexpr struct {
    std::string_view name;
    int32_t type;
  } kDevices[] = {{"cpu", 0}, {"cuda", 1}, {"hip", 6}, {"xla", 9}, {"xpu", 12}, {"mps", 13}, {"meta", 14}, {"hpu", 15}};
  for (const auto& device : kDevices) {
    if (device.name == type) row->device_type = device.type;
  }
  const auto index = colon == std::string_view::npos ? std::nullopt : ParseInteger(text.substr(colon + 1));
  if (index && *index >= 0 && *index <= INT32_MAX) row->device = static_cast<int32_t>(*index);
}

TensorRow ReadTensor(const JsonValue& value) {
  TensorRow row;
  Values items;
  if (value.kind != JsonValue::Kind::kArray || !Split(value.text, &items) || items.size() < 2) return row;
  row.tensor = ParseUnsigned(items[0].text).value_or(0);
  row.storage = ParseUnsigned(items[1].text).value_or(0);
  if (items.back().is_string()) ReadDevice(items.back().text, &row);
  return row;
}

// As Kineto prints them: False, 1.0, [3, 4].
std::string ConcreteValue(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kTrue) return "True";
  if (value.kind == JsonValue::Kind::kFalse) return "False";
  if (value.is_string()) return value.text == "<None>" ? std::string() : DecodedText(value);
  if (value.kind != JsonValue::Kind::kArray) return std::string(value.text);
  Values items;
  Split(value.text, &items);
  std::string text = "[";
  for (const JsonValue& item : items)
    text.append(text.size() > 1 ? ", " : "").append(ConcreteValue(item));
  return text + "]";
}

class Reader {
 public:
  Reader(const ExecutionTraceInputs& inputs, TraceBuilder* builder) : builder_(builder) {
    whole_ = Split(inputs.values, &values_) && Split(inputs.shapes, &shapes_) && Split(inputs.types, &types_) &&
             Split(inputs.strides, &strides_);
    if (strides_.empty()) strides_.resize(types_.size());
    whole_ = whole_ && values_.size() == types_.size() && shapes_.size() == types_.size() &&
             strides_.size() == types_.size();
  }

  ExecutionTraceArguments Read() {
    ExecutionTraceArguments read{.whole = whole_, .tensors = {}};
    if (!whole_) return read;
    rows_.resize(types_.size());
    sizes_.resize(types_.size());
    for (size_t i = 0; i < types_.size() && read.whole; ++i)
      read.whole = ReadOne(i, &read.tensors);
    if (read.whole) {
      read.args = builder_->AddArguments(rows_);
    } else {
      read.tensors.clear();
    }
    return read;
  }

 private:
  struct Held {  // owns what the rows refer to
    std::vector<ArgumentRow> tensors;
    std::deque<Sizes> sizes;
  };

  bool ReadOne(size_t i, std::vector<TensorRow>* tensors) {
    ArgumentRow& row = rows_[i];
    const std::string type = DecodedText(types_[i]);
    if (type.starts_with("Tensor(")) {
      tensors->push_back(ReadTensor(values_[i]));
      return SetTensor(type, shapes_[i], strides_[i], &row, &sizes_[i]);
    }
    if (type.starts_with("GenericList[Tensor(")) return SetTensors(i, type, tensors);
    row.kind = type.starts_with("GenericList[") ? ArgumentKind::kScalarList
               : type == "Int" || type == "Double" || type == "Bool" || type == "ComplexDouble" ? ArgumentKind::kScalar
                                                                                                : ArgumentKind::kOther;
    if (row.kind != ArgumentKind::kOther)
      row.dtype = builder_->Intern(row.kind == ArgumentKind::kScalar ? "Scalar" : "ScalarList");
    row.value = builder_->Intern(ConcreteValue(values_[i]));
    return true;
  }

  // `type`: begins with "Tensor(".
  bool SetTensor(std::string_view type, const JsonValue& shape, const JsonValue& stride, ArgumentRow* row, Held* held) {
    Sizes& sizes = held->sizes.emplace_back();
    Sizes& strides = held->sizes.emplace_back();
    if (!ReadWholeNumbers(shape, &sizes) || (stride.present() && !ReadWholeNumbers(stride, &strides))) return false;
    row->kind = ArgumentKind::kTensor;
    row->dtype = builder_->Intern(type.substr(7, type.find(')') == std::string_view::npos ? 0 : type.rfind(')') - 7));
    row->sizes = sizes;
    row->has_strides = stride.present() && strides.size() == sizes.size();
    if (row->has_strides) row->strides = strides;
    return true;
  }

  // "GenericList[Tensor(float),Tensor(long int)]"
  bool SetTensors(size_t i, std::string_view type, std::vector<TensorRow>* tensors) {
    Values values, shapes, strides;
    if (!Split(values_[i].text, &values) || !Split(shapes_[i].text, &shapes)) return false;
    if (strides_[i].present() && !Split(strides_[i].text, &strides)) return false;
    strides.resize(shapes.size());
    if (values.size() != shapes.size()) return false;
    Held& held = sizes_[i];
    held.tensors.resize(shapes.size());
    std::string_view rest = type.substr(12);
    for (size_t t = 0; t < shapes.size(); ++t) {
      const size_t end = rest.find("),");
      const std::string_view one = rest.substr(0, end == std::string_view::npos ? rest.rfind(')') + 1 : end + 1);
      if (!one.starts_with("Tensor(") || !SetTensor(one, shapes[t], strides[t], &held.tensors[t], &held)) return false;
      if (end != std::string_view::npos) rest.remove_prefix(end + 2);
      tensors->push_back(ReadTensor(values[t]));
    }
    rows_[i].kind = ArgumentKind::kTensorList;
    rows_[i].dtype = builder_->Intern("TensorList");
    rows_[i].tensors = held.tensors;
    return true;
  }

  TraceBuilder* builder_;
  Values values_, shapes_, types_, strides_;
  bool whole_ = false;
  std::vector<ArgumentRow> rows_;
  std::deque<Held> sizes_;
};

}  // namespace

ExecutionTraceArguments ReadExecutionTraceArguments(const ExecutionTraceInputs& inputs, TraceBuilder* builder) {
  return Reader(inputs, builder).Read();
}

}  // namespace opscope
