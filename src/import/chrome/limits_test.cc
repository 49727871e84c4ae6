// Input that wants more than anybody has: an error or a partial Trace, soon, within the memory that is allowed.
// OPSCOPE_SOAK=1 takes the full sizes.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "opscope/import.h"

namespace opscope {
namespace {

constexpr std::string_view kEvent = "{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},";

bool IsSoak() {
  return std::getenv("OPSCOPE_SOAK") != nullptr;
}

// A stream compressor, so that the text is never in memory.
class Bomb {
 public:
  Bomb() : stream_(ZSTD_createCStream()) { ZSTD_initCStream(stream_, 1); }
  ~Bomb() { ZSTD_freeCStream(stream_); }
  Bomb(const Bomb&) = delete;
  Bomb& operator=(const Bomb&) = delete;

  void Add(std::string_view text) { Feed(text, ZSTD_e_continue); }
  void Repeat(std::string_view text, uint64_t bytes) {
    std::string piece;
    while (piece.size() < (size_t{1} << 20))
      piece += text;
    for (uint64_t done = 0; done < bytes; done += piece.size())
      Add(piece);
  }
  std::string Take() {
    Feed({}, ZSTD_e_end);
    return std::move(out_);
  }

 private:
  void Feed(std::string_view text, ZSTD_EndDirective directive) {
    ZSTD_inBuffer input{text.data(), text.size(), 0};
    size_t pending = 1;
    while (input.pos < input.size || (directive == ZSTD_e_end && pending != 0)) {
      char piece[1 << 16];
      ZSTD_outBuffer output{piece, sizeof(piece), 0};
      pending = ZSTD_compressStream2(stream_, &output, &input, directive);
      out_.append(piece, output.pos);
    }
  }

  ZSTD_CStream* stream_;
  std::string out_;
};

Result<Trace> Import(const std::string& bytes, uint64_t max_memory) {
  return ImportBytes(std::as_bytes(std::span(bytes)), "hostile", {.max_memory = max_memory});
}

bool IsOverLimit(const Trace& trace) {
  for (const StringId kind : trace.problems().kind) {
    if (trace.text(kind) == "over_memory_limit") return true;
  }
  return false;
}

TEST(ChromeJsonLimits, BracketsMayOpenForMillionsOfBytes) {
  for (const char* open : {"[", "{\"a\":", "[{\"args\":"}) {
    std::string text = "[";
    text += kEvent;
    while (text.size() < 20'000'000)
      text += open;
    const Result<Trace> trace = Import(text, uint64_t{64} << 20);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_TRUE(trace.value().is_partial());
    EXPECT_EQ(trace.value().spans().size(), 1u);
    const Result<Trace> alone = Import(text.substr(1 + kEvent.size()), uint64_t{64} << 20);
    ASSERT_FALSE(alone.ok());
    EXPECT_THAT(alone.error().message, testing::StartsWith("hostile: at byte "));
  }
}

TEST(ChromeJsonLimits, AStringMayNotEnd) {
  const uint64_t size = IsSoak() ? uint64_t{3} << 30 : uint64_t{192} << 20;
  for (const char* filling : {"x", " ", "\\n", "\\u00e9"}) {
    Bomb bomb;
    bomb.Add("[" + std::string(kEvent) + "{\"ph\":\"X\",\"name\":\"");
    bomb.Repeat(filling, size);
    bomb.Add("\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]");
    const Result<Trace> trace = Import(bomb.Take(), uint64_t{32} << 20);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_TRUE(IsOverLimit(trace.value()));
    EXPECT_EQ(trace.value().spans().size(), 1u);
  }
}

TEST(ChromeJsonLimits, BlanksBetweenEventsCostNoMemory) {
  const uint64_t size = IsSoak() ? uint64_t{5} << 30 : uint64_t{128} << 20;
  Bomb bomb;
  bomb.Add("[" + std::string(kEvent));
  bomb.Repeat("\t\r\n ", size);
  bomb.Add(std::string(kEvent) + "]");
  const Result<Trace> trace = Import(bomb.Take(), uint64_t{32} << 20);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_FALSE(trace.value().is_partial());
  EXPECT_EQ(trace.value().spans().size(), 2u);
}

TEST(ChromeJsonLimits, EveryNameMayBeAnother) {
  const int count = IsSoak() ? 50'000'000 : 400'000;
  Bomb bomb;
  bomb.Add("[");
  for (int i = 0; i < count; ++i)
    bomb.Add("{\"ph\":\"X\",\"name\":\"name " + std::to_string(i) + "\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},");
  const Result<Trace> trace = Import(bomb.Take(), uint64_t{32} << 20);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_TRUE(IsOverLimit(trace.value()));
  EXPECT_GT(trace.value().spans().size(), 10'000u);
  EXPECT_LT(trace.value().spans().size(), static_cast<size_t>(count));
}

// To compare each name with all others would take 3 billion comparisons, and as many for those of the ends.
TEST(ChromeJsonLimits, EventsMayHaveThousandsOfMembers) {
  const auto members = [](const char* prefix, int value) {
    std::string text;
    for (int i = 0; i < 4000; ++i)
      text += (i == 0 ? "\"" : ",\"") + (prefix + std::to_string(i)) + "\":" + std::to_string(value);
    return "{" + text + "}";
  };
  std::string text = "[";
  for (int i = 0; i < 200; ++i) {
    const std::string rest = ",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(i) + ",\"args\":";
    text += "{\"ph\":\"B\"" + rest + members("a", i) + "},{\"ph\":\"E\"" + rest + members("b", i) + "},";
  }
  const Result<Trace> trace = Import(text + "]", 0);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace.value().spans().size(), 200u);
  const std::string_view extra = trace.value().text(trace.value().spans().extra[0]);
  EXPECT_TRUE(extra.starts_with("\"a0\": 0, ") && extra.ends_with(", \"b3999\": 0")) << extra.substr(0, 100);
}

TEST(ChromeJsonLimits, AnEventOfMillionsOfMembersIsFaulty) {
  std::string text = "[" + std::string(kEvent) + "{\"ph\":\"X\"";
  for (int i = 0; i < 1'000'000; ++i)
    text += ",\"a\":1";
  text += "}," + std::string(kEvent) + "]";
  const Result<Trace> trace = Import(text, 0);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().size(), 2u);
  ASSERT_EQ(trace.value().problems().size(), 1u);
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "faulty_event");
}

TEST(ChromeJsonLimits, EveryTrackMayBeAnother) {
  std::string text = "[";
  for (int i = 0; i < 60'000; ++i)
    text += "{\"ph\":\"X\",\"name\":\"n\",\"pid\":" + std::to_string(i % 300) + ",\"tid\":\"t" + std::to_string(i) +
            "\",\"ts\":1,\"dur\":1},";
  const Result<Trace> trace = Import(text, 0);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().tracks().size(), 60'000u);
}

}  // namespace
}  // namespace opscope
