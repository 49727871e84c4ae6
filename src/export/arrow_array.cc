// A struct array whose children are the columns. Layout of the buffers (Arrow columnar format):
//   numbers      validity (only with nulls), values: the Trace's own memory
//   text         validity, int32 codes; dictionary: offsets (int64), characters ("large utf8")
// SPDX-License-Identifier: Apache-2.0
#include "export/arrow_array.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace opscope {
namespace {

// What a zero-length buffer points at: readers may not expect null.
constexpr int64_t kNothing = 0;

struct SchemaOwner {
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
  ArrowSchema dictionary = {};
};

struct ArrayOwner {
  std::shared_ptr<const Trace> trace;
  std::vector<uint8_t> validity;
  std::vector<int32_t> codes;
  std::vector<int64_t> offsets;
  std::string characters;
  const void* buffers[3] = {nullptr, nullptr, nullptr};
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
  ArrowArray dictionary = {};
};

// Releases what was not moved out, then the owner itself.
template <typename Owner, typename Structure>
void ReleaseOwned(Structure* structure) {
  std::unique_ptr<Owner> owner(static_cast<Owner*>(structure->private_data));
  for (Structure& child : owner->children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (owner->dictionary.release != nullptr) owner->dictionary.release(&owner->dictionary);
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
  FillSchema(std::move(owner), FormatOf(column), column.meaning == ColumnMeaning::kValue ? 0 : ARROW_FLAG_NULLABLE,
             out);
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

// Bit i says that row i has a value. Returns the number of rows that have none.
int64_t MarkNulls(std::span<const uint32_t> handles, std::vector<uint8_t>* validity) {
  constexpr uint32_t kNone = 0xffffffff;
  int64_t nulls = 0;
  validity->assign((handles.size() + 7) / 8, 0);
  for (size_t i = 0; i < handles.size(); ++i) {
    const bool valid = handles[i] != kNone;
    if (!valid) ++nulls;
    (*validity)[i / 8] = static_cast<uint8_t>((*validity)[i / 8] | (valid ? 1u : 0u) << (i % 8));
  }
  return nulls;
}

void AppendUtf8(std::string_view text, std::string* out) {
  if (IsUtf8(text)) {
    out->append(text);
    return;
  }
  constexpr char kHex[] = "0123456789abcdef";
  while (!text.empty()) {
    const size_t valid = Utf8SequenceLength(text);
    if (valid > 0) {
      out->append(text.substr(0, valid));
      text.remove_prefix(valid);
      continue;
    }
    const auto byte = static_cast<unsigned char>(text.front());
    out->append("\\udc");
    out->push_back(kHex[byte >> 4]);
    out->push_back(kHex[byte & 15]);
    text.remove_prefix(1);
  }
}

void MakeDictionary(const Trace& trace, const TableView& table, const std::vector<StringId>& texts, ArrowArray* out) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->offsets.reserve(texts.size() + 1);
  owner->offsets.push_back(0);
  for (StringId id : texts) {
    AppendUtf8(TextIn(trace, table, id), &owner->characters);
    owner->offsets.push_back(static_cast<int64_t>(owner->characters.size()));
  }
  owner->buffers[1] = owner->offsets.data();
  owner->buffers[2] = owner->characters.data();
  FillArray(std::move(owner), texts.size(), 0, 3, out);
}

void MakeColumn(const std::shared_ptr<const Trace>& trace, const TableView& table, const TableColumn& column,
                ArrowArray* out) {
  const size_t rows = table.rows;
  auto owner = std::make_unique<ArrayOwner>();
  owner->trace = trace;
  owner->buffers[1] = column.data;
  int64_t nulls = 0;
  if (column.meaning != ColumnMeaning::kValue) {
    nulls = MarkNulls({static_cast<const uint32_t*>(column.data), rows}, &owner->validity);
  }
  if (column.meaning == ColumnMeaning::kText) {
    TextDictionary dictionary = EncodeTexts(*trace, table, column);
    owner->codes = std::move(dictionary.codes);
    owner->buffers[1] = owner->codes.data();
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
