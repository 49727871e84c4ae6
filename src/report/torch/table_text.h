// The texts of torch's table: measured as Python does or as a terminal does, and escaped for a terminal.
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

// Lengths are code points, as len() has them, or display columns.
struct TextRuler {
  size_t (*length)(std::string_view text);
  // text[:count]; a negative count leaves out that many at the end.
  std::string_view (*first)(std::string_view text, int64_t count);
  // The last `width`, of which "..." is a part where something is left out.
  std::string (*last)(std::string_view text, int64_t width);
};
const TextRuler& RulerOf(const TorchTableOptions& options);

// The rows and options with escaped texts. Not copied: the rows point into it.
struct EscapedTable {
  EscapedTable(std::span<const TorchTableRow> rows, const TorchTableOptions& options);
  EscapedTable(const EscapedTable&) = delete;
  EscapedTable& operator=(const EscapedTable&) = delete;

  std::vector<TorchTableRow> rows;
  TorchTableOptions options;  // is_escaped is false: it is done

 private:
  std::string_view Keep(std::string_view text);

  std::deque<std::string> texts_;
};

}  // namespace opscope
