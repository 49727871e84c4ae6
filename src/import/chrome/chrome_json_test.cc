// What golden cases cannot say: limits, samples of real GPU programs.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <string>

#include "opscope/export.h"
#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

TEST(ChromeJson, StopsAtTheMemoryLimit) {
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i)
    text += "{\"ph\": \"X\", \"name\": \"n\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1},";
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "big", {.max_memory = 500'000});
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(trace.value().is_partial());
  EXPECT_EQ(trace.value().text(trace.value().problems().kind[0]), "over_memory_limit");
  EXPECT_GT(trace.value().spans().size(), 0u);
  EXPECT_LT(trace.value().spans().size(), 20'000u);
}

TEST(ChromeJson, ReadsRealGpuTracesAndExportsThemStably) {
  const fs::path samples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/kineto";
  if (!fs::exists(samples)) GTEST_SKIP() << "no samples beside the checkout";
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(samples)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("cuda_") && !name.starts_with("rocm_")) continue;
    const Result<Trace> trace = ImportFile(entry.path().string());
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_FALSE(trace.value().is_partial()) << name;
    const std::string text = ChromeTraceText(trace.value()).value();
    simdjson::dom::parser parser;
    EXPECT_EQ(parser.parse(text).error(), simdjson::SUCCESS) << name;
    const Result<Trace> again = ImportBytes(std::as_bytes(std::span(text)), name);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again.value().spans().size(), trace.value().spans().size()) << name;
    EXPECT_TRUE(ChromeTraceText(again.value()).value() == text) << name;
    for (size_t size = 1; size < text.size(); size += 99'700) {
      const Result<Trace> cut = ImportBytes(std::as_bytes(std::span(text).first(size)), "cut");
      if (cut.ok()) {
        EXPECT_TRUE(cut.value().is_partial()) << name << " cut at " << size;
      } else {
        EXPECT_EQ(cut.error().code, ErrorCode::kMalformed);
      }
    }
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace opscope
