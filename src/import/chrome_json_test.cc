// What golden cases cannot say: agreement with simdjson, limits, samples of real GPU programs.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <random>
#include <string>

#include "import/chrome_json_number.h"
#include "import/chrome_json_scan.h"
#include "opscope/export.h"
#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

JsonValue Number(std::string_view text) {
  JsonValue value;
  value.kind = JsonValue::Kind::kNumber;
  value.text = text;
  return value;
}

bool ScannerAccepts(const std::string& text) {
  JsonScanner scanner(text);
  JsonValue value;
  return scanner.ReadValue(&value) && scanner.Peek() == '\0' && scanner.at_end();
}

// One random JSON text, sometimes with a byte changed.
std::string RandomJson(std::mt19937* random, int depth) {
  const auto pick = [&](unsigned n) { return static_cast<int>((*random)() % n); };
  static const char* const kScalars[] = {"0",    "-1",   "12.5e-3",         "true",     "false",
                                         "null", "\"\"", "\"a\\n\\u00e9\"", "\"{[,:\"", "1E+9"};
  if (depth == 0 || pick(3) == 0) return kScalars[pick(10)];
  const bool object = pick(2) == 0;
  std::string text(1, object ? '{' : '[');
  const int count = pick(4);
  for (int i = 0; i < count; ++i) {
    if (i != 0) text += pick(4) == 0 ? " ,\n  " : ", ";
    if (object) text += "\"k" + std::to_string(i) + "\": ";
    text += RandomJson(random, depth - 1);
  }
  return text + (object ? '}' : ']');
}

TEST(JsonScanner, AgreesWithSimdjsonOnRandomTexts) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  simdjson::dom::parser parser;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = RandomJson(&random, 4);
    if (random() % 2 == 0) text[random() % text.size()] = "{}[],:\"1e.-nt \\"[random() % 14];
    const bool valid = parser.parse(text).error() == simdjson::SUCCESS;
    if (valid) {
      ASSERT_TRUE(ScannerAccepts(text)) << text;
    } else if (ScannerAccepts(text)) {
      // Escapes that do not exist, and line breaks in strings, are read all the same; nothing else is.
      ASSERT_THAT(text, testing::AnyOf(testing::HasSubstr("\\"), testing::HasSubstr("\n"))) << text;
    }
  }
}

TEST(JsonScanner, TellsACutFromASyntaxError) {
  for (const char* text : {"{\"a\": tru", "[1, 2", "\"abc", "{\"a\"", "-", "[1.", "nul"}) {
    EXPECT_FALSE(ScannerAccepts(text));
    JsonScanner scanner(text);
    JsonValue value;
    EXPECT_FALSE(scanner.ReadValue(&value)) << text;
    EXPECT_TRUE(scanner.truncated()) << text;
    EXPECT_EQ(scanner.failed_offset(), std::string_view(text).size()) << text;
  }
  JsonScanner scanner("[1, }");
  JsonValue value;
  EXPECT_FALSE(scanner.ReadValue(&value));
  EXPECT_FALSE(scanner.truncated());
  EXPECT_EQ(scanner.failed_offset(), 4u);
}

TEST(ChromeJsonNumber, ReadsMicrosecondsExactly) {
  EXPECT_EQ(ParseMicroseconds(Number("1661938466265032.417")), 1661938466265032417);
  EXPECT_EQ(ParseMicroseconds(Number("0.0005")), 1);
  EXPECT_EQ(ParseMicroseconds(Number("0.00049999")), 0);
  EXPECT_EQ(ParseMicroseconds(Number("-2.5")), -2500);
  EXPECT_EQ(ParseMicroseconds(Number("12.5e2")), 1250000);
  EXPECT_EQ(ParseMicroseconds(Number("125e-4")), 13);
  EXPECT_EQ(ParseMicroseconds(Number("0.000001e6")), 1000);
  EXPECT_EQ(ParseMicroseconds(Number("4000000000000000")), kLatestNs);
  EXPECT_EQ(ParseMicroseconds(Number("4000000000000000.001")), std::nullopt);
  EXPECT_EQ(ParseMicroseconds(Number("1e400")), std::nullopt);
  EXPECT_EQ(ParseMicroseconds(Number("0e400")), 0);
  EXPECT_EQ(ParseMicroseconds(Number("")), std::nullopt);
}

TEST(ChromeJsonNumber, RefusesTimesThatWouldWrap) {
  for (const char* text : {"18446744073709552", "1.8446744073709552e+16", "18446744073709551617", "1844674407370955162",
                           "4000000000000000.0005", "-18446744073709552", "3999999999999999999.9"})
    EXPECT_EQ(ParseMicroseconds(Number(text)), std::nullopt) << text;
  EXPECT_EQ(ParseMicroseconds(Number("4000000000000000.0004")), kLatestNs);
  EXPECT_EQ(ParseMicroseconds(Number("-4e15")), -kLatestNs);
}

TEST(ChromeJson, StopsAtTheMemoryLimit) {
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i)
    text += "{\"ph\": \"X\", \"name\": \"n\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1},";
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "big", {.max_memory = 500'000});
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace.value().is_partial());
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "over_memory_limit");
  EXPECT_GT(trace.value().spans().size(), 0u);
  EXPECT_LT(trace.value().spans().size(), 20'000u);
}

TEST(ChromeJson, ReadsRealGpuTracesAndExportsThemStably) {
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/kineto";
  if (!fs::exists(samples)) GTEST_SKIP() << "no samples beside the checkout";
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(samples)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("cuda_") && !name.starts_with("rocm_")) continue;
    const Result<Trace> trace = ImportFile(entry.path().string());
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_FALSE(trace.value().is_partial()) << name;
    const std::string text = ChromeTraceText(trace.value()).value();
    simdjson::dom::parser parser;
    EXPECT_EQ(parser.parse(text).error(), simdjson::SUCCESS) << name;
    const Result<Trace> again = ImportBytes(std::as_bytes(std::span(text)), name);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again.value().spans().size(), trace.value().spans().size()) << name;
    EXPECT_TRUE(ChromeTraceText(again.value()).value() == text) << name;
    for (size_t size = 1; size < text.size(); size += 99'700) {
      const Result<Trace> cut = ImportBytes(std::as_bytes(std::span(text).first(size)), "cut");
      if (cut.ok()) {
        EXPECT_TRUE(cut.value().is_partial()) << name << " cut at " << size;
      } else {
        EXPECT_EQ(cut.error().code, ErrorCode::kMalformed);
      }
    }
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace opscope
