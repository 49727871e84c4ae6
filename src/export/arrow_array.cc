// A struct array whose children are the columns. Layout of the buffers (Arrow columnar format):
//   numbers      validity (only with nulls), values: the Trace's own memory
//   lists        offsets (int32); child: numbers
//   text         validity, int32 codes; dictionary: offsets (int64), characters ("large utf8")
// SPDX-License-Identifier: Apache-2.0
#include "export/arrow_array.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "export/unknown_values.h"

namespace opscope {
namespace {

// Zero-length buffers point here: some readers reject a null pointer.
constexpr int64_t kNothing = 0;

// What a structure owns of its kind. The destructor releases what no reader has moved out.
template <typename Structure>
struct OwnedParts {
  OwnedParts() = default;
  OwnedParts(const OwnedParts&) = delete;
  OwnedParts& operator=(const OwnedParts&) = delete;
  ~OwnedParts() {
    for (Structure& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }

  std::vector<Structure> children;
  std::vector<Structure*> child_pointers;
  Structure dictionary = {};
};

struct SchemaOwner : OwnedParts<ArrowSchema> {
  std::string name;
};

struct ArrayOwner : OwnedParts<ArrowArray> {
  std::shared_ptr<const Trace> trace;
  std::vector<uint8_t> validity;
  std::vector<int32_t> integers32;  // codes of texts, offsets of lists
  std::vector<int64_t> integers64;  // offsets of texts, items of lists
  std::string characters;
  const void* buffers[3] = {nullptr, nullptr, nullptr};
};

template <typename Owner, typename Structure>
void ReleaseOwned(Structure* structure) {
  delete static_cast<Owner*>(structure->private_data);
  structure->release = nullptr;
}

const char* FormatOf(const TableColumn& column) {
  if (column.meaning == ColumnMeaning::kText) return "i";
  switch (column.type) {
    case ColumnType::kUint8:
      return "C";
    case ColumnType::kUint16:
      return "S";
    case ColumnType::kUint32:
      return "I";
    case ColumnType::kUint64:
      return "L";
    case ColumnType::kInt32:
      return "i";
    case ColumnType::kInt64:
      return "l";
    case ColumnType::kFloat64:
      return "g";
    case ColumnType::kInt64List:
      return "+l";
  }
  return "n";
}

void FillSchema(std::unique_ptr<SchemaOwner> owner, const char* format, int64_t flags, ArrowSchema* out) {
  *out = {};
  out->format = format;
  out->name = owner->name.c_str();
  out->flags = flags;
  out->n_children = static_cast<int64_t>(owner->children.size());
  out->children = owner->child_pointers.data();
  out->dictionary = owner->dictionary.release != nullptr ? &owner->dictionary : nullptr;
  out->release = &ReleaseOwned<SchemaOwner, ArrowSchema>;
  out->private_data = owner.release();
}

void MakeColumnSchema(const TableColumn& column, ArrowSchema* out) {
  auto owner = std::make_unique<SchemaOwner>();
  owner->name = column.name;
  if (column.meaning == ColumnMeaning::kText) {
    FillSchema(std::make_unique<SchemaOwner>(), "U", 0, &owner->dictionary);
  }
  if (column.type == ColumnType::kInt64List) {
    auto item = std::make_unique<SchemaOwner>();
    item->name = "item";
    FillSchema(std::move(item), "l", 0, &owner->children.emplace_back());
    owner->child_pointers.push_back(owner->children.data());
  }
  FillSchema(std::move(owner), FormatOf(column), column.unknown ? ARROW_FLAG_NULLABLE : 0, out);
}

void FillArray(std::unique_ptr<ArrayOwner> owner, size_t rows, int64_t nulls, int64_t buffer_count, ArrowArray* out) {
  *out = {};
  owner->buffers[0] = nulls == 0 ? nullptr : owner->validity.data();
  for (int64_t i = 1; i < buffer_count; ++i) {
    if (owner->buffers[i] == nullptr) owner->buffers[i] = &kNothing;
  }
  out->length = static_cast<int64_t>(rows);
  out->null_count = nulls;
  out->n_buffers = buffer_count;
  out->buffers = owner->buffers;
  out->n_children = static_cast<int64_t>(owner->children.size());
  out->children = owner->child_pointers.data();
  out->dictionary = owner->dictionary.release != nullptr ? &owner->dictionary : nullptr;
  out->release = &ReleaseOwned<ArrayOwner, ArrowArray>;
  out->private_data = owner.release();
}

// Sets bit i if row i has a value. Returns the number of nulls; without nulls the bitmap stays empty.
int64_t MarkNulls(const TableColumn& column, size_t rows, std::vector<uint8_t>* validity) {
  return VisitUnknown(column, rows, int64_t{0}, [validity](auto values, auto unknown) -> int64_t {
    const auto nulls = std::count(values.begin(), values.end(), unknown);
    if (nulls == 0) return 0;
    validity->assign((values.size() + 7) / 8, 0);
    for (size_t i = 0; i < values.size(); ++i)
      (*validity)[i / 8] = static_cast<uint8_t>((*validity)[i / 8] | (values[i] != unknown ? 1u : 0u) << (i % 8));
    return nulls;
  });
}

void MakeDictionary(const Trace& trace, const TableView& table, const std::vector<StringId>& texts, ArrowArray* out) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->integers64.reserve(texts.size() + 1);
  owner->integers64.push_back(0);
  for (StringId id : texts) {
    AppendUtf8(TextIn(trace, table, id), &owner->characters);
    owner->integers64.push_back(static_cast<int64_t>(owner->characters.size()));
  }
  owner->buffers[1] = owner->integers64.data();
  owner->buffers[2] = owner->characters.data();
  FillArray(std::move(owner), texts.size(), 0, 3, out);
}

void MakeLists(std::span<const Int64List> lists, ArrowArray* out) {
  auto owner = std::make_unique<ArrayOwner>();
  auto items = std::make_unique<ArrayOwner>();
  owner->integers32.push_back(0);
  for (const Int64List& list : lists) {
    items->integers64.insert(items->integers64.end(), list.begin(), list.end());
    owner->integers32.push_back(static_cast<int32_t>(items->integers64.size()));
  }
  const size_t count = items->integers64.size();
  items->buffers[1] = items->integers64.data();
  FillArray(std::move(items), count, 0, 2, &owner->children.emplace_back());
  owner->child_pointers.push_back(owner->children.data());
  owner->buffers[1] = owner->integers32.data();
  FillArray(std::move(owner), lists.size(), 0, 2, out);
}

void MakeColumn(const std::shared_ptr<const Trace>& trace, const TableView& table, const TableColumn& column,
                ArrowArray* out) {
  const size_t rows = table.rows;
  if (column.type == ColumnType::kInt64List) {
    MakeLists({static_cast<const Int64List*>(column.data), rows}, out);
    return;
  }
  auto owner = std::make_unique<ArrayOwner>();
  owner->trace = trace;
  owner->buffers[1] = column.data;
  const int64_t nulls = MarkNulls(column, rows, &owner->validity);
  if (column.meaning == ColumnMeaning::kText) {
    TextDictionary dictionary = EncodeTexts(*trace, table, column);
    owner->integers32 = std::move(dictionary.codes);
    owner->buffers[1] = owner->integers32.data();
    MakeDictionary(*trace, table, dictionary.texts, &owner->dictionary);
  }
  FillArray(std::move(owner), rows, nulls, 2, out);
}

}  // namespace

void MakeArrowSchema(const TableView& table, ArrowSchema* out) {
  auto owner = std::make_unique<SchemaOwner>();
  owner->children.resize(table.columns.size());
  for (size_t i = 0; i < table.columns.size(); ++i) {
    MakeColumnSchema(table.columns[i], &owner->children[i]);
    owner->child_pointers.push_back(&owner->children[i]);
  }
  FillSchema(std::move(owner), "+s", 0, out);
}

void MakeArrowArray(std::shared_ptr<const Trace> trace, const TableView& table, ArrowArray* out) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->children.resize(table.columns.size());
  for (size_t i = 0; i < table.columns.size(); ++i) {
    MakeColumn(trace, table, table.columns[i], &owner->children[i]);
    owner->child_pointers.push_back(&owner->children[i]);
  }
  owner->trace = std::move(trace);
  FillArray(std::move(owner), table.rows, 0, 1, out);
}

}  // namespace opscope
