// The two ways to measure texts of torch's table: code points as Python does, or display columns if a terminal width is
// given. Texts are escaped once per table; those that need no escape are not copied.
// SPDX-License-Identifier: Apache-2.0
#include "report/torch/table_text.h"

#include <algorithm>

#include "base/escaped_text.h"
#include "report/code_points.h"

namespace opscope {
namespace {

std::string_view FirstOfColumns(std::string_view text, int64_t count) {
  if (count < 0) count = std::max<int64_t>(0, static_cast<int64_t>(DisplayWidth(text)) + count);
  return PrefixOfWidth(text, static_cast<size_t>(count));
}

std::string LastOfColumns(std::string_view text, int64_t width) {
  const auto room = static_cast<size_t>(std::max<int64_t>(0, width));
  if (DisplayWidth(text) <= room) return std::string(text);
  return room <= 3 ? std::string(SuffixOfWidth(text, room)) : "..." + std::string(SuffixOfWidth(text, room - 3));
}

}  // namespace

const TextRuler& RulerOf(const TorchTableOptions& options) {
  static constexpr TextRuler kCodePoints = {CountCodePoints, FirstCodePoints, LastCodePoints};
  static constexpr TextRuler kColumns = {DisplayWidth, FirstOfColumns, LastOfColumns};
  return options.width == 0 ? kCodePoints : kColumns;
}

EscapedTable::EscapedTable(std::span<const TorchTableRow> given_rows, const TorchTableOptions& given_options)
    : rows(given_rows.begin(), given_rows.end()), options(given_options) {
  for (TorchTableRow& row : rows) {
    row.key = Keep(row.key);
    row.overload_name = Keep(row.overload_name);
    row.input_shapes = Keep(row.input_shapes);
    for (std::string_view& frame : row.stack)
      frame = Keep(frame);
  }
  if (options.header) options.header = EscapedText(*options.header);
  options.use_device = EscapedText(options.use_device);
  options.note = EscapedText(options.note);
  options.is_escaped = false;
}

std::string_view EscapedTable::Keep(std::string_view text) {
  std::string shown = EscapedText(text);
  return shown == text ? text : std::string_view(texts_.emplace_back(std::move(shown)));
}

}  // namespace opscope
