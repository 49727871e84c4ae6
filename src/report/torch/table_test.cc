// Quirks of torch's table that no recorded case shows. Expected texts are what torch 2.13 prints for the
// same rows.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/escaped_text.h"
#include "base/lines_for_test.h"
#include "report/torch/row_for_test.h"

namespace opscope {
namespace {

std::string Table(const std::vector<TorchTableRow>& rows, const TorchTableOptions& options = {}) {
  Result<std::string> text = FormatTorchTable(rows, options);
  return text.ok() ? text.value() : "error: " + text.error().message;
}

TEST(TorchTable, IsEmptyWithoutRows) {
  EXPECT_EQ(Table({}), "");
}

TEST(TorchTable, PadsEveryCellAndTheLastOneToo) {
  EXPECT_EQ(Table({Op("aten::add", 1.5, 2000)}),
            "-------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
            "         Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n"
            "-------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
            "    aten::add       100.00%       1.500us    133333.33%       2.000ms       2.000ms             1  \n"
            "-------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
            "Self CPU time total: 1.500us\n");
}

TEST(TorchTable, CutsANameThreeCharactersBeforeTheLimit) {
  const std::string name51(51, 'n');
  const std::string name52(52, 'n');
  const std::vector<std::string> lines = LinesOf(Table({Op(name51, 1, 1), Op(name52, 1, 1)}));
  EXPECT_EQ(lines[3].substr(0, 57), "    " + name51 + "  ");
  EXPECT_EQ(lines[4].substr(0, 57), name52 + "...  ");
}

TEST(TorchTable, PrintsNaNWhereThereIsNoTime) {
  const std::string text = Table({Op("[memory]", 0, 0)});
  EXPECT_NE(text.find("         NaN       0.000us           NaN       0.000us"), std::string::npos) << text;
}

TEST(TorchTable, RefusesTimeWithoutSelfTimeAsTorchDoes) {
  EXPECT_EQ(Table({Op("a", 0, 2.5)}), "error: Expected time_us == 0 but got 2.5");
}

TEST(TorchTable, RefusesOnlyRowsThatItPrints) {
  TorchTableOptions options;
  options.row_limit = 0;
  EXPECT_NE(Table({Op("a", 0, 2.5)}, options).find("Self CPU time total: 0.000us"), std::string::npos);
  options.row_limit = -1;
  options.fail_like_torch = false;
  EXPECT_NE(Table({Op("a", 0, 2.5)}, options).find("NaN       2.500us"), std::string::npos);
}

TEST(TorchTable, RefusesDeviceTimeWithoutADeviceTotal) {
  TorchTableRow row = Op("range", 1, 1);
  row.self_device_time_total = 3;
  TorchTableOptions options;
  options.use_device = "cuda";
  EXPECT_EQ(Table({row}, options), "error: Expected time_us == 0 but got 3.0");
}

TEST(TorchTable, RefusesDeviceTimeWithoutADevice) {
  TorchTableRow row = Op("kernel", 0, 0);
  row.self_device_time_total = 3;
  EXPECT_EQ(Table({row}), "error: use_device is None, but there is device performance data.");
}

TEST(TorchTable, RefusesAnUnknownSortKeyInPythonsWords) {
  TorchTableOptions options;
  options.sort_by = "cuda_price";
  EXPECT_EQ(Table({Op("a", 1, 1)}, options), "error: 'FunctionEventAvg' object has no attribute 'device_price'");
}

TEST(TorchTable, SortsStablyAndReadsCudaAsDevice) {
  std::vector<TorchTableRow> rows = {Op("a", 1, 1), Op("b", 1, 1), Op("c", 1, 1)};
  for (size_t i : {1u, 2u}) {
    rows[i].self_device_time_total = 5;
    rows[i].is_cpu = false;
    rows[i].counts_as_device = true;
  }
  TorchTableOptions options;
  options.use_device = "cuda";
  for (const char* key : {"self_cuda_time_total", "self_xpu_time_total", "self_device_time_total"}) {
    options.sort_by = key;
    const std::vector<std::string> lines = LinesOf(Table(rows, options));
    EXPECT_EQ(lines[3].substr(0, 5), "    b");
    EXPECT_EQ(lines[4].substr(0, 5), "    c");
    EXPECT_EQ(lines[5].substr(0, 5), "    a");
  }
}

TEST(TorchTable, TakesDeviceSharesFromDeviceRowsThatAreNoAnnotations) {
  std::vector<TorchTableRow> rows = {Op("aten::mm", 10, 10), Op("gemm", 0, 0), Op("range", 0, 0)};
  rows[0].self_device_time_total = 8;
  for (size_t i : {1u, 2u}) {
    rows[i].is_cpu = false;
    rows[i].counts_as_device = true;
    rows[i].self_device_time_total = 8;
  }
  rows[2].is_user_annotation = true;
  TorchTableOptions options;
  options.use_device = "cuda";
  const std::string text = Table(rows, options);
  EXPECT_NE(text.find("   Self CUDA   Self CUDA %    CUDA total  CUDA time avg"), std::string::npos) << text;
  EXPECT_NE(text.find("Self CUDA time total: 8.000us\n"), std::string::npos) << text;
}

TEST(TorchTable, PrintsAsyncRowsWithAnIntegerZeroShare) {
  TorchTableRow row = Op("async", 0, 7);
  row.is_async = true;
  const std::string text = Table({Op("op", 1, 1), row});
  EXPECT_NE(text.find("   async         0.00%       0.000us             0       7.000us"), std::string::npos) << text;
}

TEST(TorchTable, TestsTheUnitBeforeRounding) {
  EXPECT_EQ(FormatTorchTime(999.9996), "1000.000us");
  EXPECT_EQ(FormatTorchTime(1000), "1.000ms");
  EXPECT_EQ(FormatTorchTime(-5000), "-5000.000us");
  EXPECT_EQ(FormatTorchTime(1e6), "1.000s");
  EXPECT_EQ(FormatTorchMemory(1023), "1023 B");
  EXPECT_EQ(FormatTorchMemory(-2048), "-2.00 KB");
  EXPECT_EQ(FormatTorchMemory(int64_t{3} << 30), "3.00 GB");
}

std::vector<TorchTableRow> RowsWithFlopsAndStacks() {
  std::vector<TorchTableRow> rows = {Op("aten::mm", 2, 2), Op("aten::t", 1, 1)};
  rows[0].flops = 2.5e6;
  rows[0].stack = {"model.py(3): forward", "train.py(9): step"};
  return rows;
}

TEST(TorchTable, PutsFlopsAndSourceUnderTheirOwnTitles) {
  TorchTableOptions options;
  options.with_flops = true;
  const std::vector<std::string> lines = LinesOf(Table(RowsWithFlopsAndStacks(), options));
  EXPECT_EQ(lines[1].substr(lines[1].size() - 40), "Source Location           Total MFLOPs  ");
  EXPECT_EQ(lines[3].substr(lines[3].size() - 40), "model.py(3): forward             2.500  ");
  EXPECT_EQ(lines[4].substr(lines[4].size() - 40), "train.py(9): step                       ");
  EXPECT_EQ(lines[5], std::string(lines[5].size(), ' '));
}

TEST(TorchTable, SwapsThemWhenTorchsErrorIsAskedFor) {
  TorchTableOptions options;
  options.with_flops = true;
  options.compat_swapped_cells = true;
  const std::vector<std::string> lines = LinesOf(Table(RowsWithFlopsAndStacks(), options));
  EXPECT_EQ(lines[3].substr(lines[3].size() - 48), "   2.500                  model.py(3): forward  ");
  EXPECT_EQ(lines[4].substr(lines[4].size() - 19), "train.py(9): step  ");
}

TEST(TorchTable, KeepsTheTailOfALongFrame) {
  TorchTableRow row = Op("a", 1, 1);
  row.stack = {"/a/very/long/path/to/model.py(3): forward"};
  TorchTableOptions options;
  options.max_src_column_width = 20;
  EXPECT_NE(Table({row}, options).find("...el.py(3): forward  \n"), std::string::npos) << Table({row}, options);
}

TEST(TorchTable, EscapesForATerminalOnlyWhereThatIsAskedFor) {
  TorchTableRow row = Op("a\x1b[31m\u202e", 1, 1);
  row.input_shapes = "[\n]";
  row.has_input_shapes = true;
  row.stack = {"f.py(1): \x9b"};
  TorchTableOptions options;
  options.header = "head\x07";
  options.note = "note\r";
  const std::string as_torch = Table({row}, options);
  for (const char* text : {"a\x1b[31m\u202e", "[\n]", "f.py(1): \x9b", "head\x07\n", "note\r\n"})
    EXPECT_NE(as_torch.find(text), std::string::npos) << text;
  options.is_escaped = true;
  const std::string escaped = Table({row}, options);
  EXPECT_EQ(escaped.find_first_of("\x1b\x07\r\x9b\xe2"), std::string::npos) << escaped;
  for (const char* text : {"a\\x1b[31m\\u202e", "[\\x0a]", "f.py(1): \\x9b", "head\\x07\n", "note\\x0d\n"})
    EXPECT_NE(escaped.find(text), std::string::npos) << text;
}

TEST(TorchTable, LeavesOutColumnsFromTheRightInATerminal) {
  const std::string name(80, 'n');
  const std::vector<TorchTableRow> rows = {Op(name, 1, 1)};
  TorchTableOptions options;
  options.width = 80;
  const std::string line = std::string(50, '-') + "  ------------  ------------  \n";
  EXPECT_EQ(Table(rows, options), line + std::string(46, ' ') + "Name    Self CPU %      Self CPU  \n" + line +
                                      std::string(47, 'n') + "...       100.00%       1.000us  \n" + line +
                                      "Self CPU time total: 1.000us\n"
                                      "Left out: CPU total %, CPU total, CPU time avg, # of Calls\n");
}

TEST(TorchTable, IsTorchsWhereTheTerminalIsWideEnough) {
  const std::vector<TorchTableRow> rows = {Op("aten::add", 1, 1), Op("aten::mm", 2, 5)};
  TorchTableOptions options;
  const std::string as_torch = Table(rows, options);
  options.width = 120;
  options.is_escaped = true;
  EXPECT_EQ(Table(rows, options), as_torch);
}

TEST(TorchTable, HasNoLineThatIsWiderThanTheTerminal) {
  std::vector<TorchTableRow> rows = RowsWithFlopsAndStacks();
  rows[0].key = "\u65e5\u672c\u8a9e\u306e\u540d\u524d\u306f\u3068\u3066\u3082\u9577\u3044\u306e\u3067\u3059\u3088";
  rows[1].cpu_time_total = rows[1].self_cpu_time_total = 9.2e18;
  const std::string shapes(100, '[');
  rows[1].input_shapes = shapes;
  rows[1].has_input_shapes = true;
  TorchTableOptions options;
  options.with_flops = options.profile_memory = true;
  options.header = std::string(300, 'h');
  options.note = std::string(30, 'a') + " " + std::string(200, 'b');
  for (const size_t width : {20u, 40u, 80u, 120u, 200u, 1000u}) {
    options.width = width;
    for (const std::string& line : LinesOf(Table(rows, options)))
      EXPECT_LE(DisplayWidth(line), width) << line;
  }
}

TEST(TorchTable, MeasuresNamesInCodePoints) {
  const std::vector<std::string> lines = LinesOf(Table({Op("caf\xC3\xA9", 1, 1), Op("tea", 1, 1)}));
  EXPECT_EQ(lines[0].substr(0, 10), "--------  ");
  EXPECT_EQ(lines[3].substr(0, 11), "    caf\xC3\xA9  ");
}

}  // namespace
}  // namespace opscope
