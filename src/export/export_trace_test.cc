// What holds for every format: names, files, compression, faults, counts of what is left out.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/read_text_for_test.h"
#include "export/export_for_test.h"
#include "opscope/import.h"
#include "trace/random_tables_for_test.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Trace MakeMany() {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (int i = 0; i < 20'000; ++i) {
    builder.AddSpan(
        {.start = {i * 10}, .duration = {i % 10}, .name = builder.Intern("op " + std::to_string(i)), .track = track});
  }
  return builder.Build();
}

std::string Inflated(const std::string& bytes) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 31), Z_OK);
  std::string out;
  std::string piece(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  while (stream.avail_in > 0) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
    if (code == Z_STREAM_END) inflateReset(&stream);
    if (code != Z_OK && code != Z_STREAM_END) {
      ADD_FAILURE() << "inflate says " << code;
      break;
    }
  }
  inflateEnd(&stream);
  return out;
}

class ExportFile : public testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "opscope_export_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  ExportFormat format() const { return *ExportFormatFromName(GetParam()); }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_P(ExportFile, HasTheBytesOfExportToBytes) {
  const Trace trace = MakeMany();
  const ExportOptions options{.compression_from_name = false, .trace_name = "t"};
  const std::string path = folder_ / "t";
  ASSERT_TRUE(ExportTrace(trace, format(), path, options).ok());
  EXPECT_EQ(ReadText(path), ExportAll(trace, format(), options).bytes);
  EXPECT_EQ(FileCount(), 1u);
}

TEST_P(ExportFile, IsCompressedByItsName) {
  const Trace trace = MakeMany();
  const std::string plain = ExportAll(trace, format(), {.trace_name = "t"}).bytes;
  const std::string path = folder_ / "t.gz";
  ASSERT_TRUE(ExportTrace(trace, format(), path, {.trace_name = "t"}).ok());
  if (format() != ExportFormat::kOpscope) {
    EXPECT_LT(fs::file_size(path), plain.size());
  }
  EXPECT_EQ(Inflated(ReadText(path)), plain);
  const Trace empty = TraceBuilder().Build();
  ASSERT_TRUE(ExportTrace(empty, format(), path, {.trace_name = "t"}).ok());
  EXPECT_EQ(Inflated(ReadText(path)), ExportAll(empty, format(), {.trace_name = "t"}).bytes);
  EXPECT_GT(fs::file_size(path), 0u) << "of no bytes, too";
}

TEST_P(ExportFile, InMemoryIsCompressedAsItIsAsked) {
  for (const Trace& trace : {MakeMany(), TraceBuilder().Build()}) {
    const std::string plain = ExportAll(trace, format(), {.trace_name = "t"}).bytes;
    const std::string bytes = ExportAll(trace, format(), {.compression = Compression::kGzip, .trace_name = "t"}).bytes;
    EXPECT_TRUE(bytes.starts_with("\x1f\x8b"));
    EXPECT_EQ(Inflated(bytes), plain);
  }
}

TEST_P(ExportFile, ThatCannotBeMadeIsAnErrorWithItsPath) {
  fs::create_directory(folder_ / "folder");
  for (const fs::path& path : {folder_ / "missing" / "t", folder_ / "folder"}) {
    const Result<Exported> exported = ExportTrace(MakeEverything(), format(), path);
    ASSERT_FALSE(exported.ok());
    EXPECT_THAT(exported.error().message, HasSubstr(path.string()));
    EXPECT_NE(exported.error().system_errno, 0);
  }
  EXPECT_EQ(FileCount(), 1u);
}

TEST_P(ExportFile, OnAFullDeviceIsAnErrorWithItsPath) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const Result<Exported> exported = ExportTrace(MakeMany(), format(), "/dev/full");
  ASSERT_FALSE(exported.ok());
  EXPECT_EQ(exported.error().code, ErrorCode::kIo);
  EXPECT_THAT(exported.error().message, HasSubstr("/dev/full"));
  struct stat info = {};
  ASSERT_EQ(stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode)) << "the device was replaced";
}

TEST_P(ExportFile, ThatFailsLeavesTheOldOne) {
  const fs::path path = folder_ / "t";
  std::ofstream(path) << "old";
  fs::permissions(folder_,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  // Root may write everywhere: run this call as another user.
  const bool is_root = geteuid() == 0;
  ASSERT_EQ(is_root ? seteuid(65534) : 0, 0);
  const Result<Exported> exported = ExportTrace(MakeEverything(), format(), path);
  ASSERT_EQ(is_root ? seteuid(0) : 0, 0);
  fs::permissions(folder_, fs::perms::owner_all);
  ASSERT_FALSE(exported.ok());
  EXPECT_EQ(ReadText(path), "old");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_P(ExportFile, OfRandomTracesIsMadeTwiceTheSame) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trace trace = RandomTables(seed).Make(seed * 10);
    const std::string bytes = ExportAll(trace, format()).bytes;
    EXPECT_FALSE(bytes.empty() && format() != ExportFormat::kCollapsed) << "that alone may have nothing to say";
    EXPECT_FALSE(bytes.starts_with("failed: ")) << bytes;
    EXPECT_EQ(ExportAll(trace, format()).bytes, bytes);
  }
}

TEST_P(ExportFile, OfAnEmptyTraceIsAFile) {
  ASSERT_TRUE(ExportTrace(Trace(), format(), folder_ / "t").ok());
  EXPECT_EQ(fs::file_size(folder_ / "t") == 0, format() == ExportFormat::kCollapsed) << "no stacks, no lines";
}

INSTANTIATE_TEST_SUITE_P(Formats, ExportFile, testing::ValuesIn(ExportFormatNames()), [](const auto& format) {
  std::string name(format.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(ExportTrace, CompressesAsHardAsItIsAsked) {
  const Trace trace = MakeMany();
  const auto bytes_at = [&](int level) {
    ExportOptions options{.compression = Compression::kGzip, .gzip_level = level};
    return ExportToBytes(trace, ExportFormat::kPerfetto, options).value().bytes;
  };
  const std::string stored = bytes_at(0), fast = bytes_at(1), small = bytes_at(9);
  EXPECT_GT(stored.size(), 2 * fast.size());
  EXPECT_GT(fast.size(), small.size());
  EXPECT_EQ(Inflated(stored), Inflated(small));
}

TEST(ExportTrace, KeepsTheCallStacksOfAllocationsInPerfetto) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const StackId stack = builder.AddStack(builder.AddFrame(builder.Intern("train.py(3): load")), StackId::kNone);
  builder.AddAllocation({.track = track, .address = 1, .bytes = 2, .stack = stack});
  EXPECT_THAT(ExportAll(builder.Build(), ExportFormat::kPerfetto).bytes, HasSubstr("train.py(3): load"));
}

TEST(ExportFormat, IsFoundByItsName) {
  for (size_t i = 0; i < ExportFormatNames().size(); ++i)
    EXPECT_EQ(ExportFormatFromName(ExportFormatNames()[i]), static_cast<ExportFormat>(i));
  EXPECT_EQ(ExportFormatFromName("excel"), std::nullopt);
  EXPECT_EQ(ExportFormatFromName("csv"), ExportFormat::kCsv);
}

TEST(ExportTrace, CountsWhatItLeavesOut) {
  const Trace trace = MakeEverything();
  const auto told = [&](ExportFormat format) { return ExportedText(format, ExportAll(trace, format)); };
  EXPECT_EQ(told(ExportFormat::kChrome), "");
  EXPECT_EQ(told(ExportFormat::kOpscope), "");
  EXPECT_EQ(told(ExportFormat::kCsv), "");
  EXPECT_EQ(told(ExportFormat::kPerfetto), "1 spans cross others and are on rows of their own");
  EXPECT_EQ(told(ExportFormat::kSpeedscope),
            "left out, as speedscope has no place for them: 1 asynchronous spans with an id, 1 instants, "
            "1 counter samples, 1 flows; 1 spans cross others and are on rows of their own");
  EXPECT_EQ(told(ExportFormat::kCollapsed),
            "left out, as collapsed has no place for them: 1 spans of devices, 2 asynchronous spans, 1 instants, "
            "1 counter samples, 1 flows");
  EXPECT_EQ(told(ExportFormat::kPprof),
            "left out, as pprof has no place for them: 2 asynchronous spans, 1 instants, 1 counter samples, 1 flows");
  for (const ExportFormat format : {ExportFormat::kPaddleProtobuf, ExportFormat::kPaddleChrome}) {
    const std::string name(ExportFormatNames()[static_cast<size_t>(format)]);
    EXPECT_EQ(told(format), "left out, as " + name +
                                " has no place for them: 1 spans of devices that no call launched, "
                                "1 asynchronous spans with an id, 1 instants, 1 counter samples, 1 flows");
  }
}

Trace MakeNested(int64_t depth) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const StringId name = builder.Intern("recurse");
  for (int64_t i = 0; i < depth; ++i)
    builder.AddSpan({.start = {i}, .duration = {2 * (depth - i)}, .name = name, .track = track});
  return builder.Build();
}

TEST(ExportTrace, CountsTheSamplesThatAreNoFiniteNumberAndSoNotInChrome) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const double value : {1.5, double(NAN), double(INFINITY)})
    builder.AddCounter({.name = builder.Intern("loss"), .track = track, .value = value});
  const Trace trace = builder.Build();
  EXPECT_EQ(ExportedText(ExportFormat::kChrome, ExportAll(trace, ExportFormat::kChrome)),
            "left out, as chrome has no place for them: 2 counter samples that are not finite numbers");
  EXPECT_EQ(ExportedText(ExportFormat::kCsv, ExportAll(trace, ExportFormat::kCsv)), "");
}

TEST(ExportTrace, GrowsWithTheDepthOfARecursionAndNotWithItsSquare) {
  for (const std::string_view name : ExportFormatNames()) {
    const ExportFormat format = *ExportFormatFromName(name);
    const size_t half = ExportAll(MakeNested(4'000), format).bytes.size();
    EXPECT_LT(ExportAll(MakeNested(8'000), format).bytes.size(), half * 5 / 2) << name;
  }
}

TEST(ExportTrace, TellsHowFarItHasCome) {
  for (const ExportFormat format : {ExportFormat::kPerfetto, ExportFormat::kSpeedscope, ExportFormat::kCsv}) {
    std::vector<size_t> written;
    size_t pieces = 0;
    ExportOptions options;
    options.on_progress = [&](size_t done, size_t total) { written.push_back(done), pieces = total; };
    ExportAll(MakeMany(), format, options);
    ASSERT_GT(pieces, 1u);
    ASSERT_EQ(written.size(), pieces);
    EXPECT_EQ(written.back(), pieces);
  }
}

}  // namespace
}  // namespace opscope
