// Every folder under golden/export is a case: its input.json must give expected.FORMAT for every format that is not
// Chrome's JSON or `.opscope` (those have golden_test.cc); binary ones as text (proto_text.h).
// OPSCOPE_UPDATE_GOLDEN=1 rewrites what differs, and the run still fails.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/read_text_for_test.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "proto_text.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

void ExpectGolden(const fs::path& path, const std::string& actual) {
  const std::string expected = fs::exists(path) ? ReadText(path) : "(no file)";
  if (actual == expected) return;
  if (std::getenv("OPSCOPE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  EXPECT_EQ(actual, expected) << path << " differs; OPSCOPE_UPDATE_GOLDEN=1 rewrites it";
}

std::string ProtoText(const ProtoSchema& schema, std::string_view message, const std::string& bytes) {
  std::string text;
  AppendProtoText(schema, message, protozero::pbf_reader(bytes), "", &text);
  return text;
}

class ExportGolden : public testing::TestWithParam<fs::path> {};

TEST_P(ExportGolden, GivesTheExpectedFiles) {
  const Result<Trace> trace = ImportFile((GetParam() / "input.json").string());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  std::string told;
  const auto made = [&](ExportFormat format) {
    const Result<Exported> exported = ExportToBytes(trace.value(), format, {.trace_name = "golden"});
    if (!exported.ok()) return "failed: " + exported.error().message;
    told += std::string(ExportFormatNames()[static_cast<size_t>(format)]) + ": " +
            ExportedText(format, exported.value()) + "\n";
    return exported.value().bytes;
  };
  ExpectGolden(GetParam() / "expected.speedscope.json", made(ExportFormat::kSpeedscope));
  ExpectGolden(GetParam() / "expected.collapsed", made(ExportFormat::kCollapsed));
  ExpectGolden(GetParam() / "expected.csv", made(ExportFormat::kCsv));
  ExpectGolden(GetParam() / "expected.pprof.txt", ProtoText(kPprofSchema, "Profile", made(ExportFormat::kPprof)));
  ExpectGolden(GetParam() / "expected.perfetto.txt",
               ProtoText(kPerfettoSchema, "Trace", made(ExportFormat::kPerfetto)));
  ExpectGolden(GetParam() / "expected.told.txt", told);
}

std::vector<fs::path> FindCases() {
  std::vector<fs::path> cases;
  for (const auto& folder : fs::directory_iterator(fs::path(OPSCOPE_GOLDEN_DIR) / "export"))
    cases.push_back(folder.path());
  std::sort(cases.begin(), cases.end());
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, ExportGolden, testing::ValuesIn(FindCases()),
                         [](const auto& test) { return test.param.filename().string(); });

}  // namespace
}  // namespace opscope
