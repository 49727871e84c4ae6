// Escapes that JSON does not have: the text as it is written, and a count of the texts with the first offset.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/json_decode.h"
#include "import/text/json_walk.h"
#include "import/text/tiny_pieces_for_test.h"
#include "opscope/export.h"
#include "opscope/import.h"

namespace opscope {
namespace {

Result<Trace> ImportJson(const std::string& text) {
  return ImportBytes(std::as_bytes(std::span(text)), "trace.json");
}

TEST(JsonEscapes, ThatDoNotExistStandForThemselves) {
  const std::pair<const char*, const char*> texts[] = {
      {R"(torch\cuda\__init__.py)", R"(torch\cuda\__init__.py)"},
      {R"(\u12g4)", R"(\u12g4)"},
      {R"(\u)", R"(\u)"},
      {R"(\u12)", R"(\u12)"},
      {R"(\x41\'\0)", R"(\x41\'\0)"},
      {R"(\"\\\/\b\f\n\r\t\u0041)", "\"\\/\b\f\n\r\tA"},
      {R"(C:\\d\q)", R"(C:\d\q)"},
  };
  for (const auto& [text, decoded] : texts) {
    std::string out;
    AppendDecoded(&out, text);
    EXPECT_EQ(out, decoded) << text;
  }
}

// Every byte behind a backslash, at every distance from the 16 bytes that are scanned at once.
TEST(JsonEscapes, AreCountedWhereTheyAreNone) {
  for (int c = 1; c < 256; ++c) {
    for (size_t before = 0; before < 20; ++before) {
      const std::string text =
          "[\"" + std::string(before, 'x') + "\\" + static_cast<char>(c) + "00e9 yyyyyyyyyyyyyyyy\", 1]";
      JsonScanner scanner(text);
      JsonValue value;
      if (!scanner.ReadValue(&value)) {
        ADD_FAILURE() << text;
        continue;
      }
      const bool is_escape = std::string("\"\\/bfnrtu").find(static_cast<char>(c)) != std::string::npos;
      EXPECT_EQ(scanner.bad_escapes().strings, is_escape ? 0u : 1u) << text;
      if (!is_escape) {
        EXPECT_EQ(scanner.bad_escapes().first, 2 + before);
      }
    }
  }
}

TEST(JsonEscapes, AreCountedOncePerTextHoweverItComes) {
  std::string text = "[";
  for (int i = 0; i < 200; ++i)
    text += (i == 0 ? "" : ",") + std::string(R"(["\q\q", "\u12", "\n"])");
  text += "]";
  TinyText pieces(text);
  DocumentScanner scanner(&pieces, 0);
  JsonValue value;
  ASSERT_TRUE(WalkArray(&scanner, [&] {
    scanner.Look(&value);
    return scanner.ReadValue(&value);
  }));
  EXPECT_EQ(scanner.bad_escapes().strings, 400u);
  EXPECT_EQ(scanner.bad_escapes().first, text.find('\\'));
}

// In every place where a trace has texts: nothing is lost, it is counted, and a second export is the first.
TEST(JsonEscapes, OfTracesSurviveTheExport) {
  const std::string bad = R"(C:\cuda\__init__.py \u12g4)";
  const std::string event = "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"cat\":\"cpu_op\",\"name\":\"" +
                            bad + "\",\"args\":{\"Call stack\":\"" + bad + ";outer;\",\"" + bad + "\":[\"" + bad +
                            "\"],\"Input type\":[\"" + bad + "\"],\"Input Dims\":[[2]]}}";
  const std::string thread =
      "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"" + bad + "\"}}";
  const std::string text =
      "{\"meta\": \"" + bad + "\", \"traceEvents\": [" + thread + ",\n" + event + ",\n" + event + "]}";
  const Result<Trace> read = ImportJson(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Trace& trace = read.value();
  ASSERT_EQ(trace.problems().size(), 1u);
  EXPECT_EQ(trace.text(trace.problems().kind[0]), "bad_escape");
  EXPECT_EQ(trace.problems().count[0], 12u);
  EXPECT_EQ(static_cast<size_t>(trace.problems().first_offset[0]), text.find('\\'));
  EXPECT_FALSE(trace.is_partial());
  EXPECT_EQ(trace.text(trace.spans().name[0]), bad);
  const std::string once = ChromeTraceText(trace).value();
  const Result<Trace> again = ImportJson(once);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again.value().problems().size(), 0u);
  EXPECT_EQ(again.value().text(again.value().spans().name[1]), bad);
  EXPECT_EQ(ChromeTraceText(again.value()).value(), once);
  std::string escaped;  // as JSON says it
  for (const char c : bad)
    escaped += c == '\\' ? "\\\\" : std::string(1, c);
  size_t seen = 0;
  for (size_t at = once.find(escaped); at != std::string::npos; at = once.find(escaped, at + 1))
    ++seen;
  EXPECT_EQ(seen, 12u) << once;
}

}  // namespace
}  // namespace opscope
