// The rules, each row of docs/reference/span_kinds.md, and that they have the same rows.
// SPDX-License-Identifier: Apache-2.0
#include "trace/span_kinds.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// The cells of the rows below the header `| first | ...`, without blanks around them.
std::vector<std::vector<std::string>> RowsOfTable(const std::string& first) {
  std::ifstream file(std::string(OPSCOPE_SOURCE_DIR) + "/docs/reference/span_kinds.md");
  std::vector<std::vector<std::string>> rows;
  bool is_in = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| " + first + " |")) is_in = true;
    is_in &= line.starts_with("|");
    if (!is_in || line.starts_with("| " + first + " |") || line.starts_with("| ---")) continue;
    std::vector<std::string>& cells = rows.emplace_back();
    for (size_t at = 1, end = 0; (end = line.find('|', at)) != std::string::npos; at = end + 1) {
      const std::string cell = line.substr(at, end - at);
      const size_t begin = cell.find_first_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
    }
  }
  return rows;
}

// The texts in backticks.
std::vector<std::string> Quoted(const std::string& cell) {
  std::vector<std::string> texts;
  for (size_t at = 0; (at = cell.find('`', at)) != std::string::npos;) {
    const size_t end = cell.find('`', at + 1);
    texts.push_back(cell.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return texts;
}

std::string WithoutDots(const std::string& text) {
  return text.ends_with("...") ? text.substr(0, text.size() - 3) : text;
}

struct Span {
  std::string category, name;
  uint8_t flags = 0;
  TrackKind track = TrackKind::kThread;
  SpanKind given = kKindOfCategory;
};

Trace TraceOf(const std::vector<Span>& spans) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  for (const Span& span : spans) {
    builder.AddSpan({.name = builder.Intern(span.name),
                     .category = builder.Intern(span.category),
                     .track = builder.AddTrack({.process = process, .kind = span.track, .tid = 1}),
                     .flags = span.flags,
                     .kind = span.given});
  }
  return builder.Build();
}

std::string_view KindOf(const Span& span) {
  return SpanKindName(TraceOf({span}).spans().kind[0]);
}

TEST(SpanKinds, HaveNamesThatLeadBack) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kSpanKinds; ++i) {
    const auto kind = static_cast<SpanKind>(i);
    EXPECT_TRUE(names.insert(SpanKindName(kind)).second);
    EXPECT_EQ(SpanKindFromName(SpanKindName(kind)), kind);
  }
  EXPECT_EQ(SpanKindFromName("Kernel"), std::nullopt);
}

TEST(SpanKinds, AreNumberedAsTheDocumentSays) {
  const auto rows = RowsOfTable("number");
  ASSERT_EQ(rows.size(), kSpanKinds);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], std::to_string(i));
    EXPECT_EQ(Quoted(rows[i][1])[0], SpanKindName(static_cast<SpanKind>(i)));
  }
}

TEST(SpanKinds, AreThoseOfTheDocument) {
  const auto rows = RowsOfTable("category");
  ASSERT_GT(rows.size(), 30u);
  for (const auto& row : rows) {
    const std::string name = row[1].empty() ? "x" : Quoted(row[1])[0];
    for (const std::string& category : Quoted(row[0])) {
      const Span span{category == "..._runtime" || category == "..._driver" ? "mtia" + category.substr(3) : category,
                      WithoutDots(name)};
      EXPECT_EQ(KindOf(span), Quoted(row[2])[0]) << category << " " << name;
      EXPECT_FALSE(TraceOf({span}).has_explicit_kinds()) << category << " " << name;
    }
  }
}

TEST(SpanKinds, AreAllInTheDocument) {
  std::set<std::string> categories, ranges;
  for (const auto& row : RowsOfTable("category")) {
    for (const std::string& category : Quoted(row[0]))
      categories.insert(category);
    if (row[0] == "`user_annotation`" && !row[1].empty()) ranges.insert(WithoutDots(Quoted(row[1])[0]));
  }
  for (const KindOfText& known : KnownCategories())
    EXPECT_TRUE(categories.contains(std::string(known.text))) << known.text;
  for (const KindOfText& known : KnownRanges())
    EXPECT_TRUE(ranges.contains(std::string(known.text))) << known.text;
}

TEST(SpanKinds, OfAPythonCallComeFromItsName) {
  EXPECT_EQ(KindOfPythonCall("<string>(1): step"), SpanKind::kPythonFunction);
  EXPECT_EQ(KindOfPythonCall("<method 'step' of 'Plan' objects>"), SpanKind::kCFunction);
  EXPECT_EQ(KindOfPythonCall("$<unknown> isinstance"), SpanKind::kCFunction);
  EXPECT_EQ(ModuleOfCall("nn.Module: Linear_0"), "Linear_0");
  EXPECT_EQ(ModuleOfCall("Linear_0"), "Linear_0");
}

TEST(SpanKinds, OfOperatorsAndKernelsDoNotLookAtNames) {
  EXPECT_EQ(KindOf({"cpu_op", "autograd::engine::evaluate_function: MmBackward0"}), "operator");
  EXPECT_EQ(KindOf({"cpu_op", "nn.Module: odd"}), "operator");
  EXPECT_EQ(KindOf({"kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}), "kernel");
}

TEST(SpanKinds, AreOtherWhereNothingTells) {
  const Trace trace = TraceOf({{"of another tool", "x"}, {"", ""}});
  EXPECT_EQ(trace.spans().kind[0], SpanKind::kOther);
  EXPECT_EQ(trace.spans().kind[1], SpanKind::kOther);
}

// One name may stand in two categories that both look at names.
TEST(SpanKinds, OfOneNameDifferByCategory) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const StringId name = builder.Intern("Optimizer.step");
  for (int i = 0; i < 6; ++i) {
    const StringId category = builder.Intern(i % 2 == 0 ? "user_annotation" : "python_function");
    builder.AddSpan({.start = {i}, .duration = {1}, .name = name, .category = category, .track = track});
  }
  const Trace trace = builder.Build();
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(trace.spans().kind[i], i % 2 == 0 ? SpanKind::kOptimizer : SpanKind::kCFunction);
}

TEST(SpanKinds, OfStepsScopesAndAnnotationsComeFirst) {
  EXPECT_EQ(KindOf({"cpu_op", "train", span_flags::kStep}), "step");
  EXPECT_EQ(KindOf({"cpu_op", "scope", span_flags::kNative}), "user_range");
  EXPECT_EQ(KindOf({"XLA Ops", "fusion.1", 0, TrackKind::kDeviceAnnotation}), "device_annotation");
  EXPECT_EQ(KindOf({"Steps", "1", 0, TrackKind::kDeviceAnnotation}), "step");
}

TEST(SpanKinds, ThatAnImporterGivesStay) {
  const Trace trace = TraceOf({{"cpu_op", "a"},
                               {"", "b", 0, TrackKind::kThread, SpanKind::kForward},
                               {"cpu_op", "c", 0, TrackKind::kThread, kForcedOther}});
  EXPECT_EQ(trace.spans().kind[0], SpanKind::kOperator);
  EXPECT_EQ(trace.spans().kind[1], SpanKind::kForward);
  EXPECT_EQ(trace.spans().kind[2], SpanKind::kOther);
  EXPECT_TRUE(trace.has_explicit_kinds());
}

// A column is not written where every row holds the same as a row that was never written.
TEST(SpanKinds, TakeNoMemoryWhereAllAreOther) {
  const auto bytes_with = [](const char* category) {
    TraceBuilder builder;
    const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
    const StringId id = builder.Intern(category);
    for (int i = 0; i < 100'000; ++i)
      builder.AddSpan({.start = {i}, .duration = {1}, .category = id, .track = track});
    return builder.Build().memory_bytes();
  };
  const uint64_t other = bytes_with("stack!"), operators = bytes_with("cpu_op");
  EXPECT_GE(operators, other + 100'000);
  EXPECT_LT(operators, other + 150'000);
}

}  // namespace
}  // namespace opscope
