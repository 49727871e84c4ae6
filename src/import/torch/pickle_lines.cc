// Reads what pickle's protocols 0 and 1 write as lines of text: decimal numbers, texts with escapes, memo numbers.
//
//   (dp0\n                 a mark, a dict of what is behind it (nothing), which is number 0 of the memo
//   Vsegments\np1\n        "segments"
//   I64\n  L139715286138880L\n  I01\n  F0.5\n  g1\n        64, a large number, True, 0.5, "segments" again
//   s  a                   the last two are a pair of the dict below them; the last goes into the list below it
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <charconv>

#include "base/text.h"
#include "import/text/json_number.h"
#include "import/torch/pickle_reader.h"

namespace opscope {
namespace {

// The value of `count` hex digits at `at`, or -1.
int64_t HexNumber(std::string_view text, size_t at, size_t count) {
  int64_t number = 0;
  for (size_t i = at; i < at + count; ++i) {
    const int digit = i < text.size() ? HexDigit(text[i]) : -1;
    if (digit < 0) return -1;
    number = number * 16 + digit;
  }
  return number;
}

// Decodes Latin-1 with \uXXXX and \UXXXXXXXX. False: a wrong escape.
bool DecodeUnicode(std::string_view escaped, std::string* text) {
  for (size_t i = 0; i < escaped.size(); ++i) {
    const char next = i + 1 < escaped.size() ? escaped[i + 1] : '\0';
    if (escaped[i] != '\\') {
      AppendCodePoint(text, static_cast<unsigned char>(escaped[i]));
    } else if (next == 'u' || next == 'U') {
      const size_t count = next == 'u' ? 4 : 8;
      const int64_t code = HexNumber(escaped, i + 2, count);
      if (code < 0 || code > 0x10ffff) return false;
      AppendCodePoint(text, static_cast<uint32_t>(code));
      i += 1 + count;
    } else {
      text->append(escaped.substr(i, 2));
      ++i;
    }
  }
  return true;
}

// Decodes the content of repr() of a Python 2 str.
bool DecodeBytes(std::string_view escaped, std::string* text) {
  for (size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\') {
      *text += escaped[i];
      continue;
    }
    if (++i == escaped.size()) return false;
    constexpr std::string_view kLetters = "\\'\"nrt", kMeant = "\\'\"\n\r\t";
    const size_t letter = kLetters.find(escaped[i]);
    const int64_t code = escaped[i] == 'x' ? HexNumber(escaped, i + 1, 2) : -1;
    if (letter == std::string_view::npos && code < 0) return false;
    *text += letter != std::string_view::npos ? kMeant[letter] : static_cast<char>(code);
    if (code >= 0) i += 2;
  }
  return true;
}

}  // namespace

bool PickleReader::TakeLine(std::string_view* line) {
  const size_t end = file_.find('\n', at_);
  if (end == std::string_view::npos) {
    offset_ = file_.size();
    return Fail(End::kCut, "the file ends in the middle of a value");
  }
  *line = file_.substr(at_, end - at_);
  at_ = end + 1;
  return true;
}

bool PickleReader::PushDecimal(std::string_view digits) {
  if (const auto number = ParseInteger(digits))
    return Push({.kind = Kind::kInteger, .bits = static_cast<uint64_t>(*number)});
  if (const auto number = ParseUnsigned(digits)) return Push({.kind = Kind::kUnsigned, .bits = *number});
  const size_t sign = digits.starts_with('-') ? 1 : 0;
  if (digits.size() == sign || digits.find_first_not_of("0123456789", sign) != std::string_view::npos)
    return Fail(End::kDamaged, "an invalid number");
  return Push({.kind = Kind::kLarge});
}

bool PickleReader::PushDecoded(std::string_view escaped, bool is_unicode) {
  std::string_view text = escaped;
  const bool stands_as_it_is = std::ranges::all_of(escaped, [](unsigned char c) { return c != '\\' && c < 0x80; });
  if (!stands_as_it_is) {
    std::string decoded;
    if (!(is_unicode ? DecodeUnicode(escaped, &decoded) : DecodeBytes(escaped, &decoded)))
      return Fail(End::kDamaged, "a text with an invalid escape");
    bytes_ += decoded.size();
    text = decoded_.Copy(decoded);
  }
  return Push({.kind = Kind::kText, .bits = text.size(), .data = text.data()});
}

bool PickleReader::StepLine(uint8_t opcode) {
  std::string_view line;
  if (!TakeLine(&line)) return false;
  switch (opcode) {
    case 'I':
      if (line == "00" || line == "01") return Push({.kind = line == "01" ? Kind::kTrue : Kind::kFalse});
      return PushDecimal(line);
    case 'L':
      if (line.ends_with('L')) line.remove_suffix(1);
      return PushDecimal(line);
    case 'F': {
      double number = 0;
      const auto read = std::from_chars(line.data(), line.data() + line.size(), number);
      if (line.empty() || read.ptr != line.data() + line.size()) return Fail(End::kDamaged, "an invalid number");
      return Push({.kind = Kind::kFloat, .bits = std::bit_cast<uint64_t>(number)});
    }
    case 'V':
      return PushDecoded(line, true);
    case 'S': {
      const bool is_quoted = line.size() >= 2 && line.front() == line.back() && (line[0] == '\'' || line[0] == '"');
      if (!is_quoted) return Fail(End::kDamaged, "a text without quotes");
      return PushDecoded(line.substr(1, line.size() - 2), false);
    }
    default: {  // PUT, GET
      const auto index = ParseUnsigned(line);
      if (!index) return Fail(End::kDamaged, "an invalid memo index");
      return opcode == 'p' ? Remember(*index) : Recall(*index);
    }
  }
}

// Protocol 0 builds lists and dicts element by element, so marks do not show which elements belong together: everything
// on the stack waits for the container below it.
//
//   dict "segments" list dict "address"      ->      dict {"segments": [dict {}]}, all of them open
void PickleReader::FoldOneByOne() {
  if (!marks_.empty()) stack_.resize(std::min(stack_.size(), marks_.front()));
  marks_.clear();
  for (const PickleValue& value : stack_) {
    if (value.is_container()) containers_[value.bits].open = true;
  }
  while (stack_.size() > 1) {
    const PickleValue value = stack_.back();
    stack_.pop_back();
    if (stack_.back().kind == Kind::kList) {
      containers_[stack_.back().bits].items.push_back(value);
    } else if (stack_.size() > 1 && stack_[stack_.size() - 2].kind == Kind::kDict) {
      std::vector<PickleValue>& items = containers_[stack_[stack_.size() - 2].bits].items;
      items.push_back(stack_.back());
      items.push_back(value);
      stack_.pop_back();
    }
  }
}

}  // namespace opscope
