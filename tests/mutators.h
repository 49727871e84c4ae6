// Twelve ways to damage a file, from a flipped bit to an event member with an unexpected value. Each is a pure function
// of the input and the random numbers, so that a seed reproduces it.
//
// Thread rule: one thread at a time per source of random numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace opscope {

class Mutators {
 public:
  // `others`: inputs that pieces are taken from.
  Mutators(uint64_t seed, const std::vector<std::string>& others) : random_(seed), others_(others) {}

  static constexpr size_t kCount = 12;
  static const char* Name(size_t mutator) {
    constexpr const char* kNames[kCount] = {"bits",         "bytes",        "splice",       "truncate",
                                            "repeat",       "delete",       "swap",         "bracket storm",
                                            "number edges", "string edges", "field values", "tokens"};
    return kNames[mutator];
  }

  std::string Apply(size_t mutator, std::string text) {
    switch (mutator) {
      case 0:
        return FlipBits(std::move(text));
      case 1:
        return ChangeBytes(std::move(text));
      case 2:
        return Splice(std::move(text));
      case 3:
        return text.substr(0, Below(text.size() + 1));
      case 4:
        return Repeat(std::move(text));
      case 5:
        return text.erase(Below(text.size() + 1), Below(Below(text.size()) + 1));
      case 6:
        return Swap(std::move(text));
      case 7:
        return Storm(std::move(text));
      case 8:
        return NumberEdge(std::move(text));
      case 9:
        return StringEdge(std::move(text));
      case 10:
        return FieldValue(std::move(text));
      default:
        return Tokens(std::move(text));
    }
  }

  size_t Below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  template <typename List>
  std::string_view OneOf(const List& list) {
    return list[Below(std::size(list))];
  }
  std::string_view Piece(std::string_view text) {
    const size_t at = Below(text.size() + 1);
    return text.substr(at, Below(256));
  }

  std::string FlipBits(std::string text) {
    for (size_t count = Below(8) + 1; count > 0 && !text.empty(); --count)
      text[Below(text.size())] ^= static_cast<char>(1 << Below(8));
    return text;
  }

  std::string ChangeBytes(std::string text) {
    constexpr unsigned char kEdges[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff, '"', '\\', '\n'};
    for (size_t count = Below(16) + 1; count > 0 && !text.empty(); --count)
      text[Below(text.size())] = static_cast<char>(Below(2) == 0 ? kEdges[Below(std::size(kEdges))] : Below(256));
    return text;
  }

  std::string Splice(std::string text) {
    const std::string& other = others_[Below(others_.size())];
    const size_t at = Below(text.size() + 1);
    if (Below(2) == 0) return text.substr(0, at) + other.substr(Below(other.size() + 1));
    return text.insert(at, Piece(other));
  }

  std::string Repeat(std::string text) {
    const std::string piece(Piece(text));
    std::string many;
    const size_t longest = Below(4) == 0 ? 65536 : 2048;
    while (!piece.empty() && many.size() < longest)
      many += piece;
    return text.insert(Below(text.size() + 1), many);
  }

  std::string Swap(std::string text) {
    const size_t a = Below(text.size() + 1), b = a + Below(text.size() - a + 1), c = b + Below(text.size() - b + 1);
    std::rotate(text.begin() + static_cast<ptrdiff_t>(a), text.begin() + static_cast<ptrdiff_t>(b),
                text.begin() + static_cast<ptrdiff_t>(c));
    return text;
  }

  std::string Storm(std::string text) {
    // JSON, protobuf messages within messages, marks and lists of pickles, frames.
    constexpr std::string_view kOpenings[] = {"[", "{",  "{\"a\":", "[{", "\x12\x7f", "\x0a\xff\xff\x03",
                                              "(", "](", "}(",      "a;"};
    const std::string_view opening = OneOf(kOpenings);
    std::string storm;
    for (size_t count = Below(8) == 0 ? 100'000 : Below(3000); count > 0; --count)
      storm += opening;
    return text.insert(Below(text.size() + 1), storm);
  }

  // Where a run of digits begins, from a random place on; npos: there is none.
  size_t FindNumber(std::string_view text, size_t* end) {
    size_t at = text.find_first_of("0123456789", Below(text.size() + 1));
    if (at == std::string_view::npos) at = text.find_first_of("0123456789");
    if (at == std::string_view::npos) return at;
    *end = std::min(text.find_first_not_of("0123456789.eE+-", at), text.size());
    return at;
  }

  std::string NumberEdge(std::string text) {
    constexpr std::string_view kNumbers[] = {"0",
                                             "-0",
                                             "-1",
                                             "9007199254740993",
                                             "9223372036854775807",
                                             "9223372036854775808",
                                             "18446744073709551615",
                                             "18446744073709551616",
                                             "-9223372036854775808",
                                             "-9223372036854775809",
                                             "1e308",
                                             "1e400",
                                             "-1e400",
                                             "1e-400",
                                             "0.1",
                                             "1.",
                                             ".5",
                                             "1e",
                                             "00",
                                             "0x10",
                                             "NaN",
                                             "Infinity",
                                             "-Infinity",
                                             "2147483648",
                                             "4294967296",
                                             "65536",
                                             "99999999999999999999999999999999999999999999",
                                             "4000000000000000.001",
                                             "\"12\"",
                                             "\"nan\"",
                                             "null",
                                             "true"};
    constexpr std::string_view kBinary[] = {
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
        "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\xff\xff\xff\xff\x0f", "\x80\x80\x80\x80\x08"};
    size_t end = 0;
    const size_t at = FindNumber(text, &end);
    if (at == std::string::npos || Below(4) == 0) {
      const std::string_view edge = OneOf(kBinary);
      const size_t place = Below(text.size() + 1);
      return text.replace(place, Below(2) == 0 ? 1 : std::min(edge.size(), text.size() - place), edge);
    }
    return text.replace(at, end - at, OneOf(kNumbers));
  }

  std::string StringEdge(std::string text) {
    const std::string edges[] = {"",
                                 std::string(1, '\0'),
                                 "\xff\xfe\xc0\x80",
                                 "\\ud800",
                                 "\\udc80\\u0000",
                                 "\\",
                                 "\\u12",
                                 "\n\t\x01\x7f",
                                 "</script><b>",
                                 "=1+1",
                                 "/etc/passwd",
                                 "../../../../etc/passwd",
                                 "%s%n%x",
                                 std::string(70'000, 'x'),
                                 std::string(3000, '\\'),
                                 "\xf0\x9f\x98\x80 \xce\xbb",
                                 "ProfilerStep#99999999999999999999",
                                 "Place(gpu:99999999999)",
                                 "/device:GPU:-1"};
    const std::string& edge = edges[Below(std::size(edges))];
    const size_t from = Below(text.size() + 1);
    const size_t open = text.find('"', from);
    const size_t close = open == std::string::npos ? open : text.find('"', open + 1);
    if (close == std::string::npos) return text.insert(from, edge);
    return text.replace(open + 1, close - open - 1, edge);
  }

  // A member that importers know gets a value that it should not have.
  std::string FieldValue(std::string text) {
    constexpr std::string_view kKeys[] = {"\"ts\"",
                                          "\"dur\"",
                                          "\"tid\"",
                                          "\"pid\"",
                                          "\"ph\"",
                                          "\"id\"",
                                          "\"name\"",
                                          "\"cat\"",
                                          "\"args\"",
                                          "\"External id\"",
                                          "\"correlation\"",
                                          "\"Input Dims\"",
                                          "\"Input Strides\"",
                                          "\"Sequence number\"",
                                          "\"traceEvents\"",
                                          "\"schemaVersion\"",
                                          "\"baseTimeNanoseconds\"",
                                          "\"blocks\"",
                                          "\"frames\"",
                                          "\"addr\"",
                                          "\"size\"",
                                          "\"time_us\"",
                                          "\"device\"",
                                          "\"nodes\"",
                                          "\"ctrl_deps\"",
                                          "\"attrs\"",
                                          "\"inputs\""};
    constexpr std::string_view kValues[] = {"null",
                                            "true",
                                            "{}",
                                            "[]",
                                            "\"\"",
                                            "-1",
                                            "0",
                                            "1e400",
                                            "9223372036854775808",
                                            "[[[[[]]]]]",
                                            "{\"a\": {\"a\": 1}}",
                                            "\"X\"",
                                            "\"M\"",
                                            "\"f\"",
                                            "\"E\"",
                                            "\"C\"",
                                            "\"0x7f\"",
                                            "[1, \"a\", null]",
                                            "NaN",
                                            "18446744073709551615"};
    for (size_t attempt = 0; attempt < 8; ++attempt) {
      const std::string_view key = OneOf(kKeys);
      size_t at = text.find(key, Below(text.size() + 1));
      if (at == std::string::npos) at = text.find(key);
      if (at == std::string::npos) continue;
      const size_t colon = text.find(':', at + key.size());
      if (colon == std::string::npos) break;
      const size_t end = std::min(text.find_first_of(",}]\n", colon), text.size());
      return text.replace(colon + 1, end - colon - 1, OneOf(kValues));
    }
    return BinaryField(std::move(text));
  }

  // Binary formats: another tag, type, opcode or length at a place.
  std::string BinaryField(std::string text) {
    if (text.empty()) return text;
    const size_t at = Below(text.size());
    const size_t way = Below(3);
    if (way == 0) text[at] = static_cast<char>(Below(32) << 3 | Below(8));
    if (way == 1) text[at] = static_cast<char>(text[at] + (Below(2) == 0 ? 1 : -1));
    if (way == 2) text[at] = "(}]uesat.NqhX\x8c\x94\x93\x95\x8a"[Below(17)];
    return text;
  }

  std::string Tokens(std::string text) {
    constexpr std::string_view kTokens[] = {"\"",
                                            ",",
                                            ":",
                                            "{",
                                            "}",
                                            "[",
                                            "]",
                                            "null",
                                            "true",
                                            "nan",
                                            "-",
                                            "\\",
                                            "\xef\xbb\xbf",
                                            "\n",
                                            " ",
                                            ";",
                                            "/*",
                                            "\x1f\x8b",
                                            "\x28\xb5\x2f\xfd",
                                            "OPSCOPE",
                                            "\x80\x04",
                                            "{}",
                                            "[]",
                                            "\"\":"};
    for (size_t count = Below(6) + 1; count > 0; --count)
      text.insert(Below(text.size() + 1), OneOf(kTokens));
    return text;
  }

  std::mt19937_64 random_;
  const std::vector<std::string>& others_;
};

}  // namespace opscope
