// Column files that opscope would not write: made here block by block.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "opscope/import.h"
#include "wire/container.h"
#include "wire/schema.h"
#include "wire/string_block.h"
#include "wire/table_block.h"

namespace opscope {
namespace {

class FileOfBlocks {
 public:
  FileOfBlocks() { AppendFileHeader(&bytes_); }

  // Returns the offset of the block.
  uint64_t AddStrings(uint32_t first_id, std::vector<std::string_view> texts) {
    std::string payload;
    ColumnEncoder encoder;
    AppendStrings({first_id, std::move(texts)}, &encoder, &payload);
    return AppendBlock(&bytes_, block_types::kStrings, payload, true);
  }
  void Damage(uint64_t block) { bytes_[block + kBlockHeaderBytes] ^= 1; }
  // Instants with these names, as stored.
  void AddInstants(const std::vector<uint64_t>& names) {
    TableBlockWriter block(InstantDescription::kNumber);
    block.Add(columns::instants::time::kNumber, std::vector<uint64_t>(names.size(), 7), ColumnEncoding::kPlain);
    block.Add(columns::instants::name::kNumber, names, ColumnEncoding::kPlain);
    AppendTable(block);
  }
  // One track with its process.
  void AddTrack() {
    TableBlockWriter process(ProcessDescription::kNumber), track(TrackDescription::kNumber);
    process.Add(columns::processes::pid::kNumber, std::vector<uint64_t>{1}, ColumnEncoding::kSigned);
    track.Add(columns::tracks::process::kNumber, std::vector<uint64_t>{1}, ColumnEncoding::kPlain);
    AppendTable(process);
    AppendTable(track);
  }
  // Spans of 10 ns, one every 100 ns; as many starts as `starts` says. Returns the offset of the block.
  uint64_t AddSpans(uint64_t track, uint64_t base, size_t rows, size_t starts, bool compress = false) {
    TableBlockWriter block(SpanDescription::kNumber);
    block.Add(wire::span::kSegmentTrack, std::vector<uint64_t>{track}, ColumnEncoding::kDelta);
    block.Add(wire::span::kSegmentRows, std::vector<uint64_t>{rows}, ColumnEncoding::kPlain);
    block.Add(wire::span::kSegmentBase, std::vector<uint64_t>{base}, ColumnEncoding::kDelta);
    block.Add(wire::span::kStartAfterStart, std::vector<uint64_t>{0}, ColumnEncoding::kSigned);
    block.Add(wire::span::kStartAfterEnd, std::vector<uint64_t>(starts - 1, 90), ColumnEncoding::kSigned);
    block.Add(wire::span::kEndAfterStart, std::vector<uint64_t>(rows, 10), ColumnEncoding::kSigned);
    return AppendTable(block, compress);
  }
  Trace Import() {
    AppendEnd(&bytes_, 0);
    Result<Trace> trace = ImportBytes(std::as_bytes(std::span(bytes_)), "file.opscope");
    EXPECT_TRUE(trace.ok()) << trace.error().message;
    return std::move(trace).value();
  }

 private:
  // Returns the offset of the block.
  uint64_t AppendTable(const TableBlockWriter& table, bool compress = false) {
    std::string payload;
    table.AppendTo(&payload);
    return AppendBlock(&bytes_, block_types::kTable, payload, compress);
  }

  std::string bytes_;
};

TEST(ColumnTables, GivesTextsThatStandTwiceOneId) {
  FileOfBlocks file;
  file.AddStrings(0, {"", "again", "once", "again"});
  file.AddStrings(4, {"again", ""});
  file.AddInstants({1, 2, 3, 4, 5, 6});
  const Trace trace = file.Import();
  const auto names = trace.instants().name;
  ASSERT_EQ(names.size(), 6u);
  EXPECT_EQ(trace.text(names[2]), "once");
  EXPECT_EQ(trace.text(names[1]), "again");
  EXPECT_EQ(names[3], names[1]);
  EXPECT_EQ(names[4], names[1]);
  EXPECT_EQ(names[5], names[0]);
  EXPECT_EQ(names[0], StringId::kEmpty);
  EXPECT_EQ(trace.FindString("again"), names[1]);
}

TEST(ColumnTables, KnowsTextsBehindADictionaryBlockThatIsLost) {
  FileOfBlocks file;
  file.AddStrings(0, {"", "first"});
  file.AddStrings(5, {"sixth", "first"});
  file.AddInstants({2, 4, 6, 7, 99});
  const Trace trace = file.Import();
  const auto names = trace.instants().name;
  ASSERT_EQ(names.size(), 5u);
  EXPECT_EQ(names[1], StringId::kNone);
  EXPECT_EQ(trace.text(names[2]), "sixth");
  EXPECT_EQ(names[3], names[0]);
  EXPECT_EQ(names[4], StringId::kNone);
}

// As files before 1.2.
TEST(ColumnTables, SayThatNamesAreLostWhereNobodyKnowsHowMany) {
  FileOfBlocks file;
  file.AddStrings(0, {"", "first"});
  const uint64_t lost = file.AddStrings(2, {"second", "third"});
  file.Damage(lost);
  file.AddInstants({2, 3, 4});
  const Trace trace = file.Import();
  EXPECT_EQ(trace.text(trace.instants().name[0]), "first");
  EXPECT_EQ(trace.instants().name[2], StringId::kNone);
  std::string problems;
  for (size_t row = 0; row < trace.problems().size(); ++row)
    problems += std::string(trace.text(trace.problems().kind[row])) + " " +
                std::to_string(trace.problems().count[row]) + " at " +
                std::to_string(trace.problems().first_offset[row]) + "; ";
  const std::string at = " at " + std::to_string(lost) + "; ";
  EXPECT_EQ(problems, "damaged_block 1" + at + "names_lost 1" + at);
}

std::vector<int64_t> StartsOf(const Trace& trace) {
  std::vector<int64_t> starts;
  for (const Timestamp start : trace.spans().start)
    starts.push_back(start.ns);
  return starts;
}

TEST(ColumnTables, KeepsTheSpansAroundABlockThatContradictsItself) {
  FileOfBlocks file;
  file.AddTrack();
  file.AddSpans(0, 1000, 2, 2);
  const uint64_t damaged = file.AddSpans(0, 2000, 5, 3);  // its checksum is right
  file.AddSpans(0, 3000, 2, 2);
  const Trace trace = file.Import();
  EXPECT_EQ(StartsOf(trace), (std::vector<int64_t>{1000, 1100, 3000, 3100}));
  ASSERT_EQ(trace.problems().size(), 1u);
  EXPECT_EQ(trace.text(trace.problems().kind[0]), "damaged_block");
  EXPECT_EQ(trace.problems().first_offset[0], static_cast<int64_t>(damaged));
}

TEST(ColumnTables, ReadsBlocksOfSpansThatAreCompressedAsAWhole) {
  FileOfBlocks file;
  file.AddTrack();
  for (uint64_t i = 0; i < 4; ++i)
    file.AddSpans(0, 1000 * (i + 1), 3, 3, true);
  const Trace trace = file.Import();
  EXPECT_EQ(StartsOf(trace),
            (std::vector<int64_t>{1000, 1100, 1200, 2000, 2100, 2200, 3000, 3100, 3200, 4000, 4100, 4200}));
  EXPECT_EQ(trace.problems().size(), 0u);
}

TEST(ColumnTables, PutsSpansByTrackHoweverTheirBlocksStand) {
  FileOfBlocks file;
  file.AddTrack();
  file.AddSpans(1, 5000, 1, 1);  // of a track that is not there
  file.AddSpans(0, 1000, 2, 2);
  file.AddInstants({0});
  file.AddSpans(1, 6000, 1, 1);
  file.AddSpans(0, 2000, 2, 2);
  const Trace trace = file.Import();
  EXPECT_EQ(StartsOf(trace), (std::vector<int64_t>{1000, 1100, 2000, 2100, 5000, 6000}));
  EXPECT_EQ(trace.tracks().size(), 2u);
}

}  // namespace
}  // namespace opscope
