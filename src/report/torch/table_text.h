// Texts of torch's table: measured as Python or as a terminal does, and escaped for a terminal.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/torch/table.h"

namespace opscope {

// Functions that measure in code points, as len() does, or in display columns.
struct TextRuler {
  size_t (*length)(std::string_view text);
  // text[:count]; a negative count drops that many at the end.
  std::string_view (*first)(std::string_view text, int64_t count);
  // The end of the text in `width`, with "..." in front if it was cut.
  std::string (*last)(std::string_view text, int64_t width);
};
const TextRuler& RulerOf(const TorchTableOptions& options);

// Rows and options with escaped texts. Not copyable: the rows point into it.
struct EscapedTable {
  EscapedTable(std::span<const TorchTableRow> rows, const TorchTableOptions& options);
  EscapedTable(const EscapedTable&) = delete;
  EscapedTable& operator=(const EscapedTable&) = delete;

  std::vector<TorchTableRow> rows;
  TorchTableOptions options;  // with is_escaped false, as escaping is done

 private:
  std::string_view Keep(std::string_view text);

  std::deque<std::string> texts_;
};

}  // namespace opscope
