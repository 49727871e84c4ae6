// MegEngine's Chrome traces against what MegEngine did.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "import/chrome/dialect.h"
#include "import/megengine/importer.h"
#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

const fs::path kMegEngineSamples = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/megengine";

// Measured on the wheel that wrote the sample: one training step of LeNet runs 115 operators.
TEST(MegEngineChrome, HasEveryOperatorOfAMegEngineStep) {
  if (!fs::exists(kMegEngineSamples)) GTEST_SKIP() << kMegEngineSamples << " is not there";
  const Result<Trace> trace = ImportFile((kMegEngineSamples / "lenet.chrome_timeline.json.gz").string());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().info().format, "megengine-json");
  EXPECT_EQ(trace.value().info().epoch_ns, 1795216449185312847);
  const SpanColumns& spans = trace.value().spans();
  int64_t kernels = 0, dispatches = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    kernels += trace.value().tracks().kind[Row(spans.track[i])] == TrackKind::kDeviceStream;
    dispatches += trace.value().text(spans.name[i]) == "OpDispatch";
  }
  EXPECT_EQ(kernels, 115);
  EXPECT_EQ(dispatches, 115);
}

TEST(MegEngineChrome, ReadsTheShapeOfATensor) {
  const std::pair<const char*, const char*> shapes[] = {
      {"{64,3}", "[[64,3]]"}, {"{}", "[[]]"}, {"64", ""},     {"{a}", ""},  {"{", ""},
      {"{2,-3}", ""},         {"{02,3}", ""}, {"{2,,3}", ""}, {"{2,}", ""}, {"{,2}", ""},
      {"{0,10}", "[[0,10]]"}};
  for (const auto& [shape, dims] : shapes) {
    const std::string text = R"({"shape": ")" + std::string(shape) + R"(", "dtype": "Float32"})";
    JsonScanner scanner(text);
    std::vector<JsonMember> members;
    ASSERT_TRUE(scanner.ReadMembers(&members));
    static constexpr const ChromeDialect* kDialects[] = {&kMegEngineChromeDialect};
    ChromeLists lists;
    const bool found = ReadChromeLists(ChromeDialects(kDialects), members, &lists);
    EXPECT_EQ(found ? lists.dims : "", dims) << shape;
  }
}

}  // namespace
}  // namespace opscope
