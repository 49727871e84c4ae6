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
#include "trace/debug_text_for_test.h"

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
  Utf16Offsets offsets;
  PiecedText text(ReadUtf16(source, order, &offsets), source->total_bytes());
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
  return trace.ok() ? ToDebugText(trace.value()) : trace.error().message;
}

// Texts of every format that begins as these do, whole and cut anywhere, plain and compressed.
TEST(Utf16, GivesTheTraceOfTheUtf8) {
  const std::string texts[] = {
      R"([{"ph":"X","name":"é😀","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1}])",
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
      EXPECT_EQ(Outcome(import(InUtf16(units, order))), Outcome(import(text))) << "without a mark";
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

// Any characters, those outside the basic plane and halves of them too.
std::u16string RandomCharacters(std::mt19937* random, size_t most) {
  std::u16string text;
  const auto below = [random](uint32_t n) { return static_cast<uint32_t>((*random)() % n); };
  for (size_t i = (*random)() % (most + 1); i-- > 0;) {
    const uint32_t kind = below(5);
    const uint32_t code = kind < 2 ? 'a' + below(26) : kind == 2 ? 0xa0 + below(0x700) : 0x800 + below(0x5000);
    if (kind == 4) {
      text += static_cast<char16_t>(0xd800 + below(0x400));
      text += static_cast<char16_t>(0xdc00 + below(0x400));
    } else {
      text += static_cast<char16_t>(code);
    }
  }
  return text;
}

// The offset of a problem, and of an error, is that of the UTF-16, whatever characters stand before it.
TEST(Utf16, OffsetsNameThePlaceOfTheFault) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::u16string text = u"[";
    const bool has_long_names = round % 50 == 0;
    for (size_t i = random() % 4 + 1; i-- > 0;)
      text += u"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1,\"name\":\"" +
              RandomCharacters(&random, has_long_names ? 20'000 : 20) + u"\"},";
    const size_t fault = text.size();
    text += u"{\"ph\":\"X\",\"ts\":0x1,\"name\":\"" + RandomCharacters(&random, 20) +
            u"\"},{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"" + RandomCharacters(&random, 20) + u"\"}]";
    const std::u16string bad = u"{\"" + RandomCharacters(&random, 20) + u"\":\"x\", 7}";
    for (const Utf16Order order : kOrders) {
      for (const size_t mark : {size_t{0}, size_t{2}}) {
        const std::string before = mark == 0 ? "" : InUtf16(u"\ufeff", order);
        const std::string bytes = before + InUtf16(text, order), bad_bytes = before + InUtf16(bad, order);
        for (const std::string& input : {bytes, Gzip(bytes)}) {
          const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(input)), "text");
          ASSERT_TRUE(trace.ok()) << trace.error().message;
          ASSERT_EQ(trace.value().problems().size(), 1u);
          EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "faulty_event");
          EXPECT_EQ(static_cast<size_t>(trace.value().problems().first_offset[0]), mark + 2 * fault);
        }
        const Result<Trace> error = ImportBytes(std::as_bytes(std::span(bad_bytes)), "text");
        ASSERT_FALSE(error.ok());
        const std::string place = "text: at byte " + std::to_string(mark + 2 * (bad.size() - 2)) + ": ";
        EXPECT_EQ(error.error().message.substr(0, place.size()), place) << error.error().message;
      }
    }
  }
}

TEST(Utf16, OfCollapsedStacksWithoutAMarkIsRead) {
  for (const Utf16Order order : kOrders) {
    const std::string bytes = InUtf16(u"main;a 3\nmain;\u00e9 4\nmain 5 x\nmain;b 1\n", order);
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(bytes)), "text");
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace.value().info().format, "collapsed-stacks");
    EXPECT_EQ(trace.value().problems().first_offset[0], 2 * 18);
  }
}

TEST(Utf16, IsNotSeenInBytesThatAreNone) {
  for (const std::string& bytes :
       {std::string("{\0", 2), std::string("m\0a\0\1\0", 6), std::string("{\0\0\0", 4), std::string("a\0b\0c\0", 6)}) {
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(bytes)), "text");
    EXPECT_FALSE(trace.ok());
  }
  EXPECT_EQ(DetectUtf16(std::as_bytes(std::span(std::string_view("{\0\0\0", 4)))), Utf16Order::kNone);
}

}  // namespace
}  // namespace opscope
