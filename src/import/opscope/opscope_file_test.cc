// Column files: what is written is read again; what is damaged is saved as far as it is whole.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "import/recording/recorded_bytes_for_test.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"
#include "trace/random_tables_for_test.h"
#include "wire/container.h"
#include "wire/footer_for_test.h"

namespace opscope {
namespace {

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

Result<Trace> Import(std::string_view file) {
  return ImportBytes(Bytes(file), "file.opscope");
}

std::string Export(const Trace& trace) {
  Result<std::string> bytes = OpscopeBytes(trace);
  EXPECT_TRUE(bytes.ok());
  return std::move(bytes).value();
}

bool HasProblem(const Trace& trace, std::string_view kind) {
  const auto kinds = trace.problems().kind;
  return std::any_of(kinds.begin(), kinds.end(), [&](StringId id) { return trace.text(id) == kind; });
}

// Every column of both traces as text, independent of the numbers of strings.
void ExpectSame(const Trace& a, const Trace& b) {
  const std::string first = ToDebugText(a), second = ToDebugText(b);
  if (first == second) return;
  const auto differ = std::mismatch(first.begin(), first.end(), second.begin(), second.end()).first - first.begin();
  const auto from = static_cast<size_t>(std::max<ptrdiff_t>(0, differ - 100));
  ADD_FAILURE() << "differ at " << differ << ":\n" << first.substr(from, 300) << "\nand\n" << second.substr(from, 300);
}

// Three spans of one category, the kinds of two of which it does not tell.
Trace TraceWithOwnKinds() {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const StringId category = builder.Intern("cpu_op");
  builder.AddSpan({.start = {1}, .duration = {1}, .category = category, .track = track});
  builder.AddSpan(
      {.start = {3}, .duration = {1}, .category = category, .track = track, .kind = SpanKind::kCommunication});
  builder.AddSpan({.start = {5}, .duration = {1}, .category = category, .track = track, .kind = kForcedOther});
  return builder.Build();
}

TEST(OpscopeFile, HasTheKindsThatCategoriesDoNotTell) {
  const Trace trace = TraceWithOwnKinds();
  const std::vector kinds{SpanKind::kOperator, SpanKind::kCommunication, SpanKind::kOther};
  EXPECT_EQ(std::vector(trace.spans().kind.begin(), trace.spans().kind.end()), kinds);
  const Result<Trace> back = Import(Export(trace));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(std::vector(back.value().spans().kind.begin(), back.value().spans().kind.end()), kinds);
  EXPECT_TRUE(back.value().has_explicit_kinds());
}

// A reader of before knows no such column, and a file of before has none.
TEST(OpscopeFile, HasNoColumnOfKindsThatCategoriesTell) {
  const auto file_of = [](SpanKind given) {
    TraceBuilder builder;
    const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
    builder.AddSpan(
        {.start = {1}, .duration = {1}, .category = builder.Intern("cpu_op"), .track = track, .kind = given});
    return Export(builder.Build());
  };
  EXPECT_EQ(file_of(kKindOfCategory), file_of(SpanKind::kOperator));
  EXPECT_NE(file_of(kKindOfCategory), file_of(SpanKind::kForward));
  EXPECT_EQ(Import(file_of(kKindOfCategory)).value().spans().kind[0], SpanKind::kOperator);
}

TEST(OpscopeFile, GivesBackEveryTableAndColumn) {
  const char* chosen = std::getenv("OPSCOPE_TEST_SEED");
  const uint64_t first_seed = chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
  for (uint64_t seed = first_seed; seed < first_seed + 40; ++seed) {
    SCOPED_TRACE("OPSCOPE_TEST_SEED=" + std::to_string(seed));
    const Trace trace = RandomTables(seed).Make(seed % 5 == 0 ? 0 : 300);
    const std::string file = Export(trace);
    Result<Trace> back = Import(file);
    ASSERT_TRUE(back.ok()) << back.error().message;
    ExpectSame(trace, back.value());
    EXPECT_EQ(Export(back.value()), file);
  }
}

TEST(OpscopeFile, GivesBackMoreRowsThanABlockHolds) {
  TraceBuilder builder;
  builder.info().format = "opscope";
  builder.info().format_version = "1.0";
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId tracks[] = {builder.AddTrack({.process = process}), builder.AddTrack({.process = process, .tid = 1})};
  for (int64_t i = 0; i < 150000; ++i) {
    SpanRow row;
    row.start = {i * 1000}, row.duration = {1500}, row.track = tracks[i % 2];
    row.name = builder.Intern(std::to_string(i % 70000));
    const AddedSpan span = builder.AddSpan(row);
    if (i % 2 == 0)
      builder.AddFlow({.start_track = tracks[0], .start_span = span, .end_track = tracks[0], .end_span = span});
  }
  const Trace trace = builder.Build();
  Result<Trace> back = Import(Export(trace));
  ASSERT_TRUE(back.ok()) << back.error().message;
  ExpectSame(trace, back.value());
}

TEST(OpscopeFile, CutsBlocksByTheSecond) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({})});
  for (int64_t i = 0; i < 50; ++i)
    builder.AddSpan({.start = {i * 100'000'000}, .duration = {5}, .track = track});
  Footer footer;
  ASSERT_TRUE(FindFooter(Bytes(Export(builder.Build())), &footer));
  size_t span_blocks = 0;
  for (const FooterBlock& block : footer.blocks) {
    if (block.table != 3) continue;
    ++span_blocks;
    EXPECT_LT(block.last_ns - block.first_ns, 1'000'000'000);
    EXPECT_EQ(block.rows, 10u);
  }
  EXPECT_EQ(span_blocks, 5u);
  ASSERT_EQ(footer.sums.size(), 1u);
  EXPECT_EQ(footer.sums[0].count, 50u);
  EXPECT_EQ(footer.sums[0].self_ns, 250);
}

// Small, and with a block per kind of table.
std::string SmallFile() {
  return Export(RandomTables(3).Make(12));
}

TEST(OpscopeFile, OpensWhereverItIsCut) {
  const std::string file = SmallFile();
  const Trace whole = Import(file).value();
  size_t opened = 0, last_spans = 0;
  for (size_t size = 0; size < file.size(); ++size) {
    Result<Trace> trace = Import(file.substr(0, size));
    if (!trace.ok()) {
      ASSERT_EQ(opened, 0u) << "a longer file must not open worse, " << size;
      if (size >= 16) {
        ASSERT_EQ(trace.error().code, ErrorCode::kMalformed);
        ASSERT_EQ(trace.error().message.substr(0, 22), "file.opscope: at byte ") << trace.error().message;
      }
      continue;
    }
    ++opened;
    ASSERT_TRUE(HasProblem(trace.value(), "truncated")) << size;
    ASSERT_TRUE(trace.value().is_partial());
    ASSERT_GE(trace.value().spans().size(), last_spans) << size;
    last_spans = trace.value().spans().size();
  }
  EXPECT_GT(opened, 100u);
  EXPECT_EQ(last_spans, whole.spans().size());
}

TEST(OpscopeFile, OpensWithAnyByteDamaged) {
  const std::string file = SmallFile();
  const size_t spans = Import(file).value().spans().size();
  size_t opened = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    Result<Trace> trace = Import(damaged);
    if (!trace.ok()) {
      ASSERT_LT(at, 16u) << trace.error().message;  // the magic, or a version that is not ours
      continue;
    }
    ++opened;
    ASSERT_TRUE(HasProblem(trace.value(), "damaged_block") || HasProblem(trace.value(), "truncated")) << at;
    ASSERT_LE(trace.value().spans().size(), spans);
  }
  EXPECT_GT(opened, file.size() - 17);
}

TEST(OpscopeFile, LosesFewNamesToOneFlippedBitAndSaysHowMany) {
  constexpr size_t kNames = 4811;
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({})});
  for (size_t i = 0; i < kNames; ++i)
    builder.AddSpan(
        {.start = {static_cast<int64_t>(i)}, .name = builder.Intern("name " + std::to_string(i)), .track = track});
  const std::string file = Export(builder.Build());
  EXPECT_FALSE(HasProblem(Import(file).value(), "names_lost"));
  std::vector<UndecodedBlock> blocks;
  BlockScanner scanner(Bytes(file));
  for (UndecodedBlock block; scanner.NextUndecoded(&block);) {
    if (block.type == block_types::kStrings) blocks.push_back(block);
  }
  ASSERT_GT(blocks.size(), 10u);
  size_t lost_once = 0;
  for (const UndecodedBlock& block : blocks) {
    for (const uint64_t at : {block.offset + 5, block.offset + kBlockHeaderBytes + block.stored.size() / 2}) {
      SCOPED_TRACE(at);
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ 4);
      const Trace trace = Import(damaged).value();
      const auto nameless = static_cast<size_t>(std::count_if(trace.spans().name.begin(), trace.spans().name.end(),
                                                              [&](StringId id) { return trace.text(id).empty(); }));
      EXPECT_EQ(trace.spans().size(), kNames);
      EXPECT_GT(nameless, 0u);
      EXPECT_LE(nameless, 256u);
      ASSERT_TRUE(HasProblem(trace, "names_lost"));
      const ProblemColumns& problems = trace.problems();
      for (size_t row = 0; row < problems.size(); ++row) {
        if (trace.text(problems.kind[row]) != "names_lost") continue;
        EXPECT_EQ(problems.first_offset[row], static_cast<int64_t>(block.offset));
        EXPECT_GE(problems.count[row], nameless);
        EXPECT_LE(problems.count[row], 256u);
      }
      lost_once += at > block.offset + 5 ? nameless : 0;
    }
  }
  EXPECT_EQ(lost_once, kNames) << "each name stands in one block";
}

TEST(OpscopeFile, OpensNewerMinorVersionsWithAWarning) {
  std::string file, body = SmallFile().substr(kFileHeaderBytes);
  AppendFileHeader(&file, kFormatMajor, kFormatMinor + 1);
  AppendBlock(&file, 999, "a block of the future");
  Result<Trace> trace = Import(file + body);
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(HasProblem(trace.value(), "newer_minor_version"));
  EXPECT_FALSE(HasProblem(trace.value(), "damaged_block"));
  EXPECT_FALSE(trace.value().is_partial());
}

TEST(OpscopeFile, RefusesNewerMajorVersionsByName) {
  std::string file, body = SmallFile().substr(kFileHeaderBytes);
  AppendFileHeader(&file, kFormatMajor + 1, 4);
  const Result<Trace> trace = Import(file + body);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(trace.error().message.find("file.opscope: at byte 8: written in .opscope format 2.4"), std::string::npos)
      << trace.error().message;
}

TEST(OpscopeFile, RefusesWhatIsNotATrace) {
  EXPECT_EQ(Import("").error().message, "file.opscope: at byte 0: the file is empty");
  EXPECT_EQ(Import("\x7f"
                   "ELF and so on")
                .error()
                .code,
            ErrorCode::kUnsupported);
  std::string only_header;
  AppendFileHeader(&only_header);
  EXPECT_EQ(Import(only_header).error().code, ErrorCode::kMalformed);
  AppendEnd(&only_header, 0);
  EXPECT_TRUE(Import(only_header).ok());  // complete, and empty
}

TEST(OpscopeFile, ReadsRawChunksAsTheRecorderWroteThem) {
  ChunkFacts facts;
  facts.size = 4096;
  ChunkBytes chunk(facts);
  chunk.Scope("child", 2000, 10, 1), chunk.Scope("parent", 1500, 1000, 0);
  RecordingBytes recording;
  recording.Add(block_types::kWindowInfo, WindowInfoText());
  recording.Add(block_types::kRawChunk, chunk.bytes());
  const Trace in_memory = ImportRecording(recording.blocks).value();
  for (const bool compress : {false, true}) {
    std::string file;
    AppendFileHeader(&file);
    for (const std::string& payload : recording.payloads) {
      AppendBlock(&file, payload[0] == '{' ? block_types::kWindowInfo : block_types::kRawChunk, payload, compress);
    }
    Result<Trace> cut = Import(file);
    ASSERT_TRUE(cut.ok());
    EXPECT_TRUE(HasProblem(cut.value(), "truncated"));  // a job that was killed
    AppendEnd(&file, 0);
    Result<Trace> whole = Import(file);
    ASSERT_TRUE(whole.ok());
    ExpectSame(whole.value(), in_memory);
  }
}

TEST(OpscopeFile, CountsDecompressedChunksAgainstTheMemoryLimit) {
  ChunkFacts facts;
  facts.size = 1 << 20;  // nearly all of it zeros
  ChunkBytes chunk(facts);
  chunk.Scope("child", 2000, 10, 1);
  std::string file;
  AppendFileHeader(&file);
  AppendBlock(&file, block_types::kWindowInfo, WindowInfoText());
  for (int i = 0; i < 64; ++i)
    AppendBlock(&file, block_types::kRawChunk, chunk.bytes(), true);
  AppendEnd(&file, 0);
  ASSERT_LT(file.size(), 1u << 20);
  ImportOptions options;
  options.max_memory = 16 << 20;
  Result<Trace> trace = ImportBytes(Bytes(file), "file.opscope", options);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_TRUE(HasProblem(trace.value(), "over_memory_limit"));
}

TEST(OpscopeFile, MixesColumnsWithChunksAppendedLater) {
  TraceBuilder builder;
  builder.info().epoch_ns = 1699999999000000000;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1})});
  builder.AddSpan({.start = {5}, .duration = {10}, .name = builder.Intern("column"), .track = track});
  std::string file = Export(builder.Build());
  ChunkFacts facts;
  facts.size = 4096;
  ChunkBytes chunk(facts);
  chunk.Scope("raw", 1000, 10, 0);
  AppendBlock(&file, block_types::kWindowInfo, WindowInfoText());
  AppendBlock(&file, block_types::kRawChunk, chunk.bytes(), true);
  AppendEnd(&file, 0);
  Result<Trace> trace = Import(file);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace.value().spans().size(), 2u);
  EXPECT_EQ(trace.value().spans().start[0].ns, 5);
  EXPECT_EQ(trace.value().spans().start[1].ns, 1'000'000'000);  // the chunk's clock began a second later
  EXPECT_FALSE(trace.value().is_partial());
}

TEST(OpscopeFile, NestsByTimeWhenABlockIsLost) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({})});
  const auto add = [&](const char* name, int64_t start, int64_t duration) {
    builder.AddSpan({.start = {start}, .duration = {duration}, .name = builder.Intern(name), .track = track});
  };
  add("first", 0, 1'500'000'000), add("lost", 1'600'000'000, 1'500'000'000), add("orphan", 2'700'000'000, 5);
  std::string file = Export(builder.Build());
  Footer footer;
  ASSERT_TRUE(FindFooter(Bytes(file), &footer));
  int seen = 0;
  for (const FooterBlock& block : footer.blocks) {
    if (block.table == 3 && ++seen == 2) file[block.offset + kBlockHeaderBytes + 4] ^= 1;
  }
  ASSERT_EQ(seen, 3);
  Result<Trace> trace = Import(file);
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace.value().spans().size(), 2u);
  EXPECT_EQ(trace.value().spans().parent[1], SpanId::kNone);  // by depth it would be a child of "first"
}

TEST(OpscopeFile, StopsAtTheMemoryLimit) {
  const std::string file = Export(RandomTables(8).Make(5000));
  ImportOptions options;
  options.max_memory = file.size() + 20000;
  Result<Trace> trace = ImportBytes(Bytes(file), "file.opscope", options);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_TRUE(HasProblem(trace.value(), "over_memory_limit"));
  EXPECT_FALSE(HasProblem(trace.value(), "truncated"));
}

}  // namespace
}  // namespace opscope
