// The two layouts of what `opscope doctor` found, from facts made up here.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/doctor.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>

namespace opscope {
namespace {

MachineFacts AMachine() {
  MachineFacts machine;
  machine.opscope_version = "1.2.3";
  machine.built_with = "gcc 12.2.0";
  machine.recorder_abi = 2;
  machine.clock_is_tsc = true;
  machine.tsc_is_invariant = true;
  machine.ticks_per_second = 2.5e9;
  machine.clock_read_ns = 8.25;
  machine.kernel_clock = "tsc";
  machine.processors = 4;
  machine.memory_bytes = uint64_t{16} << 30;
  machine.memory_limit_bytes = uint64_t{8} << 30;
  machine.locked_memory_bytes = uint64_t{64} << 10;
  machine.open_files = 1024;
  machine.folder = "/job";
  machine.folder_free_bytes = uint64_t{3} << 20;
  machine.folder_is_writable = true;
  machine.perf_event_paranoid = "4";
  machine.nvidia_gpus = 1;
  machine.cupti = "/cuda/libcupti.so.12";
  machine.cupti_version = 28;
  machine.cuda_detail = "CUDA is not recorded: no driver (cuptiActivityEnable: CUPTI_ERROR_NOT_INITIALIZED)";
  return machine;
}

HostFacts AHost() {
  HostFacts host;
  host.is_present = true;
  host.interpreter = "CPython 3.11.7";
  host.executable = "/venv/bin/python";
  host.package = "/venv/opscope";
  host.compiler = "g++ 12.2.0";
  host.compiler_install = "apt-get install g++";
  host.cache_folder = "/home/me/.cache/opscope";
  host.cache_state = "private";
  host.cache_adapters = 1;
  host.cache_bytes = 2048;
  host.frameworks = {{"torch", "2.13.0+cpu", "prebuilt", "/venv/opscope/lib/a.so", "", true}};
  return host;
}

TEST(Doctor, ShowsMachineClockAndAdapter) {
  EXPECT_EQ(FormatDoctor(AMachine(), AHost()),
            "opscope 1.2.3\n"
            "  built with      gcc 12.2.0\n"
            "  recorder        ABI 2\n"
            "  clock           TSC, 8.2 ns a read, 2.500 GHz, invariant; the kernel uses tsc\n"
            "\n"
            "Machine\n"
            "  processors      4\n"
            "  memory          16.00 GiB, limited to 8.00 GiB\n"
            "  locked memory   64.00 KiB\n"
            "  file size       no limit\n"
            "  open files      1024\n"
            "  this folder     3.00 MiB free, writable (/job)\n"
            "  perf events     no hardware counters for this process (perf_event_paranoid 4)\n"
            "  NVIDIA GPUs     1\n"
            "  CUPTI           /cuda/libcupti.so.12, API 28; CUDA is not recorded: no driver (cuptiActivityEnable: "
            "CUPTI_ERROR_NOT_INITIALIZED)\n"
            "\n"
            "Python\n"
            "  python          CPython 3.11.7 (/venv/bin/python)\n"
            "  opscope         /venv/opscope\n"
            "  compiler        g++ 12.2.0\n"
            "  cache           /home/me/.cache/opscope: private, 1 adapter, 2.00 KiB\n"
            "  torch           2.13.0+cpu: can be profiled; prebuilt adapter /venv/opscope/lib/a.so\n"
            "\n"
            "All that was found can be profiled.\n");
}

TEST(Doctor, SaysHowOperatorsAreRecorded) {
  HostFacts host = AHost();
  host.frameworks[0].route = "callbacks: this torch looks different";
  const std::string text = FormatDoctor(AMachine(), host);
  EXPECT_NE(text.find("prebuilt adapter /venv/opscope/lib/a.so; operators by callbacks: this torch looks different\n"),
            std::string::npos)
      << text;
  EXPECT_NE(DoctorJson(AMachine(), host).find("\"route\":\"callbacks: this torch looks different\""),
            std::string::npos);
}

TEST(Doctor, NamesTheLineThatRemovesAnObstacle) {
  HostFacts host = AHost();
  host.compiler.clear();
  host.cache_state = "not there yet";
  host.cache_adapters = 0;
  host.frameworks[0] = {"torch", "2.12.0", "none", "there is no C++ compiler", "apt-get install g++"};
  const std::string text = FormatDoctor(AMachine(), host);
  EXPECT_NE(text.find("  compiler        none; to install one: apt-get install g++\n"
                      "  cache           /home/me/.cache/opscope: not there yet\n"
                      "  torch           2.12.0: cannot be profiled: there is no C++ compiler; to change that: "
                      "apt-get install g++\n"
                      "\nNot all that is installed can be profiled.\n"),
            std::string::npos)
      << text;
}

TEST(Doctor, SaysThatAnAdapterIsStillToBeCompiled) {
  HostFacts host = AHost();
  host.frameworks[0] = {"torch", "2.12.0", "compile", "into /cache", ""};
  EXPECT_TRUE(host.can_profile_everything());
  EXPECT_NE(FormatDoctor(AMachine(), host)
                .find("2.12.0: not tried yet; the adapter is compiled once, at its first use (into /cache)\n"),
            std::string::npos);
}

TEST(Doctor, SaysOfAnAdapterThatNobodyHasTriedThatItWasNotTried) {
  HostFacts host = AHost();
  host.frameworks[0].was_tried = false;
  const std::string text = FormatDoctor(AMachine(), host);
  EXPECT_NE(text.find("2.13.0+cpu: not tried yet; prebuilt adapter /venv/opscope/lib/a.so\n"), std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("\nNothing is known to be in the way; not all of it has been tried yet.\n")) << text;
}

TEST(Doctor, NamesThePartsOfAnAdapterThatWereLeftOut) {
  HostFacts host = AHost();
  host.frameworks[0].left_out = {{"memory", "no such calls"}};
  EXPECT_NE(FormatDoctor(AMachine(), host)
                .find("can be profiled; prebuilt adapter /venv/opscope/lib/a.so\n"
                      "                  without memory: no such calls\n"),
            std::string::npos);
}

HostFacts WithExtras() {
  HostFacts host = AHost();
  host.extras = {{.name = "sql", .purpose = "opscope query", .installed = {{"duckdb", "1.5.0"}}},
                 {.name = "spark",
                  .purpose = "--engine spark",
                  .installed = {{"duckdb", "1.5.0"}},
                  .missing = {"pyspark", "java"},
                  .install = "pip install 'opscope[spark]'"}};
  return host;
}

TEST(Doctor, ListsExtrasAndWhatAMissingOneNeeds) {
  const std::string text = FormatDoctor(AMachine(), WithExtras());
  EXPECT_NE(text.find("\nExtras\n"
                      "  sql             opscope query: duckdb 1.5.0\n"
                      "  spark           --engine spark: without pyspark, java; to install: pip install "
                      "'opscope[spark]'\n"
                      "\nAll that was found can be profiled.\n"),
            std::string::npos)
      << text;
}

TEST(Doctor, KeepsOneLineAFactWhateverItsText) {
  HostFacts host = AHost();
  host.package = "/a\nb\x1b[31m";
  EXPECT_NE(FormatDoctor(AMachine(), host).find("  opscope         /a\\x0ab\\x1b[31m\n"), std::string::npos);
}

TEST(Doctor, SaysThatTheProgramWithoutPythonDidNotLookAtPython) {
  const std::string text = FormatDoctor(AMachine(), HostFacts{});
  EXPECT_NE(text.find("Python\n  python          not looked at: this is the program without Python\n"),
            std::string::npos);
  EXPECT_EQ(text.find("compiler"), std::string::npos);
}

class DoctorDocument : public testing::Test {
 protected:
  simdjson::dom::element Parse(const MachineFacts& machine, const HostFacts& host) {
    json_ = DoctorJson(machine, host);
    simdjson::dom::element document;
    EXPECT_EQ(parser_.parse(json_).get(document), simdjson::SUCCESS) << json_;
    return document;
  }

  simdjson::dom::parser parser_;
  std::string json_;
};

TEST_F(DoctorDocument, HasEveryFactOfThePage) {
  const simdjson::dom::element document = Parse(AMachine(), AHost());
  EXPECT_EQ(document["schema"].get_string().value(), "opscope.doctor/1");
  EXPECT_TRUE(document["can_profile_everything"].get_bool().value());
  EXPECT_EQ(document["opscope"]["recorder_abi"].get_uint64().value(), 2u);
  EXPECT_EQ(document["clock"]["source"].get_string().value(), "tsc");
  EXPECT_EQ(document["clock"]["read_ns"].get_double().value(), 8.25);
  EXPECT_EQ(document["machine"]["memory_limit_bytes"].get_uint64().value(), uint64_t{8} << 30);
  EXPECT_EQ(document["machine"]["perf_counters"].get_bool().value(), false);
  EXPECT_EQ(document["python"]["version"].get_string().value(), "CPython 3.11.7");
  EXPECT_TRUE(document["compiler"]["found"].get_bool().value());
  EXPECT_EQ(document["compiler"]["install"].get_string().value(), "apt-get install g++");
  EXPECT_EQ(document["cache"]["state"].get_string().value(), "private");
  EXPECT_EQ(document["cache"]["bytes"].get_uint64().value(), 2048u);
  const simdjson::dom::element torch = document["frameworks"].at(0);
  EXPECT_EQ(torch["version"].get_string().value(), "2.13.0+cpu");
  EXPECT_EQ(torch["adapter"].get_string().value(), "prebuilt");
  EXPECT_TRUE(torch["can_be_profiled"].get_bool().value());
}

TEST_F(DoctorDocument, HasNullForALimitThatIsNotSet) {
  const simdjson::dom::element document = Parse(AMachine(), AHost());
  EXPECT_TRUE(document["machine"]["file_size_bytes"].is_null());
  EXPECT_EQ(document["machine"]["open_files"].get_uint64().value(), 1024u);
}

TEST_F(DoctorDocument, HasNullWhereThereIsNoPython) {
  const simdjson::dom::element document = Parse(AMachine(), HostFacts{});
  for (const char* key : {"python", "compiler", "cache"})
    EXPECT_TRUE(document[key].is_null()) << key;
  EXPECT_EQ(document["frameworks"].get_array().value().size(), 0u);
}

TEST_F(DoctorDocument, HasNullForWhatWasNotTriedAndThePartsThatAreLeftOut) {
  HostFacts host = AHost();
  host.frameworks[0].was_tried = false;
  host.frameworks[0].left_out = {{"memory", "no such calls"}};
  const simdjson::dom::element torch = Parse(AMachine(), host)["frameworks"].at(0);
  EXPECT_TRUE(torch["can_be_profiled"].is_null());
  EXPECT_EQ(torch["left_out"]["memory"].get_string().value(), "no such calls");
}

TEST_F(DoctorDocument, HasEveryExtra) {
  const simdjson::dom::element extras = Parse(AMachine(), WithExtras())["extras"];
  EXPECT_EQ(extras.get_array().value().size(), 2u);
  EXPECT_TRUE(extras.at(0)["is_installed"].get_bool().value());
  EXPECT_EQ(extras.at(0)["installed"]["duckdb"].get_string().value(), "1.5.0");
  EXPECT_FALSE(extras.at(1)["is_installed"].get_bool().value());
  EXPECT_EQ(extras.at(1)["missing"].at(1).get_string().value(), "java");
  EXPECT_EQ(extras.at(1)["install"].get_string().value(), "pip install 'opscope[spark]'");
}

TEST_F(DoctorDocument, TellsWhatCannotBeProfiled) {
  HostFacts host = AHost();
  host.frameworks.push_back({"other", "1.0", "none", "no adapter \"yet\"", ""});
  const simdjson::dom::element document = Parse(AMachine(), host);
  EXPECT_FALSE(document["can_profile_everything"].get_bool().value());
  EXPECT_FALSE(document["frameworks"].at(1)["can_be_profiled"].get_bool().value());
  EXPECT_EQ(document["frameworks"].at(1)["detail"].get_string().value(), "no adapter \"yet\"");
}

}  // namespace
}  // namespace opscope
