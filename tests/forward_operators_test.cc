// torch draws an arrow from each forward operator to its backward function, and writes it into its traces. In every
// trace of torch's that is at hand, the rule of opscope must find the operator that the arrow leaves.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/forward_operators.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

struct Arrows {
  size_t right = 0;
  std::vector<std::string> wrong;
};

Arrows CompareWithArrows(const Trace& trace) {
  Arrows arrows;
  const std::vector<SpanId> forward = FindForwardOperators(trace);
  const std::optional<StringId> fwdbwd = trace.FindString("fwdbwd");
  const FlowColumns& flows = trace.flows();
  const SpanColumns& spans = trace.spans();
  for (size_t i = 0; fwdbwd && i < flows.size(); ++i) {
    if (flows.category[i] != *fwdbwd || flows.end_span[i] == SpanId::kNone) continue;
    const uint32_t end = Row(flows.end_span[i]);
    if (spans.forward_thread[end] == 0) continue;  // the event that the arrow means is not in the file
    if (forward[end] == flows.start_span[i]) {
      ++arrows.right;
    } else {
      arrows.wrong.push_back("arrow " + std::to_string(flows.id[i]) + " to " +
                             std::string(trace.text(spans.name[end])));
    }
  }
  return arrows;
}

TEST(ForwardOperators, AreThoseOfTheArrowsInEveryTraceOfTorchs) {
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/kineto";
  if (!fs::exists(samples)) GTEST_SKIP() << "no ../shared/samples here";
  size_t right = 0;
  for (const auto& file : fs::directory_iterator(samples)) {
    const Result<Trace> trace = ImportFile(file.path().string());
    ASSERT_TRUE(trace.ok()) << file.path();
    const Arrows arrows = CompareWithArrows(trace.value());
    EXPECT_EQ(arrows.wrong, std::vector<std::string>{}) << file.path();
    right += arrows.right;
  }
  EXPECT_GT(right, 100u);
}

TEST(ForwardOperators, AreThoseOfTheArrowsInEveryGoldenInput) {
  size_t right = 0;
  for (const auto& file : fs::recursive_directory_iterator(OPSCOPE_GOLDEN_DIR)) {
    if (!file.is_regular_file() || file.path().stem() != "input") continue;
    const Result<Trace> trace = ImportFile(file.path().string());
    if (!trace.ok()) continue;
    const Arrows arrows = CompareWithArrows(trace.value());
    EXPECT_EQ(arrows.wrong, std::vector<std::string>{}) << file.path();
    right += arrows.right;
  }
  EXPECT_GT(right, 0u);
}

}  // namespace
}  // namespace opscope
