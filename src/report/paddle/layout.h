// Paddle's table layout: left-aligned columns, each followed by two blanks, also the last one.
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
  void Title(std::string_view text);  // centred in dashes
  void Separator();
  void Row(std::span<const std::string> cells);
  void Row(std::initializer_list<std::string> cells) { Row(std::span(cells.begin(), cells.size())); }
  void Rule();  // a line of dashes
  // The title, the unit of times, and the titles of columns.
  void Head(std::string_view title, const std::string& unit, std::initializer_list<std::string> columns);
  // A note below the rows; the table ends.
  void Foot(std::string_view note);
  // The blank lines between tables.
  void End() { out_->append("\n\n"); }

 private:
  std::vector<size_t> widths_;
  size_t length_ = 0;
  std::string* out_;
};

// "12.34": nanoseconds in the unit "s", "ms", "us" or "ns", with two decimals.
[[nodiscard]] std::string PaddleTime(double ns, std::string_view unit);
[[nodiscard]] std::string PaddlePercent(double ratio);
[[nodiscard]] std::string PaddleFixed(double value);  // two decimals
// "total / avg / max / min / ratio"
[[nodiscard]] std::string PaddleTimesCell(const PaddleTimes& times, uint64_t calls, double ratio,
                                          std::string_view unit);
// a / b, or 0 if b is 0.
[[nodiscard]] inline double PaddleRatio(int64_t a, int64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}
// The mean of `calls` times; 0 without calls.
[[nodiscard]] inline double PaddleMean(const PaddleTimes& times, uint64_t calls) {
  return PaddleRatio(times.total, static_cast<int64_t>(calls));
}

// Rows of a table whose columns widen to their cells. A row of one cell is a title.
struct PaddleRowTexts {
  std::vector<std::vector<std::string>> rows;
  // Widens `widths` of the columns [first, end) to the widest cell. REQUIRES: end <= widths->size()
  void Widen(size_t first, size_t end, std::vector<size_t>* widths) const;
};

}  // namespace opscope
