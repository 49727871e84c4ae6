// The entry points: what is compressed and cut, or larger than the memory that it may take.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "import/text/compress_for_test.h"

namespace opscope {
namespace {

std::string (*const kCompressors[])(std::string_view) = {Gzip, Zstd};

Result<Trace> Import(std::string_view bytes, uint64_t max_memory = 0) {
  return ImportBytes(std::as_bytes(std::span(bytes)), "file.gz", {.max_memory = max_memory});
}

std::string Stacks(size_t lines) {
  std::string text;
  for (size_t i = 0; i < lines; ++i)
    text += "main;work;leaf " + std::to_string(i + 1) + "\n";
  return text;
}

TEST(CompressedImport, TellsWhereItEndsWhenNothingCameOut) {
  for (const auto compress : kCompressors) {
    const std::string bytes = compress(Stacks(1000));
    const Result<Trace> cut = Import(std::string_view(bytes).substr(0, 8));
    ASSERT_FALSE(cut.ok());
    EXPECT_EQ(cut.error().code, ErrorCode::kMalformed);
    EXPECT_EQ(cut.error().message, "file.gz: at byte 8: the compressed data ends before its first byte of content");
  }
}

TEST(CompressedImport, SaysAtWhichByteThereIsNothingToRead) {
  EXPECT_EQ(Import("").error().message, "file.gz: at byte 0: the file is empty");
  EXPECT_EQ(Import("hello").error().message,
            "file.gz: at byte 0: not a trace in a format that opscope reads (also in gzip or zstd)");
  for (const auto compress : kCompressors) {
    EXPECT_EQ(Import(compress("")).error().message, "file.gz: at byte 0: the file is empty");
    EXPECT_EQ(Import(compress("hello")).error().message, Import("hello").error().message);
  }
}

TEST(CompressedImport, KeepsWhatTheLimitHasRoomFor) {
  const std::string text = Stacks(50'000);
  for (const auto compress : kCompressors) {
    const Result<Trace> trace = Import(compress(text), text.size() / 3);
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    const ProblemColumns& problems = trace.value().problems();
    EXPECT_EQ(std::ranges::count_if(problems.kind,
                                    [&](StringId kind) { return trace.value().text(kind) == "over_memory_limit"; }),
              1);
    EXPECT_GT(trace.value().spans().size(), 0u);
    EXPECT_LE(trace.value().memory_bytes(), text.size() / 3);
    EXPECT_LT(trace.value().spans().size(), 50'000u);
  }
}

TEST(CompressedImport, OfABinaryFormatDoesNotCallTheMemoryLimitDamage) {
  const std::string message = "\x0a\x7f" + std::string(127, '\0');
  for (const auto compress : kCompressors) {
    const std::string bytes = compress(message);
    const Result<Trace> trace =
        ImportBytes(std::as_bytes(std::span(bytes)), "file.gz", {.max_memory = 20, .format = "paddle-protobuf"});
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::kOutOfMemory);
    EXPECT_EQ(trace.error().message, "file.gz: at byte 20: the memory limit was reached before the first whole event");
  }
}

TEST(CompressedImport, SaysOfACutTrailerThatItIsOne) {
  for (const auto compress : kCompressors) {
    const std::string bytes = compress(Stacks(1000)), more = compress(Stacks(1000));
    const Result<Trace> whole = Import(bytes);
    EXPECT_FALSE(whole.value().is_partial());
    const Result<Trace> cut = Import(bytes + more.substr(0, 3));
    ASSERT_TRUE(cut.ok()) << cut.error().message;
    EXPECT_TRUE(cut.value().is_partial());
    EXPECT_EQ(cut.value().text(cut.value().problems().kind[0]), "truncated");
  }
}

TEST(Import, SaysWhyAFileStandsInForRecords) {
  const std::string_view file = R"([{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}])";
  const auto bytes = std::as_bytes(std::span(file));
  const Trace trace = ImportBytes(bytes, "dump", {.fallback_reason = "its layout is not known"}).value();
  ASSERT_EQ(trace.problems().size(), 1u);
  EXPECT_EQ(trace.text(trace.problems().kind[0]), "framework_file");
  EXPECT_NE(trace.text(trace.problems().message[0]).find("its layout is not known"), std::string_view::npos);
  EXPECT_FALSE(trace.is_partial());
  EXPECT_EQ(ImportBytes(bytes, "dump").value().problems().size(), 0u);
}

Result<Trace> ReadAs(std::string_view text, const std::string& format) {
  return ImportBytes(std::as_bytes(std::span(text)), "input", {.format = format});
}

TEST(ImportAs, ANamedFormatIsReadWhateverTheContentLooksLike) {
  constexpr std::string_view kProse = "Training took 12\nEpoch 3\n";
  const Result<Trace> stacks = ReadAs(kProse, "collapsed-stacks");
  ASSERT_TRUE(stacks.ok()) << stacks.error().message;
  EXPECT_EQ(stacks.value().spans().size(), 2u);
  constexpr std::string_view kEvents = R"([{"ph":"X","name":"a","cat":"Session","pid":1,"tid":1,"ts":0,"dur":10}])";
  EXPECT_EQ(ReadAs(kEvents, "").value().info().format, "onnxruntime-json");
  EXPECT_EQ(ReadAs(kEvents, "chrome-json").value().info().format, "chrome-json");
  EXPECT_EQ(ReadAs(kEvents, "viztracer-json").value().info().format, "viztracer-json");
}

TEST(ImportAs, ContentThatIsNotOfTheNamedFormatIsAnErrorOfThatFormat) {
  constexpr std::string_view kEvents = R"([{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":10}])";
  for (const std::string_view name : ImportFormatNames()) {
    const Result<Trace> trace = ReadAs("\x01\x02 neither text nor a message", std::string(name));
    if (name == "collapsed-stacks") continue;
    ASSERT_FALSE(trace.ok()) << name;
    EXPECT_TRUE(trace.error().message.starts_with("input: at byte ")) << name << trace.error().message;
  }
  EXPECT_FALSE(ReadAs(kEvents, "opscope").ok());
  EXPECT_EQ(ReadAs("", "chrome-json").error().message, "input: at byte 0: the file is empty");
}

TEST(ImportAs, AnUnknownFormatIsRefusedWithTheList) {
  const Result<Trace> trace = ReadAs("[]", "kineto");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(trace.error().message.starts_with("there is no format 'kineto'; choose from opscope, "))
      << trace.error().message;
}

}  // namespace
}  // namespace opscope
