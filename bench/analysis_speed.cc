// Each analysis of a trace in memory beside one pass that sums start, duration and name of all spans, in turns:
//   analysis_speed FILE [REPETITIONS]     prints a JSON object of seconds by analysis, minima and medians
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "opscope/analysis/advise.h"
#include "opscope/analysis/critical_path.h"
#include "opscope/analysis/devices.h"
#include "opscope/analysis/memory_usage.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/roofline.h"
#include "opscope/analysis/steps.h"
#include "opscope/import.h"

namespace {

using opscope::Trace;

int64_t SumColumns(const Trace& trace) {
  const opscope::SpanColumns& spans = trace.spans();
  uint64_t sum = 0;
  for (size_t i = 0; i < spans.size(); ++i)
    sum += static_cast<uint64_t>(spans.start[i].ns) + static_cast<uint64_t>(spans.duration[i].ns) +
           static_cast<uint32_t>(spans.name[i]);
  return static_cast<int64_t>(sum);
}

// A number of each result, so that no compiler leaves the work out.
using Analysis = std::pair<const char*, std::function<int64_t(const Trace&)>>;

const std::vector<Analysis> kAnalyses = {
    {"pass", &SumColumns},
    {"summary", [](const Trace& t) { return opscope::SummarizeOps(t, {.max_threads = 1}).rows.size(); }},
    {"steps", [](const Trace& t) { return opscope::MeasureSteps(t).rows.size(); }},
    {"devices", [](const Trace& t) { return opscope::MeasureDevices(t).size(); }},
    {"memory", [](const Trace& t) { return opscope::MeasureMemoryUsage(t).rows.size(); }},
    {"critical_path", [](const Trace& t) { return opscope::FindCriticalPaths(t, {.rows = false}).paths.size(); }},
    {"advise", [](const Trace& t) { return opscope::Advise(t).findings.size(); }},
    {"roofline", [](const Trace& t) { return opscope::MeasureRoofline(t).rows.size(); }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: analysis_speed FILE [REPETITIONS]\n");
    return 2;
  }
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  opscope::Result<Trace> imported = opscope::ImportFile(argv[1]);
  if (!imported.ok()) {
    std::fprintf(stderr, "%s\n", imported.error().message.c_str());
    return 1;
  }
  const Trace trace = std::move(imported).value();
  std::vector<std::vector<double>> seconds(kAnalyses.size());
  int64_t results = 0;
  for (int i = 0; i < repetitions; ++i) {
    for (size_t a = 0; a < kAnalyses.size(); ++a) {
      const auto begin = std::chrono::steady_clock::now();
      results ^= kAnalyses[a].second(trace);
      seconds[a].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
  }
  std::printf("{\"spans\": %zu, \"results\": %lld", trace.spans().size(), static_cast<long long>(results));
  for (size_t a = 0; a < kAnalyses.size(); ++a) {
    std::sort(seconds[a].begin(), seconds[a].end());
    std::printf(", \"%s\": {\"min\": %.9g, \"median\": %.9g}", kAnalyses[a].first, seconds[a].front(),
                seconds[a][seconds[a].size() / 2]);
  }
  std::printf("}\n");
  return 0;
}
