// For tests: a merge that must succeed, what it says, and how far its times are from the truth.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "merge/synthetic_job_for_test.h"
#include "opscope/merge.h"

namespace opscope {

inline std::map<std::string, std::string> ProblemsOf(const Trace& trace) {
  std::map<std::string, std::string> problems;
  for (size_t i = 0; i < trace.problems().size(); ++i)
    problems[std::string(trace.text(trace.problems().kind[i]))] = trace.text(trace.problems().message[i]);
  return problems;
}

inline std::string ProblemText(const Trace& trace) {
  std::string text;
  for (const auto& [kind, message] : ProblemsOf(trace))
    text += kind + ": " + message + "\n";
  return text;
}

// How far the markers of all ranks are from where the reference's clock would have put them; 99 of 100 are nearer.
inline int64_t ResidualP99(const Merged& merged, const SyntheticJob& job) {
  int32_t reference = -1;
  for (const MergedInput& input : merged.inputs) {
    if (input.clock == ClockSource::kReference) reference = input.rank;
  }
  const SpanColumns& spans = merged.trace.spans();
  std::vector<int64_t> residuals;
  for (size_t row = 0; row < spans.size(); ++row) {
    if (merged.trace.text(spans.name[row]) != "marker") continue;
    const int64_t truth = job.clock(reference).Read(job.step_start(static_cast<int>(spans.sequence[row])));
    residuals.push_back(std::llabs(spans.start[row].ns - truth));
  }
  EXPECT_FALSE(residuals.empty());
  if (residuals.empty()) return INT64_MAX;
  std::sort(residuals.begin(), residuals.end());
  return residuals[residuals.size() * 99 / 100];
}

inline Merged MergeAll(std::vector<MergeInput> inputs, const MergeOptions& options = {}) {
  Result<Merged> merged = MergeTraces(std::move(inputs), options);
  EXPECT_TRUE(merged.ok()) << merged.error().message;
  return std::move(merged).value();
}

inline constexpr int64_t kAllowedNs = 50'000;

}  // namespace opscope
