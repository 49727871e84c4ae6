// A text in UTF-16 is read as the same text in UTF-8, in whatever pieces it comes.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/utf16.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

#include "import/text/compress_for_test.h"
#include "import/text/tiny_pieces_for_test.h"
#include "opscope/import.h"
#include "trace/dump.h"

namespace opscope {
namespace {

std::string InUtf16(std::u16string_view text, Utf16Order order) {
  std::string bytes;
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xff), high = static_cast<char>(unit >> 8);
    const bool is_big = order == Utf16Order::kBigEndian;
    bytes += is_big ? high : low;
    bytes += is_big ? low : high;
  }
  return bytes;
}

std::string ReadAll(TextSource* source, Utf16Order order, TextEnd* end = nullptr) {
  PiecedText text(ReadUtf16(source, order), source->total_bytes());
  text.Extend(SIZE_MAX);
  if (end != nullptr) *end = text.end();
  return std::string(text.text());
}

constexpr Utf16Order kOrders[] = {Utf16Order::kLittleEndian, Utf16Order::kBigEndian};

// All characters that there are, against a plain encoder of them.
TEST(Utf16, IsReadAsUtf8) {
  std::u16string text = u"\ufeff";
  std::string utf8;
  for (uint32_t code = 1; code <= 0x10ffff; code = code < 0x3000 ? code + 1 : code + 97) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    if (code < 0x10000) {
      text += static_cast<char16_t>(code);
    } else {
      text += {static_cast<char16_t>(0xd800 + ((code - 0x10000) >> 10)),
               static_cast<char16_t>(0xdc00 + ((code - 0x10000) & 0x3ff))};
    }
    const auto add = [&](uint32_t bits) { utf8 += static_cast<char>(bits); };
    const auto tail = [&](int shift) { add(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) add(code);
    if (code >= 0x80 && code < 0x800) add(0xc0 | code >> 6), tail(0);
    if (code >= 0x800 && code < 0x10000) add(0xe0 | code >> 12), tail(6), tail(0);
    if (code >= 0x10000) add(0xf0 | code >> 18), tail(12), tail(6), tail(0);
  }
  for (const Utf16Order order : kOrders) {
    const std::string bytes = InUtf16(text, order);
    EXPECT_EQ(DetectUtf16(std::as_bytes(std::span(bytes))), order);
    PlainText plain(std::as_bytes(std::span(bytes)));
    EXPECT_TRUE(ReadAll(&plain, order) == utf8);
    TinyText tiny(bytes);
    EXPECT_TRUE(ReadAll(&tiny, order) == utf8);
  }
}

TEST(Utf16, KeepsHalvesOfCharacters) {
  const std::pair<std::u16string, std::string> texts[] = {
      {{u'a', 0xd800, u'b'},
       "a\xed\xa0\x80"
       "b"},
      {{u'a', 0xd83d}, "a\xed\xa0\xbd"},
      {{0xd800, 0xd83d, 0xde00}, "\xed\xa0\x80\xf0\x9f\x98\x80"},
      {{0xdc80, u'b'},
       "\x80"
       "b"},
  };
  for (const auto& [text, utf8] : texts) {
    const std::string bytes = InUtf16(text, Utf16Order::kLittleEndian);
    TinyText tiny(bytes);
    EXPECT_EQ(ReadAll(&tiny, Utf16Order::kLittleEndian), utf8);
  }
}

TEST(Utf16, OfAnOddLengthIsCut) {
  const std::string bytes = InUtf16(u"\ufeffab", Utf16Order::kLittleEndian) + "c";
  PlainText plain(std::as_bytes(std::span(bytes)));
  TextEnd end;
  EXPECT_EQ(ReadAll(&plain, Utf16Order::kLittleEndian, &end), "ab");
  EXPECT_TRUE(end.cut);
  EXPECT_EQ(end.damaged_at, 6);
}

std::string Outcome(const Result<Trace>& trace) {
  return trace.ok() ? DumpTrace(trace.value()) : trace.error().message;
}

// Texts of every format that begins as these do, whole and cut anywhere, plain and compressed.
TEST(Utf16, GivesTheTraceOfTheUtf8) {
  const std::string texts[] = {
      R"([{"ph":"X","name":"\xc3\xa9\xf0\x9f\x98\x80","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1}])",
      "main;a 3\nmain;b 4\n",
      R"({"device_traces": [[{"action": "alloc", "addr": 4096, "size": 8, "time_us": 7}]]})",
      R"({"schema": "1.0.1", "nodes": [{"name": "aten::add", "id": 2, "parent": 1, "tid": 1, "inputs": [], "input_shapes": [], "input_types": []}]})",
  };
  for (const std::string& text : texts) {
    std::u16string units;
    for (size_t at = 0; at < text.size();) {  // of the few characters above
      const auto c = static_cast<unsigned char>(text[at]);
      if (c < 0x80) units += static_cast<char16_t>(c);
      if (c == 0xc3) units += u'\u00e9';
      if (c == 0xf0) units += u"\U0001f600";
      at += c < 0x80 ? 1 : c < 0xf0 ? 2 : 4;
    }
    for (const Utf16Order order : kOrders) {
      const std::string bytes = InUtf16(u"\ufeff" + units, order);
      const auto import = [](const std::string& of) { return ImportBytes(std::as_bytes(std::span(of)), "text"); };
      EXPECT_EQ(Outcome(import(bytes)), Outcome(import(text)));
      Result<Trace> compressed = import(Gzip(bytes));
      ASSERT_TRUE(compressed.ok()) << compressed.error().message;
      EXPECT_EQ(compressed.value().spans().size(), import(text).value().spans().size());
      for (size_t size = 2; size < bytes.size(); ++size) {
        const Result<Trace> cut = import(bytes.substr(0, size));
        if (!cut.ok()) {
          EXPECT_EQ(cut.error().message.find("text: at byte "), 0u) << cut.error().message;
        }
      }
    }
  }
}

}  // namespace
}  // namespace opscope
