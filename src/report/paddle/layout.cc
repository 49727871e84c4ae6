// Paddle's table layout (layout.h): widths are given, cells are left-aligned and followed by two blanks, also the last
// one. Titles are centred in dashes. Widths count code points.
// SPDX-License-Identifier: Apache-2.0
#include "report/paddle/layout.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "report/code_points.h"
#include "report/python_float.h"

namespace opscope {
namespace {

constexpr size_t kBlanks = 2;

}  // namespace

PaddleLayout::PaddleLayout(std::vector<size_t> widths, std::string* out) : widths_(std::move(widths)), out_(out) {
  for (const size_t width : widths_)
    length_ += width + kBlanks;
  length_ -= kBlanks;
}

void PaddleLayout::Title(std::string_view text) {
  // A title longer than the table gets no dashes.
  const size_t length = CountCodePoints(text), rest = length < length_ ? length_ - length : 0;
  out_->append(rest / 2, '-').append(text).append(rest - rest / 2, '-').append("\n");
}

void PaddleLayout::Head(std::string_view title, const std::string& unit, std::initializer_list<std::string> columns) {
  Title(title);
  Line("Time unit: " + unit);
  Separator();
  Row(columns);
  Separator();
}

void PaddleLayout::Foot(std::string_view note) {
  Separator();
  Line(note);
  Rule();
  End();
}

void PaddleLayout::Separator() {
  for (const size_t width : widths_)
    out_->append(width, '-').append(kBlanks, ' ');
  *out_ += '\n';
}

void PaddleLayout::Row(std::span<const std::string> cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    AppendPadded(cells[i], CountCodePoints(cells[i]), widths_[i], true, out_);
    out_->append(kBlanks, ' ');
  }
  *out_ += '\n';
}

void PaddleLayout::Rule() {
  out_->append(length_, '-').append("\n");
}

std::string PaddleFixed(double value) {
  return PythonFixed(value, 2);
}

std::string PaddleTime(double ns, std::string_view unit) {
  if (unit == "s") ns /= 1e9;
  if (unit == "ms") ns /= 1e6;
  if (unit == "us") ns /= 1e3;
  return PaddleFixed(ns);
}

std::string PaddlePercent(double ratio) {
  return PaddleFixed(ratio * 100);
}

std::string PaddleTimesCell(const PaddleTimes& times, uint64_t calls, double ratio, std::string_view unit) {
  const double mean = PaddleMean(times, calls);
  std::string cell = PaddleTime(static_cast<double>(times.total), unit);
  for (const double each : {mean, static_cast<double>(times.most)})
    cell.append(" / ").append(PaddleTime(each, unit));
  cell.append(" / ").append(times.least == INT64_MAX ? "-" : PaddleTime(static_cast<double>(times.least), unit));
  return cell.append(" / ").append(PaddlePercent(ratio));
}

void PaddleRowTexts::Widen(size_t first, size_t end, std::vector<size_t>* widths) const {
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = first; i < std::min(end, row.size()) && row.size() > 1; ++i)
      (*widths)[i] = std::max((*widths)[i], CountCodePoints(row[i]));
  }
}

}  // namespace opscope
