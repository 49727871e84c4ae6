// Reads the argument lists of column files, which are stored flattened: a row per list, a row per argument, all sizes.
// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <vector>

#include "import/opscope/column_reader.h"
#include "import/opscope/column_rows.h"
#include "wire/schema.h"

namespace opscope {

namespace {

// Takes the next rows of the flattened argument columns.
struct FlatArguments {
  std::vector<uint64_t> kind, dtype, value, has_strides, layout, size_count, stride_count, tensor_count;
  std::vector<int64_t> sizes, strides;
  size_t next = 0, next_size = 0, next_stride = 0;

  static bool Take(uint64_t count, const std::vector<int64_t>& from, size_t* next, std::span<const int64_t>* out) {
    if (count > from.size() - *next) return false;
    *out = std::span(from).subspan(*next, static_cast<size_t>(count));
    *next += static_cast<size_t>(count);
    return true;
  }
};

}  // namespace

bool AddArgumentLists(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader lists(block, wire::argument::kListSize);
  uint64_t row = lists.FirstRow();
  const ColumnValues list_size = lists.Read(wire::argument::kListSize, 0);
  ColumnReader reader(block, wire::argument::kKind);
  FlatArguments flat;
  flat.kind = reader.Read(wire::argument::kKind, 0);
  flat.dtype = reader.Read(wire::argument::kDtype, uint64_t{Row(StringId::kEmpty)} + 1);
  flat.value = reader.Read(wire::argument::kValue, uint64_t{Row(StringId::kEmpty)} + 1);
  flat.has_strides = reader.Read(wire::argument::kHasStrides, 0);
  flat.layout = reader.Read(wire::argument::kLayout, 0);
  flat.size_count = reader.Read(wire::argument::kSizeCount, 0);
  flat.stride_count = reader.Read(wire::argument::kStrideCount, 0);
  flat.tensor_count = reader.Read(wire::argument::kTensorCount, 0);
  const auto integers = [&](uint32_t column) {
    const ColumnValues values = ColumnReader(block, column).Read(column, 0);
    return std::vector<int64_t>(values.begin(), values.end());
  };
  flat.sizes = integers(wire::argument::kSizes);
  flat.strides = integers(wire::argument::kStrides);
  if (!lists.ok() || !reader.ok()) return false;

  const auto take = [&](ArgumentRow* out) {
    if (flat.next == flat.kind.size()) return false;
    const size_t i = flat.next++;
    const auto kind = static_cast<ArgumentKind>(flat.kind[i]);
    out->kind = flat.kind[i] <= static_cast<uint64_t>(ArgumentKind::kScalarList) ? kind : ArgumentKind::kOther;
    out->dtype = ids->String(flat.dtype[i]);
    out->value = ids->String(flat.value[i]);
    out->has_strides = flat.has_strides[i] != 0;
    out->layout = TensorLayoutFromNumber(flat.layout[i]);
    return FlatArguments::Take(flat.size_count[i], flat.sizes, &flat.next_size, &out->sizes) &&
           FlatArguments::Take(flat.stride_count[i], flat.strides, &flat.next_stride, &out->strides);
  };
  for (const uint64_t size : list_size) {
    if (size > flat.kind.size() - flat.next) return false;
    std::vector<ArgumentRow> arguments(static_cast<size_t>(size));
    std::vector<std::vector<ArgumentRow>> tensors(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!take(&arguments[i])) return false;
      const uint64_t count = flat.tensor_count[flat.next - 1];
      if (count > flat.kind.size() - flat.next) return false;
      tensors[i].resize(static_cast<size_t>(count));
      for (ArgumentRow& tensor : tensors[i]) {
        if (!take(&tensor)) return false;
      }
      arguments[i].tensors = tensors[i];
    }
    if (!ids->Place(row++, builder->AddArguments(arguments))) return false;
  }
  return true;
}

}  // namespace opscope
