// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/span_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// Two ranks with a thread each, a device, two steps per rank (the second rank's are 100 us later).
Trace Example() {
  TraceBuilder builder;
  for (int rank = 0; rank < 2; ++rank) {
    const ProcessId process = builder.AddProcess({.pid = 10 + rank, .name = builder.Intern("python"), .rank = rank});
    const TrackId thread = builder.AddTrack({.process = process, .tid = 7, .name = builder.Intern("main")});
    const TrackId stream =
        builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 20, .device = rank});
    const auto add = [&](const char* name, int64_t start_us, int64_t us, TrackId track, const char* category) {
      return builder.AddSpan({.start = {(start_us + 100 * rank) * 1000 + 500'000},
                              .duration = {us * 1000},
                              .name = builder.Intern(name),
                              .category = builder.Intern(category),
                              .track = track});
    };
    const AddedSpan first = add("ProfilerStep#3", 0, 100, thread, "user_annotation");
    add("aten::conv2d", 10, 40, thread, "cpu_op");
    add("aten::convolution", 12, 30, thread, "cpu_op");
    const AddedSpan second = add("ProfilerStep#4", 100, 100, thread, "user_annotation");
    add("aten::add", 110, 5, thread, "cpu_op");
    add("conv kernel", 150, 80, stream, "kernel");
    builder.AddStep(3, builder.Intern("ProfilerStep#3"), first);
    builder.AddStep(4, builder.Intern("ProfilerStep#4"), second);
  }
  return builder.Build();
}

// "rank:name" of each span that is selected.
std::string Selected(const std::string& condition) {
  const Trace trace = Example();
  const Result<SpanFilter> filter = SpanFilter::Parse(condition);
  if (!filter.ok()) return filter.error().message;
  const std::vector<uint8_t> selected = filter.value().Select(trace);
  std::string text;
  for (size_t span = 0; span < selected.size(); ++span) {
    if (selected[span] == 0) continue;
    const uint32_t process = Row(trace.tracks().process[Row(trace.spans().track[span])]);
    text += std::to_string(trace.processes().rank[process]) + ":";
    text.append(trace.text(trace.spans().name[span])).append(" ");
  }
  return text;
}

TEST(SpanFilter, ComparesTexts) {
  EXPECT_EQ(Selected("name = aten::add"), "0:aten::add 1:aten::add ");
  EXPECT_EQ(Selected("name ~ conv and rank = 0"), "0:aten::conv2d 0:aten::convolution 0:conv kernel ");
  EXPECT_EQ(Selected("name ~ 'aten*2d' and rank = 0"), "0:aten::conv2d ");
  EXPECT_EQ(Selected("category != cpu_op and name !~ \"Step\""), "0:conv kernel 1:conv kernel ");
  EXPECT_EQ(Selected("name ~ aten::conv*ion and rank = 1"), "1:aten::convolution ");
}

TEST(SpanFilter, KnowsStepsAndThreadsByWhatTablesCallThem) {
  EXPECT_EQ(Selected("name = ProfilerStep* and rank = 0"), "0:ProfilerStep#3 0:ProfilerStep#4 ");
  EXPECT_EQ(Selected("rank = 0 and depth = 0 and name != 'ProfilerStep*'"), "0:conv kernel ");
  EXPECT_EQ(Selected("category = 'ProfilerStep*'"), "");
  EXPECT_EQ(Selected("thread = 'main (7, rank 1)' and depth = 0"), "1:ProfilerStep#3 1:ProfilerStep#4 ");
  EXPECT_EQ(Selected("process = 'python (10)' and device >= 0"), "0:conv kernel ");
  EXPECT_EQ(Selected("process != 'python (10)' and device >= 0"), "1:conv kernel ");
}

TEST(SpanFilter, SaysWhichFieldsItUses) {
  const Result<SpanFilter> filter = SpanFilter::Parse("not (step = 3 or name ~ x)");
  ASSERT_TRUE(filter.ok());
  EXPECT_TRUE(filter.value().Uses(FilterField::kStep));
  EXPECT_TRUE(filter.value().Uses(FilterField::kName));
  EXPECT_FALSE(filter.value().Uses(FilterField::kRank));
}

TEST(SpanFilter, ComparesNumbersAndTimes) {
  EXPECT_EQ(Selected("rank = 0 and duration >= 80us"), "0:ProfilerStep#3 0:ProfilerStep#4 0:conv kernel ");
  EXPECT_EQ(Selected("duration < 0.006ms and rank != 1"), "0:aten::add ");
  EXPECT_EQ(Selected("start = 0"), "0:ProfilerStep#3 ");
  EXPECT_EQ(Selected("start >= 250us and start < 1s"), "1:conv kernel ");
  EXPECT_EQ(Selected("depth > 1"), "0:aten::convolution 1:aten::convolution ");
  EXPECT_EQ(Selected("device = 1"), "1:conv kernel ");
}

TEST(SpanFilter, ComparesWithFractionsAsTheyAre) {
  const Trace trace = Example();
  const SpanColumns& spans = trace.spans();
  const auto device = [&](size_t span) { return trace.tracks().device[Row(spans.track[span])]; };
  const auto compare = [](double number, const std::string& op, double value) {
    if (op == "=") return number == value;
    if (op == "!=") return number != value;
    if (op.starts_with('<')) return number < value || (op == "<=" && number == value);
    return number > value || (op == ">=" && number == value);
  };
  for (const std::string op : {"=", "!=", "<", "<=", ">", ">="}) {
    for (const char* value :
         {"-1.5", "-1", "-0.5", "0", "0.4", "0.5", "1.0", "1.4", "1.5", "20e-1", "2.5", "79999.5"}) {
      const auto selected = [&](const char* field) {
        return SpanFilter::Parse(field + (" " + op + " ") + value).value().Select(trace);
      };
      const auto by_depth = selected("depth"), by_device = selected("device"), by_duration = selected("duration");
      for (size_t span = 0; span < spans.size(); ++span) {
        SCOPED_TRACE(op + " " + value + " span " + std::to_string(span));
        EXPECT_EQ(by_depth[span] != 0, compare(spans.depth[span], op, std::stod(value)));
        EXPECT_EQ(by_device[span] != 0, compare(device(span), op, std::stod(value)));
        EXPECT_EQ(by_duration[span] != 0, compare(static_cast<double>(spans.duration[span].ns), op, std::stod(value)));
      }
    }
  }
}

TEST(SpanFilter, ReadsNumbersExactly) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({})});
  builder.AddSpan({.track = track, .sequence = 9007199254740993});  // 2^53 + 1
  builder.AddSpan({.duration = {1'000'000'007}, .track = track, .sequence = 9007199254740992});
  const Trace trace = builder.Build();
  const auto count = [&](const char* condition) {
    const std::vector<uint8_t> selected = SpanFilter::Parse(condition).value().Select(trace);
    return std::count(selected.begin(), selected.end(), 1);
  };
  EXPECT_EQ(count("sequence = 9007199254740993"), 1);
  EXPECT_EQ(count("sequence > 9007199254740992"), 1);
  EXPECT_EQ(count("duration = 1.000000007s"), 1);
  EXPECT_EQ(count("duration = 1000.0000070001ms"), 0);
}

TEST(SpanFilter, KnowsTheStepOfEachRank) {
  EXPECT_EQ(Selected("step = 4"),
            "0:ProfilerStep#4 0:aten::add 0:conv kernel 1:ProfilerStep#4 1:aten::add 1:conv kernel ");
  EXPECT_EQ(Selected("step < 0"), "");
}

TEST(SpanFilter, ThreadsAndProcessesHaveNamesAndNumbers) {
  EXPECT_EQ(Selected("thread = 20 and process = 11"), "1:conv kernel ");
  EXPECT_EQ(Selected("thread != main and process ~ pyth and rank = 0"), "0:conv kernel ");
  EXPECT_EQ(Selected("thread !~ ma and thread != 20"), "");
}

TEST(SpanFilter, AndBindsMoreThanOr) {
  EXPECT_EQ(Selected("rank = 1 and name = aten::add or rank = 0 and device = 0"), "0:conv kernel 1:aten::add ");
  EXPECT_EQ(Selected("rank = 1 and (name = aten::add or device = 1)"), "1:aten::add 1:conv kernel ");
  EXPECT_EQ(Selected("not (rank = 0 or not device = 1)"), "1:conv kernel ");
}

TEST(SpanFilter, OfSeveralChoosesWhatEachOfThemDoes) {
  const Trace trace = Example();
  const std::string conditions[] = {"name ~ conv", "rank = 0 or device = 1", "not (depth > 1 and rank = 1)",
                                    "duration > 20us"};
  for (uint32_t chosen = 1; chosen < 1u << std::size(conditions); ++chosen) {
    std::vector<SpanFilter> filters;
    std::vector<uint8_t> expected(trace.spans().size(), 1);
    std::string text;
    for (size_t i = 0; i < std::size(conditions); ++i) {
      if ((chosen >> i & 1) == 0) continue;
      filters.push_back(SpanFilter::Parse(conditions[i]).value());
      const std::vector<uint8_t> own = filters.back().Select(trace);
      for (size_t span = 0; span < own.size(); ++span)
        expected[span] &= own[span];
      text += (text.empty() ? "(" : " and (") + conditions[i] + ")";
    }
    const SpanFilter all = SpanFilter::And(filters);
    EXPECT_EQ(all.Select(trace), expected) << text;
    EXPECT_EQ(all.text(), text);
    EXPECT_EQ(SpanFilter::Parse(text).value().Select(trace), expected) << "what it says can be said";
  }
}

TEST(SpanFilter, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(Selected(""), "at character 1: a field is missing");
  EXPECT_EQ(
      Selected("price > 3"),
      "at character 1: no field 'price'; choose from name, category, kind, overload, thread, process, duration, start, "
      "depth, sequence, step, rank, device, correlation");
  EXPECT_EQ(Selected("name"), "at character 5: an operator is missing: = != < <= > >= ~ !~");
  EXPECT_EQ(Selected("name = "), "at character 8: a value is missing");
  EXPECT_EQ(Selected("name = 'x"), "at character 8: the text is not closed");
  EXPECT_EQ(Selected("name > x"), "at character 7: name is text: compare with = != ~ !~");
  EXPECT_EQ(Selected("rank ~ 3"), "at character 7: rank is a number: compare with = != < <= > >=");
  EXPECT_EQ(Selected("duration > 3kg"), "at character 12: '3kg' is not a time");
  EXPECT_EQ(Selected("rank = 3us"), "at character 8: '3us' is not a number");
  EXPECT_EQ(Selected("rank = 1e300"), "at character 8: '1e300' is not a number");
  EXPECT_EQ(Selected("rank = nan"), "at character 8: 'nan' is not a number");
  EXPECT_EQ(Selected("duration = 18446744073709551617ns"), "at character 12: '18446744073709551617ns' is not a time");
  EXPECT_EQ(Selected("(rank = 1"), "at character 10: ')' is missing");
  EXPECT_EQ(Selected("rank = 1 rank = 2"), "at character 10: 'and' or 'or' is missing");
  EXPECT_EQ(Selected(std::string(1000, '(')), "at character 101: nested too deep");
}

TEST(SpanFilter, TellsWhatAValueSaysOfANumber) {
  EXPECT_EQ(SpanFilter::NumberOf(FilterField::kStep, "3"), 3);
  EXPECT_EQ(SpanFilter::NumberOf(FilterField::kStart, "10us"), 10'000);
  EXPECT_EQ(SpanFilter::NumberOf(FilterField::kStart, "1.5ms"), 1'500'000);
  for (const char* nothing : {"", "two", "3us", "3'", "'3"})
    EXPECT_EQ(SpanFilter::NumberOf(FilterField::kStep, nothing), std::nullopt) << nothing;
}

TEST(SpanFilter, NamesItsFields) {
  const std::string names = SpanFilter::FieldNames();
  EXPECT_TRUE(names.starts_with("name, category, ")) << names;
  EXPECT_TRUE(names.ends_with(", device, correlation")) << names;
}

}  // namespace
}  // namespace opscope
