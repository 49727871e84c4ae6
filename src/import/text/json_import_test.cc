// What every JSON format other than Chrome traces owes: limits of memory hold, depth ends it early, and the format is
// found in the head.
// SPDX-License-Identifier: Apache-2.0
#include "import/text/json_import.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/file.h"
#include "import/text/compress_for_test.h"
#include "import/text/json_head.h"
#include "opscope/import.h"

namespace opscope {
namespace {

struct Format {
  const char* name;
  std::string begin, row, end;
};

void PrintTo(const Format& format, std::ostream* out) {
  *out << format.name;
}

const Format kFormats[] = {
    {"torch-memory-snapshot", R"({"device_traces": [[)",
     R"({"action": "alloc", "addr": 4096, "size": 8, "time_us": 7})", "]]}"},
    {"torch-memory-timeline", "[", "[1000, 2, 64, 3]", "]"},
    {"torch-execution-trace", R"({"schema": "1.0.1", "nodes": [)",
     R"({"name": "aten::add", "id": 2, "parent": 1, "tid": 1, "inputs": [], "input_shapes": [], "input_types": []})",
     "]}"},
    {"megengine-graph-profile", R"({"profiler": {"device": {"6": {)", R"("gpu0": {"start": 1, "kern": 2, "end": 3})",
     "}}}}"},
};

class JsonFormat : public testing::TestWithParam<Format> {};

std::string Document(const Format& format, size_t rows) {
  std::string text = format.begin;
  for (size_t i = 0; i < rows; ++i)
    text.append(i == 0 ? "" : ", ").append(format.row);
  return text + format.end;
}

TEST_P(JsonFormat, IsFoundByItsHead) {
  const std::string text = Document(GetParam(), 3);
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "text");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().info().format, GetParam().name);
}

TEST_P(JsonFormat, StopsAtTheMemoryLimit) {
  const std::string text = Document(GetParam(), 100'000);
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "text", {.max_memory = 2'000'000});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_TRUE(trace.value().is_partial());
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "over_memory_limit");
  EXPECT_GT(trace.value().info().recorded, 1000u);
  EXPECT_LT(trace.value().info().recorded, 100'000u);
  EXPECT_LE(trace.value().memory_bytes(), 2'000'000u) << "what waits is counted as what it will be";
}

// A small member is decompressed at once, so one of all would lie in memory as a whole.
std::string InMembers(const std::string& text) {
  constexpr size_t kMember = 1'000'000;
  std::string bytes;
  for (size_t at = 0; at < text.size(); at += kMember)
    bytes += Gzip(text.substr(at, kMember));
  return bytes;
}

// Three times the limit, in a file of few rows: what lies behind the cursor is dropped, only what the rows give is
// kept. A graph is kept until its end, since its rows refer to each other.
TEST_P(JsonFormat, KeepsNothingOfTheTextOfAFile) {
  const std::string blanks(2000, ' ');
  std::string text = GetParam().begin;
  for (size_t i = 0; i < 6000; ++i)
    text.append(i == 0 ? "" : ",").append(blanks).append(GetParam().row);
  text += GetParam().end;
  const std::string path = testing::TempDir() + "json_import_" + std::to_string(getpid()) + ".json";
  for (const std::string& bytes : {text, InMembers(text), Zstd(text)}) {
    const bool is_kept = std::string_view(GetParam().name) == "megengine-graph-profile";
    ASSERT_TRUE(WriteFileAtomically(path, bytes).ok());
    uint64_t last = 0;
    ImportOptions options{.max_memory = text.size() / 3};
    options.on_progress = [&](uint64_t read, uint64_t total) {
      EXPECT_GE(read, last);
      EXPECT_EQ(total, bytes.size());
      last = read;
    };
    const Result<Trace> trace = ImportFile(path, options);
    std::remove(path.c_str());
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace.value().is_partial(), is_kept);
    EXPECT_EQ(last, bytes.size());
  }
}

// A value that alone is longer than the limit.
TEST_P(JsonFormat, StopsWithinAValueAtTheMemoryLimit) {
  const std::string text = Document(GetParam(), 2000);
  const size_t end = text.size() - GetParam().end.size();
  const std::string bytes = Zstd(text.substr(0, end) + ", \"" + std::string(20'000'000, 'x') + "\"" + GetParam().end);
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(bytes)), "text", {.max_memory = 4'000'000});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().info().recorded, 2000u);
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "over_memory_limit");
}

TEST(JsonMetadata, StopsAtTheMemoryLimit) {
  std::string members;
  for (int i = 0; i < 300'000; ++i)
    members += ", \"member " + std::to_string(i) + "\": " + std::to_string(i);
  for (const Format& format : kFormats) {
    if (format.begin[0] != '{') continue;
    const std::string text =
        Zstd(format.begin + format.row + format.end.substr(0, format.end.size() - 1) + members + "}");
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "text", {.max_memory = 8'000'000});
    ASSERT_TRUE(trace.ok()) << format.name << trace.error().message;
    EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "over_memory_limit") << format.name;
    EXPECT_GT(trace.value().metadata().size(), 1'000u) << format.name;
  }
}

TEST(MegEngineGraph, OfOperatorsThatNeverRanStopsAtTheMemoryLimit) {
  for (const char* part : {R"({"graph_exec": {"operator": {)", R"({"profiler": {"opr_footprint": {)"}) {
    std::string text = part;
    for (int i = 0; i < 300'000; ++i)
      text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":{}";
    text += "}}}";
    const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "text", {.max_memory = 16'000'000});
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace.value().info().format, "megengine-graph-profile");
    EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "over_memory_limit") << part;
  }
}

TEST_P(JsonFormat, RefusesBracketsThatNeverClose) {
  const std::string text = GetParam().begin + std::string(5'000'000, '[');
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "text");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kMalformed);
}

INSTANTIATE_TEST_SUITE_P(All, JsonFormat, testing::ValuesIn(kFormats), [](const auto& of) {
  std::string name = of.param.name;
  std::erase(name, '-');
  return name;
});

TEST(JsonHead, KnowsWhatIsThereOfACutDocument) {
  const std::string text = "\xef\xbb\xbf {\"a\": 1, \"b\": [{\"c\": 2}], \"d\": {\"e\": [3, ";
  for (size_t size = 0; size <= text.size(); ++size) {
    const JsonHead head = ReadJsonHead(std::as_bytes(std::span(text).first(size)));
    EXPECT_EQ(head.first, size > 4 ? '{' : '\0') << size;
    EXPECT_EQ(head.Find("a") != nullptr, size > text.find(":")) << size;
  }
  const JsonHead head = ReadJsonHead(std::as_bytes(std::span(text)));
  ASSERT_EQ(head.members.size(), 3u);
  EXPECT_EQ(head.members[0].value, "1");
  EXPECT_EQ(head.members[1].inner_key, "c");
  EXPECT_EQ(head.members[2].inner_key, "e");
  EXPECT_EQ(head.members[2].first, '{');
}

TEST(JsonHead, DoesNotLookBehindTheEvents) {
  const std::string text = R"({"schema": "1.0", "traceEvents": [], "segments": []})";
  EXPECT_EQ(ReadJsonHead(std::as_bytes(std::span(text))).Find("segments"), nullptr);
}

}  // namespace
}  // namespace opscope
