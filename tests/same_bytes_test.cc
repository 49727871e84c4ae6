// The same bytes in give the same bytes out: answers, pages and exports of the command line do not depend on the
// language, the time zone, the number of processors, the order of files, or on the C++ locale of the program around.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <locale>
#include <string>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

// Inputs that give a trace, of every format, at least twenty.
std::vector<std::string> FindInputs() {
  std::vector<std::string> inputs;
  for (const auto& format : fs::directory_iterator(OPSCOPE_GOLDEN_DIR)) {
    std::vector<std::string> of_format;
    for (const auto& folder : fs::directory_iterator(format.path())) {
      if (!fs::exists(folder.path() / "expected.txt")) continue;
      for (const auto& file : fs::directory_iterator(folder.path()))
        if (file.path().stem() == "input") of_format.push_back(file.path().string());
    }
    std::sort(of_format.begin(), of_format.end());
    of_format.resize(std::min<size_t>(of_format.size(), 2));
    inputs.insert(inputs.end(), of_format.begin(), of_format.end());
  }
  return inputs;
}

// Recordings of programs that used a GPU: they have steps, streams, launches and allocations.
std::vector<std::string> FindRecordings() {
  std::vector<std::string> recordings;
  for (const auto& file : fs::directory_iterator(OPSCOPE_RECORDINGS_DIR))
    if (file.path().extension() == ".opscope") recordings.push_back(file.path().string());
  std::sort(recordings.begin(), recordings.end());
  return recordings;
}

const std::vector<std::string> kAnalyses = {
    "steps --json",         "devices --json", "memory",
    "critical-path --json", "advise --json",  "roofline --csv",
    "modules --json",       "flame",          "check --json --max op_self_ns:aten::mm=1e9 --max spans=1e9",
    "report -o -",
};

// For a shell, whatever the paths.
std::string CommandOf(const std::string& verb, const std::string& input) {
  return "'" OPSCOPE_PROGRAM "' " + verb + " '" + input + "'";
}

std::string OutputOf(const std::string& command) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 65536> buffer;
  for (size_t size = 0; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), size);
  const int status = WEXITSTATUS(pclose(pipe));
  EXPECT_TRUE(status == 0 || status == 1 || status == 3) << command << ": " << output;  // else it did not run
  return output + "status " + std::to_string(status);
}

TEST(SameBytes, DoNotDependOnTheEnvironment) {
  const std::vector<std::string> inputs = FindInputs();
  ASSERT_GE(inputs.size(), 20u);
  const std::string environments[] = {"LANG=C TZ=UTC", "LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 TZ=Asia/Kathmandu",
                                      "LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 TZ=America/St_Johns COLUMNS=300"};
  const auto expect_equal = [&](const std::string& command) {
    const std::string expected = OutputOf("env " + environments[0] + " " + command);
    EXPECT_GT(expected.size(), 20u) << command;
    if (command.find(OPSCOPE_RECORDINGS_DIR) != std::string::npos) {
      EXPECT_TRUE(expected.ends_with("status 0")) << command << ": " << expected.substr(0, 300);
    }
    for (size_t i = 1; i < std::size(environments); ++i)
      EXPECT_EQ(OutputOf("env " + environments[i] + " " + command), expected) << environments[i] << " " << command;
  };
  for (const std::string& input : inputs) {
    for (const std::string verb : {"summary", "summary --json", "info --json", "export --to chrome -o -"})
      expect_equal(CommandOf(verb, input));
  }
  const std::vector<std::string> recordings = FindRecordings();
  ASSERT_GE(recordings.size(), 5u);
  for (const std::string& recording : recordings) {
    for (const std::string& verb : kAnalyses)
      expect_equal(CommandOf(verb, recording));
    expect_equal(CommandOf("diff --json", recording) + " '" + recordings[0] + "'");
  }
}

std::string RankTrace(int rank) {
  std::string events;
  for (int step = 0; step < 3; ++step) {
    const std::string ts = R"("ts":)" + std::to_string(1000 * step + 10 * rank);
    const std::string dur = R"("dur":)" + std::to_string(500 + 100 * rank);
    const std::string thread = R"("tid":1,"pid":)" + std::to_string(10 + rank);
    events += R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + std::to_string(step) + "\"," + ts +
              R"(,"dur":900,)" + thread + R"(},{"ph":"X","cat":"cpu_op","name":"aten::mm",)" + ts + "," + dur + "," +
              thread + R"(},{"ph":"X","cat":"kernel","name":"gemm",)" + ts + "," + dur +
              R"(,"pid":0,"tid":7,"args":{"device":0,"stream":7}},{"ph":"i","s":"t","name":"[memory]",)" + ts + "," +
              thread + R"(,"args":{"Device Type":1,"Device Id":0,"Addr":64,"Bytes":512,"Total Allocated":512}},)";
  }
  events.back() = ']';
  return R"({"schemaVersion":1,"distributedInfo":{"rank":)" + std::to_string(rank) +
         R"(,"world_size":2},"traceEvents":[)" + events + "}";
}

TEST(SameBytes, DoNotDependOnTheOrderOfTheFiles) {
  std::string paths[2];
  for (int rank = 0; rank < 2; ++rank) {
    paths[rank] = testing::TempDir() + "/same_bytes_rank" + std::to_string(rank) + ".json";
    std::ofstream(paths[rank]) << RankTrace(rank);
  }
  for (const std::string verb : {"steps --json", "devices --json", "memory --json", "critical-path --json",
                                 "advise --json", "check --json --max spans=1e9", "merge -o -"}) {
    const std::string command = CommandOf(verb, paths[0]) + " -q '" + paths[1] + "'";  // messages would name the files
    const std::string turned = CommandOf(verb, paths[1]) + " -q '" + paths[0] + "'";
    const std::string expected = OutputOf(command);
    EXPECT_TRUE(expected.ends_with("status 0")) << command << ": " << expected.substr(0, 300);
    EXPECT_EQ(OutputOf(turned), expected) << verb;
  }
}

TEST(SameBytes, DoNotDependOnTheNumberOfProcessors) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  std::vector<std::string> commands;
  for (const std::string& input : FindInputs())
    commands.push_back(CommandOf("summary --json", input));
  for (const std::string& recording : FindRecordings()) {
    for (const std::string& verb : kAnalyses)
      commands.push_back(CommandOf(verb, recording));
  }
  for (const std::string& command : commands) {
    const std::string expected = OutputOf(command);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const std::string alone = OutputOf(command);
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(alone, expected) << command;
  }
}

// A program may set the locale of its streams: numbers with dots for thousands and a comma.
class German : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

std::string EverythingOf(const std::string& input) {
  const Result<Trace> trace = ImportFile(input);
  if (!trace.ok()) return trace.error().message;
  std::string text =
      ToDebugText(trace.value()) + ChromeTraceText(trace.value()).value() + OpscopeBytes(trace.value()).value();
  for (const OpSummaryRow& row : SummarizeOps(trace.value()).rows)
    text += std::string(trace.value().text(row.name)) + " " + std::to_string(row.self_ns) + "\n";
  return text;
}

TEST(SameBytes, DoNotDependOnTheLocaleOfTheProgram) {
  for (const std::string& input : FindInputs()) {
    const std::string expected = EverythingOf(input);
    const std::locale before = std::locale::global(std::locale(std::locale(), new German));
    const std::string german = EverythingOf(input);
    std::locale::global(before);
    EXPECT_EQ(german, expected) << input;
  }
}

}  // namespace
}  // namespace opscope
