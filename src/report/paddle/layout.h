// Paddle's layout: columns that begin at the left, two blanks behind each, the last one too.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/paddle/statistics.h"

namespace opscope {

class PaddleLayout {
 public:
  PaddleLayout(std::vector<size_t> widths, std::string* out);

  void Line(std::string_view text) { out_->append(text).append("\n"); }
  void Title(std::string_view text);  // in the middle of dashes
  void Separator();
  void Row(std::span<const std::string> cells);
  void Row(std::initializer_list<std::string> cells) { Row(std::span(cells.begin(), cells.size())); }
  void Rule();  // dashes all along
  // The lines between tables.
  void End() { out_->append("\n\n"); }

 private:
  std::vector<size_t> widths_;
  size_t length_ = 0;
  std::string* out_;
};

// "12.34" of nanoseconds in the unit; "-" of the least of none.
[[nodiscard]] std::string PaddleTime(double ns, std::string_view unit);
[[nodiscard]] std::string PaddlePercent(double ratio);
[[nodiscard]] std::string PaddleFixed(double value);  // two decimals
// "total / avg / max / min / ratio"
[[nodiscard]] std::string PaddleTimesCell(const PaddleTimes& times, uint64_t calls, double ratio,
                                          std::string_view unit);
// a / b, 0 where b is.
[[nodiscard]] inline double PaddleRatio(int64_t a, int64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

// Rows of a table whose columns are as wide as their cells, and at least so wide. A row of one cell is a title.
struct PaddleRowTexts {
  std::vector<std::vector<std::string>> rows;
  // Widens those columns from `first` on.
  void Widen(size_t first, std::vector<size_t>* widths) const;
};

}  // namespace opscope
