// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "import/torch/pickle_reader.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;
using Kind = PickleValue::Kind;

Result<Trace> Import(const std::string& bytes, const ImportOptions& options = {}) {
  return ImportBytes(std::as_bytes(std::span(bytes)), "snapshot.pickle", options);
}

std::string Text(const std::string& text) {
  return "\x8c" + std::string(1, static_cast<char>(text.size())) + text;
}

// The case that the same snapshot has in JSON: NAME_protocol_N is NAME.
TEST(MemorySnapshotPickle, GivesWhatTheJsonOfTheSameSnapshotGives) {
  const fs::path golden = fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden";
  size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(golden / "torch_memory_snapshot_pickle")) {
    const std::string name = entry.path().filename().string();
    const fs::path json = golden / "torch_memory_snapshot" / name.substr(0, name.find("_protocol_")) / "input.json";
    if (name.find("_protocol_") == std::string::npos || !fs::exists(json)) continue;
    SCOPED_TRACE(name);
    const Result<Trace> ours = ImportFile((entry.path() / "input.pickle").string());
    const Result<Trace> theirs = ImportFile(json.string());
    ASSERT_TRUE(ours.ok() && theirs.ok());
    EXPECT_EQ(ToDebugText(ours.value()), ToDebugText(theirs.value()));
    ++compared;
  }
  EXPECT_EQ(compared, 17u);
}

TEST(MemorySnapshotPickle, RefusesEveryOpcodeThatCouldRunCode) {
  const std::pair<char, const char*> refused[] = {{'c', "GLOBAL"},
                                                  {'\x93', "STACK_GLOBAL"},
                                                  {'R', "REDUCE"},
                                                  {'b', "BUILD"},
                                                  {'i', "INST"},
                                                  {'o', "OBJ"},
                                                  {'\x81', "NEWOBJ"},
                                                  {'\x92', "NEWOBJ_EX"},
                                                  {'\x82', "EXT1"},
                                                  {'\x83', "EXT2"},
                                                  {'\x84', "EXT4"},
                                                  {'P', "PERSID"},
                                                  {'Q', "BINPERSID"},
                                                  {'\x97', "NEXT_BUFFER"},
                                                  {'\x98', "READONLY_BUFFER"}};
  for (const auto& [opcode, name] : refused) {
    // Behind whole rows too.
    const std::string rows = "\x80\x04}(" + Text("segments") + "](}(" + Text("address") + "K\x01ue";
    const Result<Trace> trace = Import(rows + opcode + "os\nsystem\n.");
    ASSERT_FALSE(trace.ok()) << name;
    EXPECT_EQ(trace.error().message, "snapshot.pickle: at byte " + std::to_string(rows.size()) + ": opcode " + name +
                                         " could run code and is refused");
  }
}

TEST(PickleReader, ReadsIntegersOfAnyLength) {
  const struct {
    std::string bytes;
    Kind kind;
    uint64_t bits;
  } cases[] = {{std::string("\x8a\x00", 2), Kind::kInteger, 0},
               {"\x8a\x01\xff", Kind::kInteger, UINT64_MAX},
               {std::string("\x8a\x02\xff\x00", 4), Kind::kInteger, 255},
               {"J\xfe\xff\xff\xff", Kind::kInteger, UINT64_MAX - 1},
               {std::string("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00", 11), Kind::kUnsigned, UINT64_MAX},
               {std::string("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80", 10), Kind::kInteger, uint64_t{1} << 63},
               {std::string("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\xff", 11), Kind::kInteger, uint64_t{1} << 63},
               {std::string("\x8a\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", 12), Kind::kLarge, 0}};
  for (const auto& test : cases) {
    const std::string file = "\x80\x04" + test.bytes + ".";
    PickleReader reader(file);
    ASSERT_EQ(reader.Read(0), PickleReader::End::kWhole) << reader.complaint();
    EXPECT_EQ(reader.root().kind, test.kind);
    EXPECT_EQ(reader.root().bits, test.bits);
  }
}

TEST(PickleReader, ReadsNumbersThatAreLines) {
  const struct {
    std::string line;
    Kind kind;
    uint64_t bits;
  } cases[] = {{"I00", Kind::kFalse, 0},
               {"I01", Kind::kTrue, 0},
               {"I-7", Kind::kInteger, static_cast<uint64_t>(-7)},
               {"L18446744073709551615L", Kind::kUnsigned, UINT64_MAX},
               {"L-99999999999999999999L", Kind::kLarge, 0},
               {"F-0.5", Kind::kFloat, 0xbfe0000000000000},
               {"Finf", Kind::kFloat, 0x7ff0000000000000}};
  for (const auto& test : cases) {
    const std::string file = test.line + "\n.";
    PickleReader reader(file);
    ASSERT_EQ(reader.Read(0), PickleReader::End::kWhole) << test.line << ": " << reader.complaint();
    EXPECT_EQ(reader.root().kind, test.kind) << test.line;
    EXPECT_EQ(reader.root().bits, test.bits) << test.line;
  }
  for (const char* wrong :
       {"I", "I1x", "I-", "L0x1L", "F", "F1,5", "p-1", "gx", "S'a", "Sa", "S'\\", "S'\\q'", "V\\u12"}) {
    const std::string file = std::string("N") + wrong + "\n.";
    PickleReader reader(file);
    EXPECT_EQ(reader.Read(0), PickleReader::End::kDamaged) << wrong;
    EXPECT_EQ(reader.offset(), 1u) << wrong;
  }
}

TEST(PickleReader, ReadsTextsThatAreLines) {
  const std::pair<std::string, std::string> texts[] = {{"Vplain", "plain"},
                                                       {"V", ""},
                                                       {"Va\\u005cb\\u000ac", "a\\b\nc"},
                                                       {"V\xe9", "\u00e9"},
                                                       {"V\xe9\\U0001f600", "\u00e9\U0001f600"},
                                                       {"V\\\\u0041", "\\\\u0041"},
                                                       {"S'it\\'s\\x41\\n'", "it'sA\n"},
                                                       {"S\"\"", ""}};
  for (const auto& [line, text] : texts) {
    const std::string file = line + "\n.";
    PickleReader reader(file);
    ASSERT_EQ(reader.Read(0), PickleReader::End::kWhole) << line;
    EXPECT_EQ(reader.root().text(), text) << line;
  }
}

// Ten lists of ten references each, nested: 10^10 rows in 600 bytes.
TEST(MemorySnapshotPickle, EndsWithListsThatHoldEachOtherManyTimesOver) {
  std::string bytes = "\x80\x04}(" + Text("device_traces") + "](";
  std::string trace = "](}(" + Text("action") + Text("alloc") + "uq\x01";
  for (int i = 0; i < 3000; ++i)
    trace += "h\x01";
  bytes += trace + "eq\x02";
  for (int i = 0; i < 100'000; ++i)
    bytes += "h\x02";
  bytes += "eu.";
  const Result<Trace> imported = Import(bytes);
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_LT(imported.value().instants().size(), 17 * bytes.size());
  EXPECT_TRUE(imported.value().is_partial());
}

TEST(MemorySnapshotPickle, EndsWithAListThatHoldsItself) {
  const std::string bytes = "\x80\x04}(" + Text("device_traces") + "]q\x01h\x01" + "a" + Text("more") + "h\x01u.";
  const Result<Trace> trace = Import(bytes);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().instants().size(), 0u);
}

TEST(MemorySnapshotPickle, EndsWithListsAMillionDeep) {
  const std::string bytes = "\x80\x04}(" + Text("segments") + std::string(1'000'000, ']') + std::string(999'999, 'a') +
                            Text("more") + std::string(1'000'000, ']') + std::string(999'999, 'a') + "u.";
  EXPECT_TRUE(Import(bytes).ok());
  EXPECT_FALSE(Import("\x80\x04" + std::string(1'000'000, '(')).ok());
  std::string cut = "(lp0\n";
  for (int i = 0; i < 1'000'000; ++i)
    cut += "(l";
  EXPECT_FALSE(Import(cut).ok());
  EXPECT_FALSE(Import(cut + std::string(1'000'000, 'a') + ".").ok());  // no segments
}

TEST(MemorySnapshotPickle, AllocatesNothingByAnAnnouncedSize) {
  const std::string sizes[] = {std::string("\x8d\xff\xff\xff\xff\xff\xff\xff\x7f", 9), "X\xff\xff\xff\xff",
                               "\x8b\xff\xff\xff\x7f", std::string("\x95\xff\xff\xff\xff\xff\xff\xff\xff", 9) + "X"};
  for (const std::string& size : sizes) {
    const Result<Trace> trace = Import("\x80\x04}" + size);
    ASSERT_FALSE(trace.ok());
    EXPECT_THAT(trace.error().message, testing::StartsWith("snapshot.pickle: at byte "));
  }
}

TEST(MemorySnapshotPickle, StopsAtTheMemoryLimit) {
  std::string bytes = "\x80\x04}(" + Text("device_traces") + "](](";
  for (int i = 0; i < 50'000; ++i)
    bytes += "}(" + Text("action") + Text("alloc") + Text("addr") + "K\x07u";
  bytes += "eeu.";
  for (const uint64_t limit : {uint64_t{3} << 20, uint64_t{16} << 20}) {
    const Result<Trace> trace = Import(bytes, {.max_memory = limit});
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_LT(trace.value().instants().size(), 50'000u);
    const auto kinds = trace.value().problems().kind;
    EXPECT_TRUE(std::any_of(kinds.begin(), kinds.end(),
                            [&](StringId kind) { return trace.value().text(kind) == "over_memory_limit"; }));
  }
}

}  // namespace
}  // namespace opscope
