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

  void AddStrings(uint32_t first_id, std::vector<std::string_view> texts) {
    AppendBlock(&bytes_, block_types::kStrings, EncodeStrings({first_id, std::move(texts)}), true);
  }
  // Instants with these names, as stored.
  void AddInstants(const std::vector<uint64_t>& names) {
    TableBlockWriter block(wire::kInstants);
    block.Add(wire::instant::kTime, std::vector<uint64_t>(names.size(), 7), Transform::kPlain);
    block.Add(wire::instant::kName, names, Transform::kPlain);
    AppendBlock(&bytes_, block_types::kTable, block.Finish());
  }
  Trace Import() {
    AppendEnd(&bytes_, 0);
    Result<Trace> trace = ImportBytes(std::as_bytes(std::span(bytes_)), "file.opscope");
    EXPECT_TRUE(trace.ok()) << trace.error().message;
    return std::move(trace).value();
  }

 private:
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

}  // namespace
}  // namespace opscope
