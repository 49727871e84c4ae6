// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/read_text_for_test.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/builder.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// `count` operators of a recording: known scopes, one thread, shapes on every second.
Trace MakeRecording(int count, std::string_view name = "aten::add") {
  TraceBuilder builder;
  builder.info().epoch_ns = 1'700'000'000'000'000'000;
  const ProcessId process = builder.AddProcess({.pid = 12, .name = builder.Intern("python")});
  const TrackId track = builder.AddTrack({.process = process, .tid = 34, .name = builder.Intern("main")});
  const int64_t sizes[] = {2, 4};
  const int64_t strides[] = {4, 1};
  const ArgumentRow rows[] = {
      {.kind = ArgumentKind::kTensor,
       .dtype = builder.Intern("float"),
       .has_strides = true,
       .sizes = sizes,
       .strides = strides},
      {.kind = ArgumentKind::kScalar, .dtype = builder.Intern("Scalar"), .value = builder.Intern("1.5")}};
  const ArgsId args = builder.AddArguments(rows);
  for (int i = 0; i < count; ++i) {
    builder.AddSpan({.start = {1000 * i},
                     .duration = {999},
                     .name = builder.Intern(name),
                     .category = builder.Intern("cpu_op"),
                     .track = track,
                     .scope = ScopeType::kFunction,
                     .sequence = i % 3 == 0 ? i : -1,
                     .args = i % 2 == 0 ? args : ArgsId::kNone});
  }
  return builder.Build();
}

Trace Import(const std::string& text) {
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "export");
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return std::move(trace).value();
}

class ChromeExportFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "opscope_chrome_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST(ChromeExport, SaysTheMachineByItsBootOnlyWhereItsHostIsNotNamed) {
  const auto text_of = [](const char* key) {
    TraceBuilder builder;
    builder.AddMetadata("opscope_boot", "\"0f\"");
    builder.AddMetadata("opscope_wall_clock", "[[1,2,3]]");
    builder.AddMetadata(key, "\"node\"");
    return ChromeTraceText(builder.Build()).value();
  };
  EXPECT_NE(text_of("other").find("\"opscope_boot\": \"0f\",\n  \"opscope_wall_clock\": [[1,2,3]]"), std::string::npos);
  EXPECT_EQ(text_of("host_name").find("opscope_"), std::string::npos) << "torch's file has no such keys";
}

TEST(ChromeExport, LeavesOutTheMetadataThatItIsToldTo) {
  TraceBuilder builder;
  builder.AddMetadata("host_name", "\"node\"");
  builder.AddMetadata("trace_id", "\"0f\"");
  builder.AddMetadata("opscope_boot", "\"0e\"");
  builder.AddMetadata("rank", "3");
  ChromeExportOptions options;
  options.without_metadata = {"trace_id", "host_name"};
  const std::string text = ChromeTraceText(builder.Build(), options).value();
  EXPECT_NE(text.find("\"deviceProperties\": [],\n  \"rank\": 3,\n  \"displayTimeUnit\""), std::string::npos) << text;
}

TEST(ChromeExport, WritesARecordingTheWayKinetoDoes) {
  static constexpr char kExpected[] = R"json({
  "schemaVersion": 1,
  "deviceProperties": [],
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1700000000000000000,
  "traceEvents": [
{"ph":"M","name":"process_name","ts":0.000,"pid":12,"tid":0,"args":{"name":"python"}},
{"ph":"M","name":"process_labels","ts":0.000,"pid":12,"tid":0,"args":{"labels":"CPU"}},
{"ph":"M","name":"process_sort_index","ts":0.000,"pid":12,"tid":0,"args":{"sort_index":12}},
{"ph":"M","name":"thread_name","ts":0.000,"pid":12,"tid":34,"args":{"name":"thread 34 (main)"}},
{"ph":"M","name":"thread_sort_index","ts":0.000,"pid":12,"tid":34,"args":{"sort_index":34}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":12,"tid":34,"args":{"Concrete Inputs": ["", "1.5"], "Input type": ["float", "Scalar"], "Input Strides": [[4, 1], []],"Input Dims": [[2, 4], []],"Record function id": 0, "Ev Idx": 0,"Fwd thread id":0,"Sequence number":0,"External id":1},"ts":0.000,"dur":0.999},
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","args":{"Op count": 0},"ts":0.000,"dur":0.999},
{"ph":"M","name":"process_sort_index","ts":0.000,"pid":"Spans","tid":0,"args":{"sort_index":536870912}},
{"ph":"i","s":"g","name":"Iteration Start: PyTorch Profiler","pid":"Traces","tid":"Trace PyTorch Profiler","ts":0.000},
{"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":1.999}
  ], "traceName": "t.json"}
)json";
  const std::string text = ChromeTraceText(MakeRecording(1), {.trace_name = "t.json"}).value();
  EXPECT_EQ(text, kExpected);
}

TEST(ChromeExport, LeavesOutOtherCategoriesButKeepsTheNumbers) {
  ChromeExportOptions options;
  options.only_categories.emplace();
  const Trace trace = MakeRecording(2);
  EXPECT_EQ(ChromeTraceText(trace, options).value().find("aten::add"), std::string::npos);
  const Trace left = Import(ChromeTraceText(trace, options).value());
  EXPECT_EQ(left.spans().size(), 1u);  // Kineto's own
  options.only_categories->push_back("user_annotation");
  options.only_categories->push_back("cpu_op");
  EXPECT_EQ(ChromeTraceText(trace, options).value(), ChromeTraceText(trace).value());
}

TEST(ChromeExport, OfARecordingIsStableThroughAnImport) {
  // More rows than a block holds, so that several threads take part.
  const std::string first = ChromeTraceText(MakeRecording(20'000)).value();
  EXPECT_EQ(ChromeTraceText(Import(first)).value(), first);
}

TEST(ChromeExport, EndsWithWhatKinetoEndsAFileWithWhateverElseThereIs) {
  const Trace trace = Import(R"json({"traceEvents": [
{"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 9},
{"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces", "tid": "T", "ts": 1},
{"ph": "M", "name": "process_sort_index", "pid": "Spans", "tid": 0, "ts": 1, "args": {"sort_index": 5}},
{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "P", "ts": 1, "dur": 8},
{"ph": "X", "cat": "cpu_op", "name": "op", "pid": "Text", "tid": 1, "ts": 2, "dur": 3},
{"ph": "i", "s": "t", "name": "mark", "pid": 1, "tid": 1, "ts": 20},
{"ph": "C", "name": "counter", "pid": 1, "tid": 1, "ts": 3, "args": {"value": 1}},
{"ph": "b", "cat": "c", "id": 1, "name": "async", "pid": 1, "tid": 1, "ts": 2},
{"ph": "e", "cat": "c", "id": 1, "name": "async", "pid": 1, "tid": 1, "ts": 3}
]})json");
  const std::string text = ChromeTraceText(trace).value();
  size_t at = 0;
  for (const char* part : {"\"op\"", "\"mark\"", "\"counter\"", "\"async\"", "\"PyTorch Profiler (0)\"",
                           "\"process_sort_index\"", "\"Iteration Start: ", "\"Record Window End\""}) {
    const size_t found = text.find(part);
    EXPECT_LT(at, found) << part;
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
  EXPECT_EQ(ChromeTraceText(Import(text)).value(), text);
}

TEST(ChromeExport, KeepsEveryNameThroughAnImport) {
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte)
    all_bytes += static_cast<char>(byte);
  const std::string names[] = {
      all_bytes,          "quote \" back \\ line \n tab \t", "emoji \U0001F600", "\xed\xa0\x80",
      "\xf0\x9f\x98 cut", std::string(100'000, 'x'),         "\\udcff"};
  for (const std::string& name : names) {
    const Trace trace = Import(ChromeTraceText(MakeRecording(1, name)).value());
    EXPECT_EQ(trace.text(trace.spans().name[0]), name);
  }
}

// Bytes that a foreign file may contain.
TEST(ChromeExport, IsJsonWhateverBytesStandForMembers) {
  const std::string_view hostile[] = {R"("a": 1}}, {"ph": "X", "name": "forged)", "no json", "\"a\": \"\x01\"",
                                      "\"a\": 1,", "}"};
  for (const std::string_view bytes : hostile) {
    SCOPED_TRACE(bytes);
    TraceBuilder builder;
    const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 2});
    const StringId extra = builder.Intern(bytes);
    builder.AddSpan({.duration = {5}, .name = builder.Intern("n"), .track = track, .extra = extra});
    builder.AddInstant({.name = builder.Intern("i"), .track = track, .extra = extra});
    builder.AddAsyncSpan({.name = builder.Intern("b"), .track = track, .id = builder.Intern("1"), .extra = extra});
    builder.AddAllocation({.track = track, .address = 1, .bytes = 2});
    builder.AddInstant({.name = builder.Intern("[memory]"),
                        .category = builder.Intern("cpu_instant_event"),
                        .track = track,
                        .extra = extra});
    for (const char* key : {"schemaVersion", "deviceProperties", "other", "displayTimeUnit", "traceName"})
      builder.AddMetadata(key, bytes);
    const std::string text = ChromeTraceText(builder.Build()).value();
    simdjson::dom::parser parser;
    EXPECT_EQ(parser.parse(text).error(), simdjson::SUCCESS) << text;
    const Trace again = Import(text);
    EXPECT_EQ(again.spans().size(), 1u);
    EXPECT_EQ(again.instants().size(), 2u);
    EXPECT_EQ(again.problems().size(), 0u);
    EXPECT_THAT(again.text(again.spans().extra[0]), testing::StartsWith("\"extra\": \"")) << "kept, as a text";
    EXPECT_EQ(ChromeTraceText(again).value(), text);
  }
}

TEST(ChromeExport, WritesASampleOfManySeriesAsOneEvent) {
  constexpr int kSeries = 300'000;
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const StringId name = builder.Intern("c");
  const auto add = [&](int series) {
    builder.AddCounter({.name = name, .series = builder.Intern(std::to_string(series)), .track = track, .value = 1});
  };
  for (int series = 0; series < kSeries; ++series)
    add(series);
  add(0);                                                             // a second sample at the same time
  const std::string text = ChromeTraceText(builder.Build()).value();  // minutes, were it quadratic
  size_t events = 0;
  for (size_t at = text.find("\"ph\":\"C\""); at != text.npos; at = text.find("\"ph\":\"C\"", at + 1))
    ++events;
  EXPECT_EQ(events, 2u);
}

TEST(ChromeExport, EndsAnAsynchronousSpanNoEarlierThanItBegins) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  builder.AddAsyncSpan({.start = {5000},
                        .duration = {INT64_MAX},
                        .name = builder.Intern("a"),
                        .track = track,
                        .id = builder.Intern("1")});
  EXPECT_THAT(ChromeTraceText(builder.Build()).value(), HasSubstr("\"ts\":9223372036854775.807"));
}

TEST(ChromeExport, OfAnEmptyTraceIsJson) {
  const Trace trace = Import(ChromeTraceText(Trace()).value());
  EXPECT_EQ(trace.spans().size(), 0u);
  EXPECT_EQ(trace.problems().size(), 0u);
}

TEST_F(ChromeExportFile, CompressesByItsName) {
  const Trace trace = MakeRecording(20'000);
  const std::string plain = ChromeTraceText(trace, {.trace_name = "t"}).value();
  for (const char* name : {"t.json", "t.json.gz", "t.json.zst"}) {
    const std::string path = folder_ / name;
    ASSERT_TRUE(ExportChromeTrace(trace, path, {.trace_name = "t"}).ok());
    const Result<Trace> again = ImportFile(path);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(ChromeTraceText(again.value(), {.trace_name = "t"}).value(), plain) << name;
  }
  EXPECT_EQ(ReadText(folder_ / "t.json"), plain);
  EXPECT_LT(fs::file_size(folder_ / "t.json.gz"), plain.size() / 5);
}

TEST_F(ChromeExportFile, IsReadByZlibAsOneFile) {
  const Trace trace = MakeRecording(20'000);
  const std::string path = folder_ / "t.json.gz";
  ASSERT_TRUE(ExportChromeTrace(trace, path, {.small_gzip = true, .trace_name = "t"}).ok());
  gzFile file = gzopen(path.c_str(), "rb");
  ASSERT_NE(file, nullptr);
  std::string text(ChromeTraceText(trace, {.trace_name = "t"}).value().size() + 1, '\0');
  text.resize(static_cast<size_t>(gzread(file, text.data(), static_cast<unsigned>(text.size()))));
  gzclose(file);
  EXPECT_EQ(text, ChromeTraceText(trace, {.trace_name = "t"}).value());
}

TEST_F(ChromeExportFile, ThatCannotBeMadeIsAnErrorWithItsPath) {
  const std::string path = folder_ / "missing" / "t.json";
  const Status status = ExportChromeTrace(MakeRecording(1), path);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr(path));
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(ChromeExportFile, OnAFullDeviceIsAnErrorWithItsPath) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const Status status = ExportChromeTrace(MakeRecording(20'000), "/dev/full");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_THAT(status.error().message, HasSubstr("/dev/full"));
  struct stat info = {};
  ASSERT_EQ(stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode)) << "the device was replaced";
}

TEST_F(ChromeExportFile, InAFolderWithoutPermissionLeavesTheOldFile) {
  const fs::path path = folder_ / "t.json";
  std::ofstream(path) << "old";
  fs::permissions(folder_,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  // Root may write everywhere: run this call as another user.
  const bool is_root = geteuid() == 0;
  ASSERT_EQ(is_root ? seteuid(65534) : 0, 0);
  const Status status = ExportChromeTrace(MakeRecording(1), path);
  ASSERT_EQ(is_root ? seteuid(0) : 0, 0);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_EQ(ReadText(path), "old");
  EXPECT_EQ(FileCount(), 1u);
}

TEST(ChromeExport, TellsHowFarItHasCome) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (int i = 0; i < 5000; ++i)
    builder.AddSpan({.start = {i}, .duration = {1}, .name = builder.Intern("op"), .track = track});
  const Trace trace = builder.Build();
  std::vector<size_t> written;
  size_t pieces = 0;
  ChromeExportOptions options;
  options.on_progress = [&](size_t done, size_t total) {
    written.push_back(done);
    pieces = total;
  };
  ASSERT_TRUE(ChromeTraceText(trace, options).ok());
  ASSERT_GT(pieces, 1u);
  ASSERT_EQ(written.size(), pieces);
  for (size_t i = 0; i < pieces; ++i)
    EXPECT_EQ(written[i], i + 1);
}

}  // namespace
}  // namespace opscope
