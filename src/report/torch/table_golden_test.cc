// The original's own exported trace, imported here, gives the original's table: every character, times
// included. The cases are made by tests/golden/torch_table/make.py with the real torch.profiler.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/read_text_for_test.h"
#include "opscope/import.h"
#include "opscope/torch/table.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

fs::path CasesFolder() {
  return fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/torch_table";
}

struct Call {
  std::string file;
  AverageOptions averages;
  TorchTableOptions table;
};

std::optional<int64_t> WidthFrom(const std::string& text) {
  return text == "None" ? std::nullopt : std::optional<int64_t>(std::stoll(text));
}

Call ReadCall(const std::string& line) {
  Call call;
  std::stringstream fields(line);
  std::getline(fields, call.file, '\t');
  for (std::string field; std::getline(fields, field, '\t');) {
    const std::string key = field.substr(0, field.find('='));
    const std::string value = field.substr(field.find('=') + 1);
    if (key == "group_by_input_shape") {
      call.averages.group_by_input_shape = value == "True";
    } else if (key == "sort_by") {
      call.table.sort_by = value;
    } else if (key == "row_limit") {
      call.table.row_limit = std::stoll(value);
    } else if (key == "time_unit") {
      call.table.time_unit = value;
    } else if (key == "header") {
      call.table.header = value;
    } else if (key == "top_level_events_only") {
      call.table.top_level_events_only = value == "True";
    } else if (key == "max_name_column_width") {
      call.table.max_name_column_width = WidthFrom(value);
    } else if (key == "max_shapes_column_width") {
      call.table.max_shapes_column_width = WidthFrom(value);
    } else {
      ADD_FAILURE() << "unknown argument " << key;
    }
  }
  return call;
}

std::string OurTable(const Trace& trace, const Call& call) {
  FunctionEventOptions as_torch;
  as_torch.only_torch_flops = true;
  const FunctionEvents events = BuildFunctionEvents(trace, as_torch);
  TorchTableOptions options = call.table;
  options.profile_memory = events.profile_memory;
  options.with_flops = events.with_flops;
  options.use_device = events.use_device;
  const auto averages = AverageFunctionEvents(trace, events, call.averages);
  Result<std::string> text = FormatTorchTable(TorchTableRows(trace, events, averages), options);
  return text.ok() ? text.value() : "error: " + text.error().message;
}

class TorchTableGolden : public testing::TestWithParam<std::string> {};

TEST_P(TorchTableGolden, EqualsTheOriginalsTable) {
  const fs::path folder = CasesFolder() / GetParam();
  Result<Trace> trace = ImportFile((folder / "trace.json.gz").string());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  std::ifstream calls(folder / "tables.tsv");
  size_t count = 0;
  for (std::string line; std::getline(calls, line); ++count) {
    const Call call = ReadCall(line);
    EXPECT_EQ(OurTable(trace.value(), call), ReadText(folder / call.file)) << line;
  }
  EXPECT_GT(count, 0u);
}

INSTANTIATE_TEST_SUITE_P(Cases, TorchTableGolden,
                         testing::Values("adam_memory", "flops_and_shapes", "mlp_steps", "no_time", "odd_names",
                                         "python_functions", "resnet_forward", "threads"),
                         [](const auto& test_case) { return test_case.param; });

}  // namespace
}  // namespace opscope
