// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "opscope/c.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

class CApiExport : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "opscope_c_export_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    constexpr std::string_view kEvents =
        R"([{"ph":"X","name":"a","ts":0,"dur":1,"pid":1,"tid":1},{"ph":"C","name":"c","ts":0,"pid":1,"tid":1,"args":{"x":1}}])";
    ASSERT_EQ(opscope_trace_open_bytes(kEvents.data(), kEvents.size(), "text", nullptr, &trace_, &error_), OPSCOPE_OK);
  }
  void TearDown() override {
    opscope_trace_free(trace_);
    fs::remove_all(folder_);
  }
  std::string Path(const char* name) const { return folder_ / name; }

  opscope_trace* trace_ = nullptr;
  opscope_error error_ = OPSCOPE_ERROR_INIT;
  fs::path folder_;
};

TEST_F(CApiExport, GivesEveryFormatAndTellsWhatItLeavesOut) {
  const auto told = [&](const char* format, const opscope_export_options* options = nullptr) -> std::string {
    char* text = nullptr;
    const opscope_code code = opscope_export(trace_, format, Path("out").c_str(), options, &text, &error_);
    if (code != OPSCOPE_OK) return error_.message;
    const std::string kept = text;
    opscope_text_free(text);
    return kept;
  };
  for (const char* format : {"chrome", "perfetto", "csv", "opscope"})
    EXPECT_EQ(told(format), "") << format;
  EXPECT_EQ(told("speedscope"), "left out, as speedscope has no place for them: 1 counter samples");
  EXPECT_EQ(told("excel"),
            "there is no format \"excel\"; formats: chrome perfetto speedscope collapsed pprof csv opscope "
            "paddle-protobuf paddle-chrome megengine-chrome megengine-svg html");
  opscope_export_options options = OPSCOPE_EXPORT_OPTIONS_INIT;
  options.table = "counters";
  EXPECT_EQ(told("csv", &options), "");
  std::ifstream file(Path("out"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "time,name,series,track,value\r\n0,c,x,0,1\r\n");
  options.compression = 7;
  EXPECT_EQ(told("csv", &options), "options: compression is not an OPSCOPE_COMPRESSION_*");
  EXPECT_EQ(opscope_export(trace_, "csv", Path("out").c_str(), nullptr, nullptr, &error_), OPSCOPE_OK);
  EXPECT_EQ(opscope_export(nullptr, "csv", "x", nullptr, nullptr, &error_), OPSCOPE_INVALID_ARGUMENT);
  EXPECT_EQ(opscope_export(trace_, "pprof", Path("no/x").c_str(), nullptr, nullptr, &error_), OPSCOPE_NOT_FOUND);
}

}  // namespace
}  // namespace opscope
