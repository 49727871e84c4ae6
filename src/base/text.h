// Appends numbers and JSON strings to a std::string, without locale and without allocation beyond the string's own
// growth. Reads and writes UTF-8, tests digits and blanks, and changes the case of ASCII letters.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

// 0 to 9.
[[nodiscard]] constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// What may stand between the values of JSON.
inline constexpr std::string_view kJsonBlanks = " \t\n\r";
[[nodiscard]] constexpr bool IsJsonBlank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// A to Z become a to z; all other bytes stay.
[[nodiscard]] constexpr char LowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] std::string LowerCase(std::string_view text);

void AppendInt(std::string* out, int64_t value);
void AppendUint(std::string* out, uint64_t value);
void AppendHex(std::string* out, uint64_t value);  // lower case, no prefix

// Copies a text into a buffer of `size` bytes, cut if necessary and with a final NUL. size 0: copies nothing.
void CopyText(std::string_view text, char* to, size_t size);

// The shortest text that reads back as the same double: "0.1", "1e+300", "2". NaN and infinities as
// std::to_chars writes them; JSON has no spelling for those, callers decide.
void AppendDouble(std::string* out, double value);
// With this many decimals and no exponent: "0.10".
void AppendFixed(std::string* out, double value, int decimals);

// Nanoseconds as microseconds with exactly three decimals, as Kineto prints times: 1234567 -> "1234.567".
void AppendMicros(std::string* out, int64_t ns);

// `text` between quotes. Control characters, quote and backslash are escaped, valid UTF-8 passes.
// A byte that is not UTF-8 becomes \udcXX (Python's surrogateescape), which AppendDecoded (json_decode.h) turns back.
void AppendJsonString(std::string* out, std::string_view text);

// As above, without the quotes.
void AppendJsonEscaped(std::string* out, std::string_view text);

// A character of a JSON or Python text as UTF-8. What AppendJsonString writes for bytes that are not UTF-8, \udc80 to
// \udcff, is the byte again; other lone surrogates are three bytes.
void AppendCodePoint(std::string* out, uint32_t code);

// Removes the front of `text` through the first `end`, and returns it without `end`; all of it if there is no `end`.
std::string_view TakeUntil(char end, std::string_view* text);

// 0 to 15, or -1.
[[nodiscard]] int HexDigit(char c);

// `text` for readers that take UTF-8 alone (Arrow, DuckDB): a byte that is not becomes the six characters \udcHH.
void AppendUtf8(std::string_view text, std::string* out);

[[nodiscard]] bool IsUtf8(std::string_view text);

// Length of the valid UTF-8 sequence at the start of `text`, 0 when there is none.
[[nodiscard]] size_t Utf8SequenceLength(std::string_view text);
// The code point of one sequence. REQUIRES: Utf8SequenceLength(sequence) == sequence.size() > 0.
[[nodiscard]] uint32_t DecodeUtf8(std::string_view sequence);

}  // namespace opscope
