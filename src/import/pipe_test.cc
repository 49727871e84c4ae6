// What comes through a pipe gives the Trace of the same bytes in memory, whatever pieces it comes in, and is not
// gathered where its format can be read as a stream.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "import/text/compress_for_test.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

// Runs feed(descriptor) on a thread of its own and reads what it writes.
template <typename Feed>
Result<Trace> ThroughPipe(const Feed& feed, const ImportOptions& options = {}) {
  signal(SIGPIPE, SIG_IGN);  // the reader may go first
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    feed(ends[1]);
    close(ends[1]);
  });
  Result<Trace> trace = ImportFile("/proc/self/fd/" + std::to_string(ends[0]), options);
  close(ends[0]);
  writer.join();
  return trace;
}

Result<Trace> ThroughPipe(std::string_view bytes, size_t most, unsigned seed, const ImportOptions& options) {
  return ThroughPipe(
      [&](int to) {
        std::mt19937 random(seed);
        for (size_t at = 0; at < bytes.size();) {
          const size_t part = std::min(bytes.size() - at, 1 + random() % most);
          const ssize_t wrote = write(to, bytes.data() + at, part);
          if (wrote < 0) return;
          at += static_cast<size_t>(wrote);
        }
      },
      options);
}

std::string Outcome(const Result<Trace>& trace) {
  if (!trace.ok()) return "error: " + trace.error().message;
  return ToDebugText(trace.value());
}

// One file of every format.
class Pipe : public testing::TestWithParam<const char*> {};

TEST_P(Pipe, GivesWhatTheBytesGive) {
  const fs::path folder = fs::path(OPSCOPE_SOURCE_DIR) / "tests" / "golden" / GetParam();
  ASSERT_TRUE(fs::exists(folder));
  size_t inputs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || !entry.path().filename().string().starts_with("input")) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    const std::string plain = content.str();
    if (plain.empty()) continue;
    ImportOptions options;
    options.name = "input";
    for (const std::string& bytes : {plain, Gzip(plain), plain.substr(0, plain.size() * 2 / 3)}) {
      const std::string want = Outcome(ImportBytes(std::as_bytes(std::span(bytes)), "input", options));
      EXPECT_EQ(Outcome(ThroughPipe(bytes, 3000, static_cast<unsigned>(inputs), options)), want) << entry.path();
    }
    ++inputs;
  }
  EXPECT_GT(inputs, 0u);
}

INSTANTIATE_TEST_SUITE_P(Of, Pipe,
                         testing::Values("chrome_json", "collapsed_stacks", "megengine_graph", "opscope",
                                         "paddle_protobuf", "torch_execution_trace", "torch_memory_snapshot",
                                         "torch_memory_snapshot_pickle", "torch_memory_timeline", "xplane"),
                         [](const auto& format) { return std::string(format.param); });

std::string Events(size_t count, size_t blanks) {
  std::string text = "{\"traceEvents\": [";
  for (size_t i = 0; i < count; ++i) {
    text.append(i == 0 ? "" : ",").append(blanks, ' ');
    text += R"({"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": )" + std::to_string(i) + R"(, "dur": 1})";
  }
  return text + "]}";
}

TEST(Pipes, AreNotGatheredWhereTheFormatIsAStream) {
  const std::string text = Events(10'000, 4'000);  // 40 MB
  std::vector<std::pair<uint64_t, uint64_t>> told;
  ImportOptions options{.max_memory = 16 << 20};
  options.on_progress = [&](uint64_t read, uint64_t total) { told.emplace_back(read, total); };
  const Result<Trace> trace = ThroughPipe(text, 1 << 16, 1, options);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().size(), 10'000u);
  EXPECT_FALSE(trace.value().is_partial());
  ASSERT_GT(told.size(), 2u);
  EXPECT_EQ(told.back(), std::pair(uint64_t{text.size()}, uint64_t{text.size()}));
  told.pop_back();
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_TRUE(std::ranges::all_of(told, [](const auto& of) { return of.second == 0; }))
      << "nobody knows before the end";
}

// The writer goes on for a gigabyte; how much of it was taken.
size_t FeedForLong(int to, const std::string& begin, const std::string& then) {
  size_t written = 0;
  if (write(to, begin.data(), begin.size()) < 0) return 0;
  for (; written < (size_t{1} << 30); written += then.size()) {
    if (write(to, then.data(), then.size()) < 0) break;
  }
  return written;
}

TEST(Pipes, EndAtTheLimitWhereTheFormatIsBinary) {
  // A plane of XLA and a line of 2^32 bytes, full of empty events.
  const std::string begin = "\n\xff\xff\xff\xff\x0f\x12\x05/host\x1a\xf0\xff\xff\xff\x0f";
  std::string events;
  while (events.size() < (1 << 16))
    events.append("\x22\x00", 2);
  size_t written = 0;
  const Result<Trace> trace =
      ThroughPipe([&](int to) { written = FeedForLong(to, begin, events); }, {.max_memory = 8 << 20});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_TRUE(trace.value().is_partial());
  EXPECT_LT(written, size_t{32} << 20);
}

TEST(Pipes, AreReadForAsLongAsTheirRowsHaveRoom) {
  std::string lines;
  while (lines.size() < (1 << 16))
    lines += "main;work;" + std::string(1'000, 'f') + " 1\n";
  size_t written = 0;
  const Result<Trace> trace =
      ThroughPipe([&](int to) { written = FeedForLong(to, "", lines); }, {.max_memory = 8 << 20});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_FALSE(trace.value().is_partial());
  EXPECT_GE(written, size_t{1} << 30);
}

TEST(Pipes, AreNotGatheredWhereTheyAreCompressed) {
  std::mt19937 random(7);
  std::string text;
  for (int i = 0; i < 4'000; ++i) {
    text += "main;work 1\n# ";
    for (int j = 0; j < 10'000; ++j)
      text += static_cast<char>('0' + random() % 64);  // does not get much shorter
    text += '\n';
  }
  for (const auto compress : {Gzip, Zstd}) {
    const std::string bytes = compress(text);
    ASSERT_GT(bytes.size(), size_t{24} << 20);
    const Result<Trace> trace = ThroughPipe(bytes, 1 << 16, 1, {.max_memory = 12 << 20});
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_FALSE(trace.value().is_partial());
    EXPECT_EQ(trace.value().info().recorded, 4'000u);
  }
}

TEST(Pipes, AreNoDamageWhereTheLimitEndsThem) {
  std::mt19937 random(3);
  std::string text = Events(1, 0);
  text.pop_back();
  text.back() = ' ';  // no "]}"
  while (text.size() < 8'000'000)
    text += ",{\"ph\":\"i\",\"name\":\"n\",\"ts\":" + std::to_string(random()) + "}";
  const std::string bytes = Gzip(text + "]}");
  const Result<Trace> trace = ThroughPipe(bytes, 1 << 16, 1, {.max_memory = bytes.size() / 2});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  size_t limits = 0;
  const ProblemColumns& problems = trace.value().problems();
  for (size_t row = 0; row < problems.size(); ++row) {
    if (trace.value().text(problems.kind[row]) == "over_memory_limit") limits += problems.count[row];
    EXPECT_EQ(trace.value().text(problems.message[row]).find("damaged"), std::string::npos);
  }
  EXPECT_EQ(limits, 1u);
}

TEST(Pipes, AreRefusedByTheirFirstBytes) {
  size_t written = 0;
  const std::string zeros(1 << 16, '\0');
  const Result<Trace> trace = ThroughPipe([&](int to) {
    while (write(to, zeros.data(), zeros.size()) > 0)
      written += zeros.size();  // without an end
  });
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupported);
  EXPECT_LT(written, size_t{8} << 20);
}

TEST(Pipes, SayWhatTheSystemSays) {
  const Result<Trace> trace = ImportFile("/proc/self/mem", {.name = "memory"});  // nothing is mapped at 0
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, ErrorCode::kIo);
  EXPECT_EQ(trace.error().message, "/proc/self/mem: Input/output error");
}

}  // namespace
}  // namespace opscope
