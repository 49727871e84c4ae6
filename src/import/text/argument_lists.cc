// Kineto prints an argument list as four texts side by side, and the kind of each argument only shows in what they
// hold: "TensorList" in the types or a nested list in the sizes is a list of tensors, "Scalar" has no sizes, everything
// with sizes is a tensor. A list is taken only where the exporter would print exactly these texts from it; every check
// here refuses a form that would come out otherwise.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/argument_lists.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/json_decode.h"
#include "import/text/json_number.h"
#include "import/text/json_walk.h"

namespace opscope {
namespace {

using Sizes = std::vector<int64_t>;

// "[2, 4]" or, of a tensor list, "[[3], [3]]".
struct SizesItem {
  bool nested = false;
  Sizes sizes;
  std::vector<Sizes> tensors;
};

class ListParser {
 public:
  explicit ListParser(std::string_view text) : scanner_(text) {}

  // Calls `read_item` before every item of an array; false when it or the array fails.
  template <typename ReadItem>
  bool ForEach(ReadItem read_item) {
    return WalkArray(&scanner_, read_item);
  }

  bool ReadSizes(Sizes* sizes) {
    return ForEach([&] {
      JsonValue value;
      if (!scanner_.ReadValue(&value) || !value.is_number()) return false;
      const std::optional<int64_t> number = ParseInteger(value.text);
      if (number) sizes->push_back(*number);
      return number.has_value();
    });
  }

  bool ReadSizesItem(SizesItem* item) {
    JsonScanner ahead = scanner_;
    if (ahead.Peek() != '[') return false;
    ahead.Skip(1);
    item->nested = ahead.Peek() == '[';
    if (!item->nested) return ReadSizes(&item->sizes);
    return ForEach([&] { return ReadSizes(&item->tensors.emplace_back()); });
  }

  bool ReadText(std::string* text) {
    JsonValue value;
    if (!scanner_.ReadValue(&value) || !value.is_string()) return false;
    AppendDecoded(text, value.text);
    return true;
  }

 private:
  JsonScanner scanner_;
};

struct Lists {
  std::vector<SizesItem> dims, strides;
  std::vector<std::string> types, values;
  bool strides_given = false;
};

std::optional<Lists> ReadLists(const ArgumentListTexts& texts) {
  Lists lists;
  const auto read_sizes = [](std::string_view text, std::vector<SizesItem>* items) {
    ListParser parser(text);
    return text.empty() || parser.ForEach([&] { return parser.ReadSizesItem(&items->emplace_back()); });
  };
  const auto read_texts = [](std::string_view text, std::vector<std::string>* items) {
    ListParser parser(text);
    return text.empty() || parser.ForEach([&] { return parser.ReadText(&items->emplace_back()); });
  };
  if (!read_sizes(texts.dims, &lists.dims) || !read_sizes(texts.strides, &lists.strides) ||
      !read_texts(texts.types, &lists.types) || !read_texts(texts.values, &lists.values)) {
    return std::nullopt;
  }
  lists.strides_given = !texts.strides.empty();
  size_t count = 0;
  for (const size_t size : {lists.dims.size(), lists.strides.size(), lists.types.size(), lists.values.size()}) {
    if (size > count) count = size;
  }
  if (texts.dims.empty()) lists.dims.resize(count);
  if (texts.strides.empty()) lists.strides.resize(count);
  if (texts.types.empty()) lists.types.resize(count);
  if (texts.values.empty()) lists.values.resize(count);
  const bool even = lists.dims.size() == count && lists.strides.size() == count && lists.types.size() == count &&
                    lists.values.size() == count;
  return even && count != 0 ? std::optional(std::move(lists)) : std::nullopt;
}

// A tensor of sizes and strides; false when the strides cannot be those of the sizes.
bool SetTensor(const Sizes& sizes, const Sizes& strides, ArgumentRow* row) {
  row->kind = ArgumentKind::kTensor;
  row->sizes = sizes;
  row->has_strides = sizes.size() == strides.size();
  if (row->has_strides) row->strides = strides;
  return row->has_strides || strides.empty();
}

bool SetTensorList(const SizesItem& dims, const SizesItem& strides, bool strides_given,
                   std::vector<ArgumentRow>* tensors, ArgumentRow* row) {
  row->kind = ArgumentKind::kTensorList;
  if (!dims.sizes.empty() || !strides.sizes.empty()) return false;
  if (strides_given && strides.tensors.size() != dims.tensors.size()) return false;
  tensors->resize(dims.tensors.size());
  for (size_t i = 0; i < tensors->size(); ++i) {
    static const Sizes kNoStrides;
    const Sizes& tensor_strides = strides_given ? strides.tensors[i] : kNoStrides;
    if (!SetTensor(dims.tensors[i], tensor_strides, &(*tensors)[i])) return false;
  }
  row->tensors = *tensors;
  return true;
}

// The kind of an argument shows in its type and sizes.
bool SetArgument(const Lists& lists, size_t i, TraceBuilder* builder, std::vector<ArgumentRow>* tensors,
                 ArgumentRow* row) {
  const SizesItem& dims = lists.dims[i];
  const SizesItem& strides = lists.strides[i];
  const std::string& type = lists.types[i];
  row->dtype = builder->Intern(type);
  row->value = builder->Intern(lists.values[i]);
  if (dims.nested || strides.nested || type == "TensorList") {
    return SetTensorList(dims, strides, lists.strides_given, tensors, row);
  }
  const bool sized = !dims.sizes.empty() || !strides.sizes.empty();
  if (type == "Scalar" || type == "ScalarList") {
    row->kind = type == "Scalar" ? ArgumentKind::kScalar : ArgumentKind::kScalarList;
    return !sized;
  }
  if (type.empty() && !sized) {
    row->kind = ArgumentKind::kOther;
    return true;
  }
  return SetTensor(dims.sizes, strides.sizes, row);
}

}  // namespace

ArgsId AddChromeArguments(const ArgumentListTexts& texts, TraceBuilder* builder) {
  const std::optional<Lists> lists = ReadLists(texts);
  if (!lists) return ArgsId::kNone;
  std::vector<ArgumentRow> rows(lists->types.size());
  std::deque<std::vector<ArgumentRow>> tensors(rows.size());  // rows point into it
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!SetArgument(*lists, i, builder, &tensors[i], &rows[i])) return ArgsId::kNone;
  }
  return builder->AddArguments(rows);
}

}  // namespace opscope
