// Reproduces Python's tabulate for three table formats. A column's type is the most general type of its cells (bool,
// integer, float, text), parsed as Python's int() and float() would; numbers are aligned at the decimal point, which is
// done by padding cells on the right to the same number of characters behind the point. Then widths are known and lines
// are drawn with the characters of the format.
// SPDX-License-Identifier: Apache-2.0
#include "report/megengine/tabulate.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/parse_double.h"
#include "base/text.h"
#include "report/code_points.h"
#include "report/python_float.h"

namespace opscope {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r\x1c\x1d\x1e\x1f";

std::string_view Stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1);
}

// Removes underscores as Python's number syntax allows ("1_000"); nullopt if one is not between digits.
std::optional<std::string> WithoutUnderscores(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') plain += text[i];
    else if (i == 0 || i + 1 == text.size() || !IsDigit(text[i - 1]) || !IsDigit(text[i + 1])) return std::nullopt;
  }
  return plain;
}

// True if Python's int() accepts the text.
bool ReadsAsInteger(std::string_view text) {
  const auto plain = WithoutUnderscores(Stripped(text));
  if (!plain) return false;
  const size_t sign = plain->starts_with('-') || plain->starts_with('+') ? 1 : 0;
  return plain->size() > sign && std::all_of(plain->begin() + static_cast<ptrdiff_t>(sign), plain->end(), IsDigit);
}

// The value if Python's float() accepts the text; of the special values only "nan", "inf" and "-inf".
std::optional<double> ReadAsNumber(std::string_view text) {
  auto plain = WithoutUnderscores(Stripped(text));
  if (!plain || plain->empty()) return std::nullopt;
  std::string lower(text);
  for (char& c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "nan" || lower == "inf" || lower == "-inf") return ParseDouble(lower);
  const std::string_view number_text = std::string_view(*plain).substr(plain->front() == '+' ? 1 : 0);
  if (number_text.starts_with('+') || (number_text.size() < plain->size() && number_text.starts_with('-')))
    return std::nullopt;
  const std::optional<double> number = ParseDouble(number_text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

// From the least general to the most general type; an empty text has none.
enum class ColumnType : uint8_t { kNone, kBool, kInteger, kFloat, kText };

ColumnType TypeOf(const TabulatedCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return ColumnType::kFloat;
  if (text->empty()) return ColumnType::kNone;
  if (*text == "True" || *text == "False") return ColumnType::kBool;
  if (ReadsAsInteger(*text)) return ColumnType::kInteger;
  return ReadAsNumber(*text) ? ColumnType::kFloat : ColumnType::kText;
}

ColumnType TypeOf(const TabulatedColumn& column) {
  ColumnType type = ColumnType::kBool;
  for (const TabulatedCell& cell : column) {
    if (type == ColumnType::kText) break;
    type = std::max(type, TypeOf(cell));
  }
  return type;
}

std::string TextOf(TabulatedCell cell, ColumnType type) {
  if (const auto* number = std::get_if<double>(&cell))
    return type == ColumnType::kText ? PythonRepr(*number) : PythonGeneral(*number);
  auto& text = std::get<std::string>(cell);
  if (type != ColumnType::kFloat || text.empty()) return std::move(text);
  const auto number = ReadAsNumber(text);
  return number ? PythonGeneral(*number) : std::move(text);
}

// Number of characters after the decimal point, or after the exponent's e if there is no point; -1 if neither.
int BehindPoint(std::string_view text) {
  if (ReadsAsInteger(text) || !ReadAsNumber(text)) return -1;
  size_t point = text.rfind('.');
  if (point == std::string_view::npos) point = text.find_last_of("eE");
  return point == std::string_view::npos ? -1 : static_cast<int>(text.size() - point - 1);
}

struct LaidOutColumn {
  std::vector<std::string> cells;
  bool is_number = false;
  size_t width = 0;
};

template <typename Line>
void ForEachLine(std::string_view text, const Line& line) {
  while (true) {
    const size_t end = text.find('\n');
    line(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

LaidOutColumn LayOut(TabulatedColumn column, size_t min_width) {
  const ColumnType type = TypeOf(column);
  LaidOutColumn laid_out;
  laid_out.is_number = type == ColumnType::kInteger || type == ColumnType::kFloat;
  laid_out.width = min_width;
  laid_out.cells.reserve(column.size());
  for (TabulatedCell& cell : column) {
    std::string text = TextOf(std::move(cell), type);
    if (!laid_out.is_number) text = std::string(Stripped(text));
    laid_out.cells.push_back(std::move(text));
  }
  if (laid_out.is_number) {
    int most = -1;
    for (const std::string& text : laid_out.cells)
      most = std::max(most, BehindPoint(text));
    for (std::string& text : laid_out.cells)
      text.append(static_cast<size_t>(most - BehindPoint(text)), ' ');
  }
  for (const std::string& text : laid_out.cells)
    ForEachLine(text, [&](std::string_view line) { laid_out.width = std::max(laid_out.width, CountCodePoints(line)); });
  return laid_out;
}

struct Line {
  std::string_view begin, fill, between, end;
};
struct RowEdges {
  std::string_view begin, between, end;
};
struct Frame {
  std::optional<Line> above, below_titles, between, below;
  RowEdges row;
  size_t padding = 0;
};

Frame FrameOf(TableStyle style, bool has_titles) {
  switch (style) {
    case TableStyle::kFancyGrid:
      return {.above = Line{"╒", "═", "╤", "╕"},
              .below_titles = Line{"╞", "═", "╪", "╡"},
              .between = Line{"├", "─", "┼", "┤"},
              .below = Line{"╘", "═", "╧", "╛"},
              .row = {"│", "│", "│"},
              .padding = 1};
    case TableStyle::kConfluence:
      return {.above = {},
              .below_titles = Line{"|", "-", "|", "|"},
              .between = {},
              .below = {},
              .row = {"|", "|", "|"},
              .padding = 1};
    case TableStyle::kSimple:
      break;
  }
  const Line line = {"", "-", "  ", ""};
  Frame frame{.above = {}, .below_titles = line, .between = {}, .below = {}, .row = {"", "  ", ""}, .padding = 0};
  if (!has_titles) frame.above = frame.below = line;
  return frame;
}

class Writer {
 public:
  Writer(const Frame& frame, const std::vector<LaidOutColumn>& columns) : frame_(frame), columns_(columns) {}

  void AddLine(const std::optional<Line>& line) {
    if (!line) return;
    out_ += line->begin;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out_ += line->between;
      for (size_t filled = 0; filled < columns_[i].width + 2 * frame_.padding; ++filled)
        out_ += line->fill;
    }
    out_ += line->end;
    EndLine();
  }

  // texts(i): cell of column i, possibly of several lines. The row is as high as its highest cell.
  template <typename TextOfColumn>
  void AddRow(const TextOfColumn& texts) {
    std::vector<std::string_view> rest;
    for (size_t i = 0; i < columns_.size(); ++i)
      rest.push_back(texts(i));
    for (bool goes_on = true; goes_on; EndLine()) {
      goes_on = false;
      out_ += frame_.row.begin;
      for (size_t i = 0; i < columns_.size(); ++i) {
        const size_t end = rest[i].find('\n');
        const std::string_view line = rest[i].substr(0, end);
        if (i > 0) out_ += frame_.row.between;
        out_.append(frame_.padding, ' ');
        AppendPadded(line, CountCodePoints(line), columns_[i].width, !columns_[i].is_number, &out_);
        out_.append(frame_.padding, ' ');
        rest[i] = end == std::string_view::npos ? std::string_view() : rest[i].substr(end + 1);
        goes_on |= end != std::string_view::npos;
      }
      out_ += frame_.row.end;
    }
  }

  std::string Take() {
    if (!out_.empty()) out_.pop_back();
    return std::move(out_);
  }

 private:
  // Ends the line after stripping trailing blanks.
  void EndLine() {
    while (!out_.empty() && out_.back() == ' ')
      out_.pop_back();
    out_ += '\n';
  }

  const Frame& frame_;
  const std::vector<LaidOutColumn>& columns_;
  std::string out_;
};

}  // namespace

std::string Tabulate(Tabulated table, TableStyle style) {
  constexpr size_t kTitlePadding = 2;
  const bool has_titles = !table.titles.empty();
  const size_t rows = table.columns.empty() ? 0 : table.columns.front().size();
  table.columns.resize(std::max(table.columns.size(), table.titles.size()));
  std::vector<LaidOutColumn> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const size_t title = has_titles ? CountCodePoints(table.titles[i]) + kTitlePadding : 0;
    columns.push_back(LayOut(std::move(table.columns[i]), title));
  }
  const Frame frame = FrameOf(style, has_titles);
  Writer writer(frame, columns);
  writer.AddLine(frame.above);
  if (has_titles) {
    writer.AddRow([&](size_t i) { return std::string_view(table.titles[i]); });
    writer.AddLine(frame.below_titles);
  }
  for (size_t row = 0; row < rows; ++row) {
    const bool continues = !table.continues.empty() && table.continues[row];
    if (row > 0 && !continues) writer.AddLine(frame.between);
    writer.AddRow([&](size_t i) { return std::string_view(columns[i].cells[row]); });
  }
  writer.AddLine(frame.below);
  return writer.Take();
}

}  // namespace opscope
