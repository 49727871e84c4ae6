// Whatever pieces a document comes in, its scanner gives the values of the whole text, and fails where that fails.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/document_scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "import/text/json_walk.h"
#include "import/text/tiny_pieces_for_test.h"

namespace opscope {
namespace {

// Everything that a walk sees: keys, values, offsets, and how it ends.
template <typename Scanner>
std::string Walk(Scanner* scanner, const std::string& text) {
  std::string seen;
  const auto see = [&](const JsonValue& value) {
    seen.append(value.text).append(value.plain ? " " : "~ ").append(std::to_string(scanner->offset())).append("\n");
  };
  JsonValue value;
  std::vector<JsonMember> members;
  const bool whole = WalkObject(scanner, [&](const JsonValue& key) {
    see(key);
    if (key.text == "list" && scanner->Peek() == '[') {
      return WalkArray(scanner, [&] {
        if (scanner->Peek() == '{') {
          if (!scanner->ReadMembers(&members)) return false;
          for (const JsonMember& member : members)
            see(member.key), see(member.value);
          return true;
        }
        if (!scanner->ReadValue(&value)) return false;
        see(value);
        return true;
      });
    }
    if (!scanner->ReadValue(&value)) return false;
    see(value);
    see(key);  // still there
    return true;
  });
  if (whole) return seen + "whole at " + std::to_string(scanner->offset()) + " of " + std::to_string(text.size());
  return seen + scanner->complaint() + (scanner->truncated() ? " cut" : "") + std::to_string(scanner->failed_offset());
}

std::string RandomDocument(std::mt19937* random) {
  const auto number = [&](uint32_t most) { return static_cast<uint32_t>((*random)() % most); };
  const auto scalar = [&]() -> std::string {
    switch (number(6)) {
      case 0:
        return "-" + std::to_string(number(100'000)) + ".5e3";
      case 1:
        return "\"\\u00e9" + std::string(number(300), 'x') + "\"";
      case 2:
        return "[1, {\"deep\": [true, null]}, " + std::to_string(number(9)) + "]";
      case 3:
        return "NaN";
      default:
        return std::to_string(number(1'000'000'000));
    }
  };
  std::string text = "{";
  for (uint32_t members = 1 + number(4); members-- > 0;) {
    text += (text.size() > 1 ? ",\n \"" : "\"") + std::string(number(2) == 0 ? "list" : "other") + "\" : ";
    if (number(3) == 0) {
      text += scalar();
      continue;
    }
    text += "[";
    for (uint32_t items = number(40); items-- > 0;) {
      text.append(number(20), ' ');
      text += number(2) == 0 ? scalar() : "{\"a\": " + scalar() + ", \"b\": " + scalar() + "}";
      if (items > 0) text += ",";
    }
    text += "]";
  }
  return text + "}";
}

TEST(DocumentScanner, SeesWhatAScannerOfTheWholeTextSees) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::string text = RandomDocument(&random);
    if (round % 3 == 1) text.resize(random() % text.size());                            // cut
    if (round % 3 == 2) text[random() % text.size()] = "}]{[\",: x\\0"[random() % 11];  // damaged
    if (text.empty() || text[0] != '{') continue;
    JsonScanner whole(text);
    const std::string want = Walk(&whole, text);
    TinyText pieces(text);
    DocumentScanner scanner(&pieces, 0);
    ASSERT_EQ(Walk(&scanner, text), want) << text;
  }
}

TEST(DocumentScanner, KnowsWhereASliceStands) {
  const std::string text = "[\"first\", \"second\", \"third\"]";
  TinyText pieces(text);
  DocumentScanner scanner(&pieces, 0);
  scanner.KeepSlices();
  std::vector<JsonValue> values;
  ASSERT_TRUE(WalkArray(&scanner, [&] { return scanner.ReadValue(&values.emplace_back()); }));
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(scanner.OffsetOf(values[0].text), text.find("first"));
  EXPECT_EQ(scanner.OffsetOf(values[1].text), text.find("second"));
  EXPECT_EQ(scanner.OffsetOf(values[2].text), text.find("third"));
}

TEST(DocumentScanner, LooksAtAValueWithoutPassingIt) {
  const std::string text = "{\"a\": [1, 2, 3], \"b\": [1, 2";
  TinyText pieces(text);
  DocumentScanner scanner(&pieces, 0);
  JsonValue value;
  ASSERT_FALSE(WalkObject(&scanner, [&](const JsonValue& key) {
    const bool is_whole = key.text == "a";
    EXPECT_EQ(scanner.Look(&value), is_whole);
    EXPECT_EQ(value.text == "[1, 2, 3]", is_whole);
    return WalkArray(&scanner, [&] { return scanner.ReadValue(&value); });
  }));
  EXPECT_TRUE(scanner.truncated());
  EXPECT_EQ(scanner.failed_offset(), text.size());
}

TEST(DocumentScanner, TellsACutFromWhatItsReaderRefuses) {
  for (const auto& [text, is_cut] : {std::pair{"[1, 2]", true}, {"[1, 2] 3", false}}) {
    TinyText pieces(text);
    DocumentScanner scanner(&pieces, 0);
    JsonValue value;
    ASSERT_TRUE(scanner.ReadValue(&value));
    EXPECT_FALSE(scanner.Fail("refused"));
    EXPECT_EQ(scanner.truncated(), is_cut);
    EXPECT_EQ(scanner.failed_offset(), 6u);
  }
}

TEST(DocumentScanner, HoldsNoMoreThanWhatItReads) {
  std::string text = "[";
  for (int i = 0; i < 200'000; ++i)
    text += "\"" + std::to_string(i) + "\",";
  text.back() = ']';
  TinyText pieces(text);
  DocumentScanner scanner(&pieces, 0);
  uint64_t most = 0;
  JsonValue value;
  EXPECT_TRUE(WalkArray(&scanner, [&] {
    most = std::max(most, scanner.memory_bytes());
    return scanner.ReadValue(&value);
  }));
  EXPECT_EQ(value.text, "199999");
  EXPECT_LT(most, 1'000u);
}

}  // namespace
}  // namespace opscope
