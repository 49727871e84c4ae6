// Counts and cuts UTF-8 text by code points, as Python's len() and slices do, because layouts copied from Python
// measure widths that way. An invalid byte counts as one code point, so that damaged names cannot break a table.
// SPDX-License-Identifier: Apache-2.0
#include "report/code_points.h"

#include <algorithm>

#include "base/text.h"

namespace opscope {
namespace {

size_t SequenceLength(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return 1;
  return std::max<size_t>(1, Utf8SequenceLength(text));
}

// Byte offset of code point `index`, or the end of the text.
size_t BytesOf(std::string_view text, size_t index) {
  size_t at = 0;
  while (index > 0 && at < text.size()) {
    at += SequenceLength(text.substr(at));
    --index;
  }
  return at;
}

}  // namespace

size_t CountCodePoints(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += SequenceLength(text.substr(at)))
    ++count;
  return count;
}

std::string_view FirstCodePoints(std::string_view text, int64_t count) {
  if (count < 0) count = std::max<int64_t>(0, static_cast<int64_t>(CountCodePoints(text)) + count);
  return text.substr(0, BytesOf(text, static_cast<size_t>(count)));
}

std::string LastCodePoints(std::string_view text, int64_t width) {
  const auto length = static_cast<int64_t>(CountCodePoints(text));
  if (length <= width) return std::string(text);
  const std::string_view tail = text.substr(BytesOf(text, static_cast<size_t>(length - width)));
  if (width <= 3) return std::string(tail);
  return "..." + std::string(tail.substr(BytesOf(tail, 3)));
}

void AppendPadded(std::string_view text, size_t length, size_t width, bool is_left, std::string* out) {
  const size_t padding = length < width ? width - length : 0;
  if (!is_left) out->append(padding, ' ');
  *out += text;
  if (is_left) out->append(padding, ' ');
}

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

}  // namespace opscope
