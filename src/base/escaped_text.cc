// Walks over a text character by character and decides for each what a terminal may get and how wide it is
// there. Foreign names may hold escape sequences that move the cursor, or marks that reverse the reading
// direction; these are shown as \x1b and \u202e. strlen is no width: "名" has three bytes and two columns,
// "e" with a combining accent has one column.
//
//   ElideToWidth("aten::convolution", 9)   ->   "ate...ion"
//
// The tables of wide and combining code points are Unicode's, joined over unassigned ones. wcwidth(3) would
// need a locale.
// SPDX-License-Identifier: Apache-2.0
#include "base/escaped_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <span>

#include "base/text.h"

namespace opscope {
namespace {

struct CodeRange {
  uint32_t first, last;
};

// W and F of Unicode's EastAsianWidth, across code points that are not assigned.
constexpr CodeRange kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},
    {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
    {0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},
    {0x26ce, 0x26ce},   {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
    {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27b0, 0x27b0},   {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},
    {0x2e80, 0x303e},   {0x3041, 0x3247},   {0x3250, 0x4dbf},   {0x4e00, 0xa4c6},   {0xa960, 0xa97c},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe6b},   {0xff01, 0xff60},   {0xffe0, 0xffe6},
    {0x16fe0, 0x1b2fb}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a},
    {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca},
    {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440},
    {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a},
    {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc},
    {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7f0},
    {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faf8}, {0x20000, 0x3fffd},
};

// The combining marks that are met. One that is missing counts as a column: a line is then shorter than it might be.
constexpr CodeRange kCombining[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x5bf, 0x5bf},   {0x5c1, 0x5c2},
    {0x5c4, 0x5c5},   {0x5c7, 0x5c7},   {0x610, 0x61a},   {0x64b, 0x65f},   {0x670, 0x670},
    {0x1160, 0x11ff}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200c, 0x200d}, {0x20d0, 0x20f0},
    {0x302a, 0x302d}, {0x3099, 0x309a}, {0xd7b0, 0xd7ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

// Control characters, marks of direction, line ends and what has no look of its own. The joiners U+200C and U+200D,
// which some scripts need, pass.
constexpr CodeRange kEscaped[] = {
    {0x0, 0x1f},      {0x7f, 0x9f},     {0x61c, 0x61c},   {0x180e, 0x180e}, {0x200b, 0x200b},   {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};

bool IsIn(std::span<const CodeRange> ranges, uint32_t code) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), code,
                                      [](uint32_t value, const CodeRange& range) { return value < range.first; });
  return after != ranges.begin() && code <= std::prev(after)->last;
}

}  // namespace

EscapedCharacter FirstEscaped(std::string_view text) {
  EscapedCharacter shown;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first >= ' ' && first < 0x7f) return shown;
  const size_t length = Utf8SequenceLength(text);
  int size = 0;
  if (length <= 1) {
    size = std::snprintf(shown.escape, sizeof(shown.escape), "\\x%02x", first);
  } else {
    shown.bytes = length;
    const uint32_t code = DecodeUtf8(text.substr(0, length));
    if (IsIn(kEscaped, code)) {
      size = std::snprintf(shown.escape, sizeof(shown.escape), code > 0xffff ? "\\U%08x" : "\\u%04x", code);
    } else {
      shown.columns = IsIn(kCombining, code) ? 0 : IsIn(kWide, code) ? 2 : 1;
    }
  }
  if (size > 0) shown.columns = static_cast<size_t>(size);
  return shown;
}

std::string EscapedText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const EscapedCharacter shown = FirstEscaped(text);
    out += shown.escape[0] == '\0' ? text.substr(0, shown.bytes) : std::string_view(shown.escape);
    text.remove_prefix(shown.bytes);
  }
  return out;
}

size_t DisplayWidth(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const EscapedCharacter shown = FirstEscaped(text);
    columns += shown.columns;
    text.remove_prefix(shown.bytes);
  }
  return columns;
}

std::string_view PrefixOfWidth(std::string_view text, size_t columns) {
  size_t at = 0;
  while (at < text.size()) {
    const EscapedCharacter shown = FirstEscaped(text.substr(at));
    if (shown.columns > columns) break;
    columns -= shown.columns;
    at += shown.bytes;
  }
  return text.substr(0, at);
}

std::string_view SuffixOfWidth(std::string_view text, size_t columns) {
  size_t left = DisplayWidth(text);
  while (left > columns) {
    const EscapedCharacter shown = FirstEscaped(text);
    left -= shown.columns;
    text.remove_prefix(shown.bytes);
  }
  return text;
}

std::string ElideToWidth(std::string_view text, size_t columns) {
  constexpr std::string_view kDots = "...";
  if (DisplayWidth(text) <= columns) return std::string(text);
  if (columns <= kDots.size()) return std::string(PrefixOfWidth(text, columns));
  const size_t head = (columns - kDots.size()) / 2;
  std::string cut(PrefixOfWidth(text, head));
  cut += kDots;
  return cut += SuffixOfWidth(text, columns - kDots.size() - head);
}

namespace {

// Column in which the rest of a long line continues.
size_t IndentBelow(std::string_view line, size_t width) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const size_t gap = line.find("  ", begin);
  const size_t value = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  if (value != std::string_view::npos && DisplayWidth(line.substr(0, value)) <= width / 2) {
    return DisplayWidth(line.substr(0, value));
  }
  return begin + 2 <= width / 2 ? begin + 2 : 0;
}

void AppendWrapped(std::string_view line, size_t width, std::string* out) {
  const size_t below = IndentBelow(line, width);
  size_t indent = 0, earliest = below;  // no line ends within its title
  size_t room = 0;
  while ((room = PrefixOfWidth(line, width - indent).size()) < line.size()) {
    room = std::max(room, FirstEscaped(line).bytes);  // a character that is wider than the terminal stands alone
    const std::string_view fits = line.substr(0, room);
    size_t end = room < line.size() && line[room] == ' ' ? room : fits.find_last_of(" ,") + 1;
    if (end <= earliest) end = room;
    const std::string_view part = line.substr(0, end);
    *out += part.substr(0, part.find_last_not_of(' ') + 1);
    *out += '\n';
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    if (line.empty()) return;
    indent = below;
    earliest = 0;
    out->append(indent, ' ');
  }
  *out += line;
  *out += '\n';
}

}  // namespace

std::string WrapLines(std::string_view text, size_t width) {
  if (width == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    AppendWrapped(text.substr(0, end), width, &out);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace opscope
