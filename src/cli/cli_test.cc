// The real program, run as users run it: exit codes, where text goes, JSON that parses.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "cli/program_for_test.h"

namespace opscope {
namespace {

constexpr const char kTwoOps[] =
    R"({"traceEvents":[
{"ph":"X","name":"outer","cat":"cpu_op","pid":1,"tid":1,"ts":10,"dur":90},
{"ph":"X","name":"inner","cat":"cpu_op","pid":1,"tid":1,"ts":20,"dur":30.5},
{"ph":"X","name":"inner","cat":"cpu_op","pid":1,"tid":1,"ts":60,"dur":10}]})";

TEST_F(Cli, PrintsHelpAndVersionEverywhere) {
  for (const char* arguments : {"--help", "summary --help", "info -h", "export --help", "convert --help",
                                "merge --help", "doctor --help", "top --help"}) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    EXPECT_NE(outcome.out.find("Usage:"), std::string::npos) << arguments;
    EXPECT_EQ(outcome.error, "") << arguments;
  }
  EXPECT_TRUE(Run("--version").out.starts_with("opscope "));
  EXPECT_EQ(Run("summary --version").out, Run("--version").out);
}

TEST_F(Cli, NamesTheFileThatItCannotRead) {
  fs::create_directory(folder_ / "folder");
  for (const std::string& path : {Path("missing.json"), Path("folder"), Put("empty.json", ""), Put("text.txt", "hello"),
                                  Put("cut.json", "{\"traceEvents\":[{\"ph\":")}) {
    for (const char* verb : {"summary ", "info --json "}) {
      const Outcome outcome = Run(verb + Quoted(path));
      EXPECT_EQ(outcome.exit_code, 1) << path;
      EXPECT_EQ(outcome.out, "") << path;
      EXPECT_TRUE(outcome.error.starts_with("opscope: " + path + ": ")) << outcome.error;
      EXPECT_TRUE(IsOneLine(outcome.error)) << outcome.error;
    }
  }
}

TEST_F(Cli, PrintsAMessageAsOneLineWhateverTheNameOfTheFile) {
  const Outcome outcome = Run("info 'a\nb'");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(outcome.error.starts_with("opscope: a\\x0ab: ")) << outcome.error;
  EXPECT_TRUE(IsOneLine(outcome.error));
}

TEST_F(Cli, AnswersDamagedInputInPartAndListsTheProblem) {
  const std::string whole = kTwoOps;
  const std::string path = Put("damaged.json", whole.substr(0, whole.size() - 40));
  const Outcome outcome = Run("summary --json " + Quoted(path));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(outcome.error.starts_with("opscope: " + path + ": at byte ")) << outcome.error;
  EXPECT_TRUE(IsOneLine(outcome.error)) << outcome.error;
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(outcome.out).get(document), simdjson::SUCCESS) << outcome.out;
  simdjson::dom::element problem = document["problems"].at(0);
  EXPECT_EQ(problem["severity"].get_c_str().value(), std::string("data_loss"));
  EXPECT_GT(problem["first_offset"].get_int64().value(), 0);
  EXPECT_EQ(document["rows"].get_array().value().size(), 2u);
  EXPECT_EQ(Run("summary -q " + Quoted(path)).exit_code, 3);
  EXPECT_EQ(Run("summary -q " + Quoted(path)).error, "");
  const Outcome piped = Run("summary --json - < " + Quoted(path));
  EXPECT_EQ(piped.exit_code, 3);
  EXPECT_TRUE(piped.error.starts_with("opscope: standard input: at byte ")) << piped.error;
}

TEST_F(Cli, DoctorLooksAtThisMachineAndNeedsNoPython) {
  const Outcome page = Run("doctor");
  EXPECT_EQ(page.exit_code, 0) << page.error;
  EXPECT_TRUE(page.out.starts_with("opscope ")) << page.out;
  EXPECT_NE(page.out.find("not looked at: this is the program without Python\n"), std::string::npos) << page.out;
  const Outcome outcome = Run("doctor --json");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error, "");
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(outcome.out).get(document), simdjson::SUCCESS) << outcome.out;
  EXPECT_EQ(document["schema"].get_string().value(), "opscope.doctor/1");
  EXPECT_EQ("opscope " + std::string(document["opscope"]["version"].get_string().value()) + "\n", Run("--version").out);
  EXPECT_GT(document["clock"]["ticks_per_second"].get_double().value(), 1e6);
  EXPECT_GE(document["machine"]["processors"].get_uint64().value(), 1u);
  EXPECT_GT(document["machine"]["memory_bytes"].get_uint64().value(), 0u);
  EXPECT_EQ(document["machine"]["folder"].get_string().value(), fs::canonical(folder_).string());
  EXPECT_TRUE(document["machine"]["folder_is_writable"].get_bool().value());
}

TEST_F(Cli, DoctorFindsTheCuptiBesideTheTorchOfPythonsFolders) {
  const auto found_in = [&](const std::string& folder, const std::string& variable) {
    fs::create_directories(Path(folder));
    Put(folder + "/libcupti.so.12", "");
    const Outcome outcome = Run("--version >/dev/null; unset VIRTUAL_ENV PYTHONPATH LD_LIBRARY_PATH; export " +
                                variable + "; " OPSCOPE_COMMAND " doctor --json");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    return outcome.out.find(folder + "/libcupti.so.12") != std::string::npos;
  };
  EXPECT_TRUE(found_in("env/lib/python3.12/site-packages/nvidia/cuda_cupti/lib", "VIRTUAL_ENV=" + Quoted(Path("env"))));
  EXPECT_TRUE(found_in("given/nvidia/cu13/lib", "PYTHONPATH=/nowhere:" + Quoted(Path("given"))));
  EXPECT_TRUE(found_in("whole/torch/lib", "PYTHONPATH=" + Quoted(Path("whole"))));
}

TEST_F(Cli, DoctorTellsTheLimitsOfItsProcess) {
  const Outcome outcome = Run("--version >/dev/null; ulimit -f 1000; ulimit -n 77; " OPSCOPE_COMMAND " doctor --json");
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(outcome.out).get(document), simdjson::SUCCESS) << outcome.out << outcome.error;
  EXPECT_LE(document["machine"]["file_size_bytes"].get_uint64().value(), 1024000u);
  EXPECT_EQ(document["machine"]["open_files"].get_uint64().value(), 77u);
}

TEST_F(Cli, SummaryJsonHasThePromisedFields) {
  const std::string path = Put("a.json", kTwoOps);
  const Outcome outcome = Run("summary --json " + Quoted(path) + " --sort name --limit 1");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error, "");
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(outcome.out).get(document), simdjson::SUCCESS) << outcome.out;
  EXPECT_EQ(document["schema"].get_c_str().value(), std::string("opscope.summary/1"));
  EXPECT_EQ(document["problems"].get_array().value().size(), 0u);
  ASSERT_EQ(document["rows"].get_array().value().size(), 1u);
  simdjson::dom::element row = document["rows"].at(0);
  EXPECT_EQ(row["name"].get_c_str().value(), std::string("inner"));
  const std::pair<const char*, int64_t> numbers[] = {
      {"count", 2},           {"total_ns", 40500},
      {"self_ns", 40500},     {"min_ns", 10000},
      {"max_ns", 30500},      {"mean_ns", 20250},
      {"device_self_ns", 0},  {"flops", 0},
      {"flops_per_s", 0},     {"total_with_recursion_ns", 40500},
      {"device_total_ns", 0}, {"self_memory_bytes", 0},
  };
  for (const auto& [field, value] : numbers)
    EXPECT_EQ(row[field].get_int64().value(), value) << field;
}

TEST_F(Cli, SummaryCsvHasOneLinePerRow) {
  const Outcome outcome = Run("summary " + Quoted(Put("a.json", kTwoOps)) + " --csv --group-by name,category");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            "name,category,count,total_ns,self_ns,self_share,mean_ns,min_ns,p50_ns,p99_ns,max_ns,stddev_ns,"
            "total_with_recursion_ns,device_total_ns,device_self_ns,self_memory_bytes,flops,flops_per_s,on\r\n"
            "outer,cpu_op,1,90000,49500,0.55,90000,90000,90000,90000,90000,0,90000,0,0,0,0,0,host\r\n"
            "inner,cpu_op,2,40500,40500,0.45,20250,10000,10000,30500,30500,10250,40500,0,0,0,0,0,host\r\n");
}

TEST_F(Cli, SummaryPrintsAnAlignedTable) {
  const std::string path = Quoted(Put("a.json", kTwoOps));
  const std::string expected =
      "Name   Count      Total       Self  Self %       Mean        Min        P50        P99        Max    Std dev\n"
      "outer      1  90.000 us  49.500 us   55.0%  90.000 us  90.000 us  90.000 us  90.000 us  90.000 us       0 ns\n"
      "inner      2  40.500 us  40.500 us   45.0%  20.250 us  10.000 us  10.000 us  30.500 us  30.500 us  10.250 us\n";
  EXPECT_EQ(Run("summary " + path).out, expected);
  EXPECT_EQ(Run("top --sort total " + path).out, expected);
  EXPECT_EQ(Run("summary - <" + path).out, expected);
}

TEST_F(Cli, SummaryInTorchsStyleIsTheOriginalsTable) {
  const std::string trace = Golden("resnet_forward");
  const Outcome outcome = Run("summary --style torch --sort cpu_time_total --limit 10 " + Quoted(trace));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, ReadText(fs::path(trace).parent_path() / "table_0.txt"));
}

TEST_F(Cli, ReadsSeveralFilesAndReportsTheWorst) {
  const std::string path = Quoted(Put("a.json", kTwoOps));
  const Outcome outcome = Run("summary " + path + " nope.json " + path);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.error, "opscope: nope.json: No such file or directory\n");
  const size_t first = outcome.out.find("outer");
  EXPECT_NE(outcome.out.find("outer", first + 1), std::string::npos);
}

TEST_F(Cli, InfoJsonCountsTheFile) {
  const Outcome outcome = Run("info --json " + Quoted(Golden("mlp_steps")));
  EXPECT_EQ(outcome.exit_code, 0);
  simdjson::dom::parser parser;
  simdjson::dom::element info;
  ASSERT_EQ(parser.parse(outcome.out).get(info), simdjson::SUCCESS) << outcome.out;
  EXPECT_EQ(info["schema"].get_c_str().value(), std::string("opscope.info/1"));
  EXPECT_EQ(info["compressed"].get_c_str().value(), std::string("gzip"));
  EXPECT_EQ(info["steps"].get_uint64().value(), 3u);
  EXPECT_GT(info["end_ns"].get_int64().value(), info["start_ns"].get_int64().value());
  EXPECT_GT(std::string(info["epoch_ns"].get_c_str().value()).size(), 15u);
  for (const char* field : {"format", "format_version", "options", "problems"}) {
    EXPECT_EQ(info[field].error(), simdjson::SUCCESS) << field;
  }
  for (const char* field : {"processes", "tracks", "spans", "async_spans", "instants", "counters", "flows",
                            "allocations", "strings", "recorded", "dropped"}) {
    EXPECT_EQ(info[field].get_uint64().error(), simdjson::SUCCESS) << field;
  }
}

TEST_F(Cli, InfoNamesTheParentOfAForkedProcess) {
  const std::string path = Quoted(Put("a.json", R"({"parent_pid":4200,"traceEvents":[]})"));
  EXPECT_NE(Run("info --json " + path).out.find("\"parent_pid\":4200,"), std::string::npos);
  EXPECT_NE(Run("info " + path).out.find("\nChild of         process 4200\n"), std::string::npos);
  const std::string odd = Quoted(Put("b.json", R"({"parent_pid":"me","traceEvents":[]})"));
  EXPECT_EQ(Run("info --json " + odd).out.find("parent_pid"), std::string::npos);
}

TEST_F(Cli, KeepsTheTableThroughEveryFormatItWrites) {
  const std::string trace = Golden("adam_memory");
  const std::string table = Run("summary --style torch " + Quoted(trace)).out;
  ASSERT_FALSE(table.empty());
  const std::pair<const char*, const char*> outputs[] = {
      {"chrome", "a.json"}, {"chrome", "a.json.gz"}, {"chrome", "a.json.zst"}, {"opscope", "a.opscope"}};
  for (const auto& [format, name] : outputs) {
    const Outcome outcome = Run(std::string("export ") + Quoted(trace) + " --to " + format + " -o " + name);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(Run(std::string("summary --style torch ") + name).out, table) << name;
  }
  EXPECT_EQ(Run("convert -o b.opscope " + Quoted(trace)).exit_code, 0);
  EXPECT_EQ(ReadText(Path("b.opscope")), ReadText(Path("a.opscope")));
  Run("export a.opscope --to chrome -o - | " OPSCOPE_COMMAND " summary --style torch -");
  EXPECT_EQ(ReadText(Path("stdout")), table);
}

TEST_F(Cli, TellsWhatAnExportLeavesOut) {
  const std::string path = Quoted(Put("a.json", R"([{"ph":"X","name":"x;y","ts":0,"dur":2,"pid":1,"tid":1},
      {"ph":"i","name":"mark","ts":0,"pid":1,"tid":1,"s":"t"}])"));
  const Outcome outcome = Run("export " + path + " --to speedscope -o a.speedscope");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error, "opscope: a.speedscope: left out, as speedscope has no place for them: 1 instants\n");
  EXPECT_EQ(Run("export -q " + path + " --to speedscope -o b.speedscope").error, "");
  EXPECT_EQ(Run("export -q " + path + " --to collapsed -o -").out, "x:y 2000\n");
  EXPECT_EQ(Run("flame " + path).out, "x:y 2000\n") << "the same stacks";
  EXPECT_EQ(Run("export " + path + " --to csv --table instants -o -").out,
            "time,name,category,track,scope,extra\r\n0,mark,\"\",0,116,\r\n");
  const Outcome wrong = Run("export " + path + " --to csv --table rows -o -");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(wrong.error.starts_with("opscope: there is no table \"rows\"")) << wrong.error;
}

TEST_F(Cli, LeavesNothingWhereItCannotWrite) {
  const std::string path = Quoted(Put("a.json", kTwoOps));
  const Outcome outcome = Run("convert " + path + " -o nowhere/a.opscope");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(outcome.error.starts_with("opscope: nowhere/a.opscope: ")) << outcome.error;
  EXPECT_TRUE(IsOneLine(outcome.error)) << outcome.error;
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
}

TEST_F(Cli, ReportsAFullStandardOutput) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string path = Quoted(Put("a.json", kTwoOps));
  // The redirections of Run come later and would win; a subshell keeps ours.
  const int status =
      std::system((std::string(OPSCOPE_COMMAND " summary ") + path + " >/dev/full 2>" + Quoted(Path("error"))).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(ReadText(Path("error")).starts_with("opscope: standard output: ")) << ReadText(Path("error"));
}

// Runs the program with standard output on a pipe without a reader; returns the wait status.
int RunIntoClosedPipe(const std::string& file, const std::string& error_file, void (*on_sigpipe)(int)) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  close(ends[0]);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, on_sigpipe);
    dup2(ends[1], STDOUT_FILENO);
    dup2(open(error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execl(OPSCOPE_PROGRAM, "opscope", "summary", "--json", file.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(Cli, EndsQuietlyWhenTheReaderIsGone) {
  const std::string path = Put("a.json", kTwoOps);
  const int ignored = RunIntoClosedPipe(path, Path("error"), SIG_IGN);
  EXPECT_TRUE(WIFEXITED(ignored) && WEXITSTATUS(ignored) == 0) << ignored;
  EXPECT_EQ(ReadText(Path("error")), "");
  const int by_signal = RunIntoClosedPipe(path, Path("error"), SIG_DFL);
  EXPECT_TRUE(WIFSIGNALED(by_signal) && WTERMSIG(by_signal) == SIGPIPE) << by_signal;
  EXPECT_EQ(ReadText(Path("error")), "");
}

TEST_F(Cli, RefusesToCorrectWhatSaysNothingOfItsCost) {
  const Outcome outcome = Run("summary --corrected " + Quoted(Golden("mlp_steps")));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(IsOneLine(outcome.error)) << outcome.error;
  EXPECT_EQ(outcome.error, "opscope: " + Golden("mlp_steps") +
                               ": no corrected times: the recording does not say what recording it cost; its format, "
                               "chrome-json, has no place for it\n");
}

TEST_F(Cli, ObeysTheMemoryLimit) {
  const Outcome outcome = Run("info --max-memory 20K " + Quoted(Golden("mlp_steps")));
  EXPECT_TRUE(outcome.exit_code == 3 || outcome.exit_code == 1) << outcome.exit_code;
  EXPECT_TRUE(outcome.error.starts_with("opscope: ")) << outcome.error;
}

TEST_F(Cli, WritesFlameGraphsAndFoldedStacks) {
  Put("two.json", kTwoOps);
  EXPECT_EQ(Run("flame two.json").out, "outer 49500\nouter;inner 40500\n");
  EXPECT_EQ(Run("flame two.json --metric count -o two.folded").exit_code, 0);
  EXPECT_EQ(ReadText(Path("two.folded")), "outer 1\nouter;inner 2\n");
  const Outcome svg = Run("flame two.json -o two.svg --inverted --title 'A run'");
  EXPECT_EQ(svg.exit_code, 0);
  EXPECT_EQ(svg.out + svg.error, "");
  const std::string text = ReadText(Path("two.svg"));
  EXPECT_TRUE(text.starts_with("<?xml"));
  EXPECT_NE(text.find(">A run</text>"), std::string::npos);
  EXPECT_NE(text.find("<title>inner (40.500 us, 45.00%)</title>"), std::string::npos);
}

TEST_F(Cli, WritesFilesThatAreWhatTheirNamesSay) {
  Put("two.json", kTwoOps);
  ASSERT_EQ(Run("flame two.json -o f.svg").exit_code, 0);
  const std::string svg = ReadText(Path("f.svg"));
  ASSERT_TRUE(svg.starts_with("<?xml"));
  EXPECT_EQ(Run("flame two.json -o f.SVG").exit_code, 0);
  EXPECT_EQ(ReadText(Path("f.SVG")), svg);
  EXPECT_EQ(Run("flame two.json -o f.svg.gz").exit_code, 0);
  EXPECT_EQ(std::system(("gzip -dc " + Quoted(Path("f.svg.gz")) + " >" + Quoted(Path("unpacked"))).c_str()), 0);
  EXPECT_EQ(ReadText(Path("unpacked")), svg);
  EXPECT_EQ(Run("convert two.json -o x.gz").exit_code, 0);
  EXPECT_TRUE(ReadText(Path("x.gz")).starts_with("\x1f\x8b"));
  EXPECT_EQ(Run("summary x.gz").out, Run("summary two.json").out);
}

TEST_F(Cli, RefusesFlameGraphsThatCannotBe) {
  Put("two.json", kTwoOps);
  const Outcome missing = Run("flame two.json -o no/such/x.svg");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(IsOneLine(missing.error)) << missing.error;
  EXPECT_NE(missing.error.find("no/such/x.svg"), std::string::npos);
  EXPECT_EQ(Run("flame two.json --metric speed").exit_code, 2);
  EXPECT_EQ(Run("flame").exit_code, 2);
  EXPECT_EQ(Run("flame missing.json -o x.svg").exit_code, 1);
  EXPECT_FALSE(fs::exists(Path("x.svg")));
}

}  // namespace
}  // namespace opscope
