// Parses the values that torch prints (bools, integers, floats, complex numbers, flat lists) and prints the parsed
// numbers as Python literals:
//
//   [1, 0.5, True]                 [1, 0.5, True]
//   1.0000000000000001e-05         1e-05
//   __import__('os')               nothing: the caller treats the value as not recorded
//
// To copy a text that looks harmless would be shorter, but then a looser check, or a rule of Python that was overlooked
// ("1_0", "0x", unicode digits), decides what a stranger's file runs on the reader's machine.
// SPDX-License-Identifier: Apache-2.0
#include "report/python_literal.h"

#include <cmath>
#include <cstdint>

#include "base/parse_whole.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr size_t kMaxCommentBytes = 200;

std::string_view TrimmedValue(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

std::string FloatLiteral(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  std::string out;
  AppendDouble(&out, value);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

// The whole text as a double: "1.", "-2.5e-3", "inf", "-nan".
std::optional<double> ParseFloat(std::string_view text) {
  if (text.starts_with("+")) text.remove_prefix(1);
  return ParseWhole<double>(text);
}

// "1.+2.j": the sign of the imaginary part is the last one that no exponent precedes.
std::optional<std::string> ComplexLiteral(std::string_view text) {
  text.remove_suffix(1);  // j
  size_t sign = text.size();
  while (sign-- > 1) {
    const bool is_sign = text[sign] == '+' || text[sign] == '-';
    if (is_sign && text[sign - 1] != 'e') break;
  }
  if (sign == 0 || sign >= text.size()) return std::nullopt;
  const auto real = ParseFloat(text.substr(0, sign)), imaginary = ParseFloat(text.substr(sign));
  if (!real || !imaginary) return std::nullopt;
  return "complex(" + FloatLiteral(*real) + ", " + FloatLiteral(*imaginary) + ")";
}

std::optional<std::string> ScalarLiteral(std::string_view text) {
  if (text == "True" || text == "False") return std::string(text);
  if (text == "true") return "True";
  if (text == "false") return "False";
  if (text.empty()) return std::nullopt;
  if (const auto integer = ParseWhole<int64_t>(text); integer) return std::to_string(*integer);
  if (const std::optional<double> value = ParseFloat(text)) return FloatLiteral(*value);
  if (text.size() > 1 && text.back() == 'j') return ComplexLiteral(text);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> PythonLiteral(std::string_view value) {
  value = TrimmedValue(value);
  if (!value.starts_with('[')) return ScalarLiteral(value);
  if (!value.ends_with(']') || value.size() < 2) return std::nullopt;
  value = TrimmedValue(value.substr(1, value.size() - 2));
  std::string out = "[";
  while (!value.empty()) {
    const size_t comma = value.find(',');
    const std::optional<std::string> item = ScalarLiteral(TrimmedValue(value.substr(0, comma)));
    if (!item) return std::nullopt;
    out.append(out.size() > 1 ? ", " : "").append(*item);
    if (comma == std::string_view::npos) break;
    value.remove_prefix(comma + 1);
    if (TrimmedValue(value).empty()) return std::nullopt;
  }
  return out + "]";
}

std::string CommentText(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, kMaxCommentBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\\') {
      out.push_back(c);
    } else {
      out.append("\\x").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    }
  }
  return text.size() > kMaxCommentBytes ? out + "..." : out;
}

}  // namespace opscope
