// Import of one file beside simdjson's DOM parse of the same bytes, in one process and in turns:
//   import_speed FILE [REPETITIONS] [THREADS]     prints a JSON object of seconds, minima and medians
//   import_speed --only FILE [THREADS]            one import: seconds, bytes of peak memory per slice
//   import_speed --summary FILE [THREADS]         one import and the summary of operators
//   import_speed --where FILE [THREADS]           the same of the spans that a condition chooses
//   import_speed --diff FILE REPETITIONS          imports the file, and compares it with itself as with another run
//   import_speed --out FILE FOLDER                one import, then the export as Chrome JSON and as .opscope
// The DOM takes plain JSON up to 4 GB; of other files only the import is measured.
// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/diff.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/export.h"
#include "opscope/import.h"

namespace {

struct Seconds {
  double wall, cpu;
};

double CpuNow() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Work>
Seconds Measure(const Work& work) {
  const auto wall = std::chrono::steady_clock::now();
  const double cpu = CpuNow();
  work();
  const double cpu_spent = CpuNow() - cpu;
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count(), cpu_spent};
}

double Median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

void Print(const char* name, const std::vector<Seconds>& runs, bool last) {
  std::vector<double> wall, cpu;
  for (const Seconds& run : runs) {
    wall.push_back(run.wall);
    cpu.push_back(run.cpu);
  }
  std::printf("\"%s\": {\"wall\": {\"min\": %.6f, \"median\": %.6f}, \"cpu\": {\"min\": %.6f, \"median\": %.6f}}%s",
              name, *std::min_element(wall.begin(), wall.end()), Median(wall),
              *std::min_element(cpu.begin(), cpu.end()), Median(cpu), last ? "}\n" : ", ");
}

long StatusField(const char* field) {  // KiB
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char line[256];
  long value = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::string_view(line).starts_with(field))
      value = std::strtol(line + std::string_view(field).size() + 1, nullptr, 10);
  }
  std::fclose(file);
  return value;
}

opscope::Trace Import(const std::string& path, uint32_t threads) {
  opscope::ImportOptions options;
  options.max_threads = threads;
  opscope::Result<opscope::Trace> trace = opscope::ImportFile(path, options);
  if (!trace.ok()) {
    std::fprintf(stderr, "import_speed: %s\n", trace.error().message.c_str());
    std::_Exit(1);
  }
  return std::move(trace).value();
}

size_t CountNames(const opscope::Trace& trace, std::string_view mode, uint32_t threads) {
  opscope::OpSummaryOptions options;
  options.max_threads = threads;
  std::vector<uint8_t> selected;
  if (mode == "--only") return 0;
  if (mode == "--where") {
    const auto filter = opscope::SpanFilter::Parse("category = cpu_op and duration > 1us");
    if (!filter.ok()) return 0;
    selected = filter.value().Select(trace, threads);
    options.selected = &selected;
  }
  return opscope::SummarizeOps(trace, options).rows.size();
}

int Once(std::string_view mode, const std::string& path, uint32_t threads) {
  const long before = StatusField("VmHWM");
  size_t slices = 0, names = 0;
  const Seconds time = Measure([&] {
    const opscope::Trace trace = Import(path, threads);
    slices = trace.spans().size();
    names = CountNames(trace, mode, threads);
  });
  const long peak = StatusField("VmHWM");
  std::printf(
      "{\"slices\": %zu, \"names\": %zu, \"wall\": %.6f, \"cpu\": %.6f, \"peak_bytes\": %ld, \"bytes_per_slice\": "
      "%.1f}\n",
      slices, names, time.wall, time.cpu, peak * 1024,
      static_cast<double>(peak - before) * 1024 / static_cast<double>(std::max<size_t>(slices, 1)));
  return 0;
}

int Diff(const std::string& path, int repetitions) {
  std::vector<Seconds> imports, diffs;
  size_t slices = 0, rows = 0;
  for (int i = 0; i < repetitions; ++i) {
    opscope::Trace trace;
    imports.push_back(Measure([&] { trace = Import(path, 1); }));
    slices = trace.spans().size();
    diffs.push_back(Measure([&] { rows = opscope::DiffTraces(trace, trace, {.max_threads = 1}).rows.size(); }));
  }
  std::printf("{\"slices\": %zu, \"rows\": %zu, ", slices, rows);
  Print("import", imports, false);
  Print("diff", diffs, true);
  return 0;
}

int Out(const std::string& path, const std::string& folder) {
  std::vector<Seconds> in, chrome, own;
  opscope::Trace trace;
  in.push_back(Measure([&] { trace = Import(path, 1); }));
  bool ok = true;
  chrome.push_back(Measure([&] { ok &= opscope::ExportChromeTrace(trace, folder + "/out.json").ok(); }));
  own.push_back(Measure([&] { ok &= opscope::ExportOpscope(trace, folder + "/out.opscope").ok(); }));
  std::printf("{\"slices\": %zu, ", trace.spans().size());
  Print("import", in, false);
  Print("chrome", chrome, false);
  Print("opscope", own, true);
  return ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::fprintf(
        stderr,
        "usage: import_speed FILE [REPETITIONS] [THREADS] | --only FILE [THREADS] | --summary FILE [THREADS]\n");
    return 2;
  }
  const auto number = [&](size_t at, int otherwise) {
    return arguments.size() > at ? std::atoi(arguments[at].c_str()) : otherwise;
  };
  if (arguments[0] == "--diff") return Diff(arguments.at(1), number(2, 3));
  if (arguments[0] == "--out") return Out(arguments.at(1), arguments.at(2));
  if (arguments[0].starts_with("--")) return Once(arguments[0], arguments.at(1), static_cast<uint32_t>(number(2, 1)));
  const int repetitions = number(1, 3);
  const auto threads = static_cast<uint32_t>(number(2, 1));
  std::vector<Seconds> imports, doms;
  size_t slices = 0, bytes = 0;
  for (int i = 0; i < repetitions; ++i) {
    imports.push_back(Measure([&] { slices = Import(arguments[0], threads).spans().size(); }));
    simdjson::padded_string text;
    if (simdjson::padded_string::load(arguments[0]).get(text) != simdjson::SUCCESS) continue;
    bytes = text.size();
    simdjson::dom::parser parser;
    bool parsed = false;
    const Seconds time = Measure([&] { parsed = parser.parse(text).error() == simdjson::SUCCESS; });
    if (parsed) doms.push_back(time);
  }
  std::printf("{\"slices\": %zu, \"bytes\": %zu, ", slices, bytes);
  Print("import", imports, doms.empty());
  if (!doms.empty()) Print("dom", doms, true);
  return 0;
}
