// Lays out a text table in the width of a terminal. If the columns do not fit at their least widths, columns are
// dropped from the right, never the name, until they do, and a last line names the dropped ones. Then long texts are
// shortened, always the widest by one, so that several texts share the loss. Widths are display columns, not bytes: CJK
// names count double.
// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <algorithm>
#include <utility>

#include "base/escaped_text.h"
#include "report/code_points.h"

namespace opscope {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kMaxMinNameWidth = 40;
constexpr size_t kMinTextWidth = 16;

// Decides which columns are shown and how wide each is.
class ColumnLayout {
 public:
  ColumnLayout(const std::vector<TextColumn>& columns, size_t width) : columns_(columns), width_(width) {
    while (name_ < columns.size() && !columns[name_].is_text)
      ++name_;
    for (size_t c = 0; c < columns.size(); ++c) {
      shown_.push_back(c);
      widths_.push_back(DisplayWidth(columns[c].title));
      for (const std::string& cell : columns[c].cells)
        widths_[c] = std::max(widths_[c], DisplayWidth(cell));
    }
    if (width == 0) return;
    while (Total([&](size_t c) { return MinWidth(c); }) > width && shown_.size() > 1)
      LeaveOutOne();
    Shrink();
  }

  const std::vector<size_t>& shown() const { return shown_; }
  size_t width_of(size_t column) const { return widths_[column]; }
  std::vector<std::string> TitlesLeftOut() const {
    std::vector<std::string> titles;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (std::find(shown_.begin(), shown_.end(), c) == shown_.end()) titles.push_back(columns_[c].title);
    }
    return titles;
  }

 private:
  size_t MinWidth(size_t c) const {
    if (!columns_[c].is_text) return widths_[c];
    return std::min(widths_[c], c == name_ ? MinNameWidth(width_) : kMinTextWidth);
  }
  template <typename WidthOf>
  size_t Total(WidthOf width_of) const {
    size_t total = kGap * (shown_.size() - 1);
    for (const size_t c : shown_)
      total += width_of(c);
    return total;
  }
  void LeaveOutOne() {
    for (const bool with_kept : {false, true}) {
      for (size_t i = shown_.size(); i-- > 0;) {
        if (shown_[i] == name_ || (columns_[shown_[i]].is_kept && !with_kept)) continue;
        shown_.erase(shown_.begin() + static_cast<ptrdiff_t>(i));
        return;
      }
    }
  }
  // Narrows text columns until the table fits, the widest first.
  void Shrink() {
    size_t total = Total([&](size_t c) { return widths_[c]; });
    for (; total > width_; --total) {
      size_t widest = columns_.size();
      for (const size_t c : shown_) {
        const bool can = columns_[c].is_text && widths_[c] > MinWidth(c);
        if (can && (widest == columns_.size() || widths_[c] > widths_[widest])) widest = c;
      }
      if (widest == columns_.size()) return;
      --widths_[widest];
    }
  }

  const std::vector<TextColumn>& columns_;
  const size_t width_;
  size_t name_ = 0;
  std::vector<size_t> shown_;
  std::vector<size_t> widths_;
};

void AppendCell(const std::string& text, size_t width, bool is_left, std::string* out) {
  const std::string cut = ElideToWidth(text, width);
  AppendPadded(cut, DisplayWidth(cut), width, is_left, out);
}

}  // namespace

size_t MinNameWidth(size_t width) {
  return std::max<size_t>(1, std::min(kMaxMinNameWidth, width / 2));
}

std::string LayOutTable(std::vector<TextColumn> columns, size_t width) {
  if (columns.empty()) return {};
  for (TextColumn& column : columns) {
    column.title = EscapedText(column.title);
    for (std::string& cell : column.cells)
      cell = EscapedText(cell);
  }
  const ColumnLayout fit(columns, width);
  std::string out;
  for (size_t line = 0; line <= columns[0].cells.size(); ++line) {
    const size_t begin = out.size();
    for (const size_t c : fit.shown()) {
      if (c != fit.shown().front()) out.append(kGap, ' ');
      AppendCell(line == 0 ? columns[c].title : columns[c].cells[line - 1], fit.width_of(c), columns[c].is_text, &out);
    }
    const size_t end = out.find_last_not_of(' ');
    out.resize(end == std::string::npos ? begin : std::max(begin, end + 1));
    out += '\n';
  }
  const std::vector<std::string> left_out = fit.TitlesLeftOut();
  return left_out.empty() ? out : out + LeftOutLine(left_out, width) + "\n";
}

std::string LeftOutLine(const std::vector<std::string>& names, size_t width) {
  for (size_t named = names.size();; --named) {
    std::string line = "Left out:";
    for (size_t i = 0; i < named; ++i)
      line += (i == 0 ? " " : ", ") + names[i];
    if (named < names.size()) {
      const std::string more = std::to_string(names.size() - named);
      line += named == 0 ? " " + more + (names.size() == 1 ? " column" : " columns") : " and " + more + " more";
    }
    if (width == 0 || DisplayWidth(line) <= width || named == 0) return width == 0 ? line : ElideToWidth(line, width);
  }
}

}  // namespace opscope
