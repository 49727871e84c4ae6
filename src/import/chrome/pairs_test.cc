// Which begins and ends belong together, and what tree they make: random lists of events against slow readers that
// follow the rules word by word.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "opscope/import.h"

namespace opscope {
namespace {

Trace ReadEvents(const std::string& text) {
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "trace.json");
  EXPECT_TRUE(trace.ok()) << text;
  return trace.ok() ? std::move(trace).value() : Trace();
}

// "name [start+duration) in parent" in the order of the Trace, names being unique.
std::vector<std::string> TreeOf(const Trace& trace) {
  std::vector<std::string> lines;
  const SpanColumns& spans = trace.spans();
  for (size_t row = 0; row < spans.size(); ++row) {
    std::string& line = lines.emplace_back(trace.text(spans.name[row]));
    line += " " + std::to_string(spans.start[row].ns / 1000) + "+" + std::to_string(spans.duration[row].ns / 1000);
    if (spans.parent[row] != SpanId::kNone) line.append(" in ").append(trace.text(spans.name[Row(spans.parent[row])]));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string EventText(const std::string& phase, const std::string& name, int time, const std::string& more = "") {
  return "{\"ph\":\"" + phase + "\",\"pid\":1,\"tid\":1,\"name\":\"" + name + "\",\"ts\":" + std::to_string(time) +
         more + "}";
}

std::string Joined(const std::vector<std::string>& events) {
  std::string text = "[";
  for (const std::string& event : events)
    text += (text.size() == 1 ? "" : ",\n") + event;
  return text + "]";
}

using Lines = std::vector<std::string>;

TEST(ChromePairs, OfEqualIntervalsTheFirstOfTheFileIsTheParent) {
  const std::string begin = EventText("B", "outer", 0), complete = EventText("X", "inner", 0, ",\"dur\":10"),
                    end = EventText("E", "outer", 10);
  EXPECT_EQ(TreeOf(ReadEvents(Joined({begin, complete, end}))), (Lines{"inner 0+10 in outer", "outer 0+10"}));
  EXPECT_EQ(TreeOf(ReadEvents(Joined({begin, end, complete}))), (Lines{"inner 0+10 in outer", "outer 0+10"}));
  EXPECT_EQ(TreeOf(ReadEvents(Joined({complete, begin, end}))), (Lines{"inner 0+10", "outer 0+10 in inner"}));
}

TEST(ChromePairs, ThatEndBeforeTheNextBeginsAreBesideIt) {
  EXPECT_EQ(TreeOf(ReadEvents(Joined(
                {EventText("B", "z", 5), EventText("E", "z", 5), EventText("B", "q", 5), EventText("E", "q", 9)}))),
            (Lines{"q 5+4", "z 5+0"}));
  EXPECT_EQ(TreeOf(ReadEvents(Joined(
                {EventText("B", "q", 5), EventText("B", "z", 5), EventText("E", "z", 5), EventText("E", "q", 9)}))),
            (Lines{"q 5+4", "z 5+0 in q"}));
}

// Begins and ends in order of time with many ties: the stack of the open ones is the tree. The file may hold them in
// another order, as long as those of one time keep theirs.
TEST(ChromePairs, AloneOnATrackMakeTheTreeOfTheirOrder) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
    struct Open {
      std::string name, around;
      int start;
    };
    std::vector<Open> open;
    std::vector<std::vector<std::string>> of_time(1);
    Lines expected;
    int names = 0;
    for (size_t left = random() % 20; left > 0 || !open.empty(); left -= left > 0 ? 1 : 0) {
      if (random() % 2 == 0) of_time.emplace_back();
      const int time = static_cast<int>(of_time.size()) - 1;
      if (left > 0 && (open.empty() || random() % 2 == 0)) {
        const std::string name = "n" + std::to_string(names++);
        of_time.back().push_back(EventText("B", name, time));
        open.push_back({name, open.empty() ? "" : " in " + open.back().name, time});
        continue;
      }
      if (open.empty()) continue;
      const Open& last = open.back();
      of_time.back().push_back(EventText("E", last.name, time));
      expected.push_back(last.name + " " + std::to_string(last.start) + "+" + std::to_string(time - last.start) +
                         last.around);
      open.pop_back();
    }
    if (names == 0) continue;
    if (random() % 2 == 0) std::shuffle(of_time.begin(), of_time.end(), random);
    std::vector<std::string> events;
    for (const auto& at_once : of_time)
      events.insert(events.end(), at_once.begin(), at_once.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(TreeOf(ReadEvents(Joined(events))), expected) << Joined(events);
  }
}

// A span lies in the one that was put before it last and holds its start: earlier ones, longer ones, then those that
// stand in the file first come before it.
TEST(ChromePairs, BesideCompleteSpansNestByTimeAndThenByPlaceInTheFile) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
    struct Range {
      int start, end;
      std::string name;
    };
    std::vector<Range> ranges;
    std::vector<std::string> events;
    // [0, 8) halved at random: begins and ends in a proper order, complete spans anywhere between them.
    const auto fill = [&](const auto& self, int start, int end) -> void {
      for (size_t count = random() % 3 + 1; count > 0; --count) {
        const std::string name = "n" + std::to_string(ranges.size());
        ranges.push_back({start, end, name});
        if (random() % 2 == 0) {
          events.push_back(EventText("X", name, start, ",\"dur\":" + std::to_string(end - start)));
          continue;
        }
        events.push_back(EventText("B", name, start));
        if (end - start > 1) {
          const int middle = start + 1 + static_cast<int>(random() % static_cast<uint64_t>(end - start - 1));
          self(self, start, middle), self(self, middle, end);
        }
        events.push_back(EventText("E", name, end));
        return;
      }
    };
    fill(fill, 0, 8);
    events.push_back(EventText("X", "last", 0, ",\"dur\":8"));
    ranges.push_back({0, 8, "last"});
    std::stable_sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    Lines expected;
    for (size_t i = 0; i < ranges.size(); ++i) {
      std::string around;
      for (size_t j = 0; j < i; ++j) {
        if (ranges[j].end > ranges[i].start) around = " in " + ranges[j].name;
      }
      expected.push_back(ranges[i].name + " " + std::to_string(ranges[i].start) + "+" +
                         std::to_string(ranges[i].end - ranges[i].start) + around);
    }
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(TreeOf(ReadEvents(Joined(events))), expected) << Joined(events);
  }
}

// One end of an asynchronous range or of a flow.
struct Point {
  std::string phase, pid, category, scope, kind, id, name;
  int time = 0;

  std::string Text() const {
    std::string text = "{\"ph\":\"" + phase + "\",\"pid\":" + pid + ",\"tid\":1,\"cat\":\"" + category +
                       "\",\"name\":\"" + name + "\",\"ts\":" + std::to_string(time);
    if (!scope.empty()) text += ",\"scope\":\"" + scope + "\"";
    return text + (kind == "id" ? ",\"id\":" + id : ",\"id2\":{\"" + kind + "\":" + id + "}") + "}";
  }
  // What is equal for the points that belong together.
  std::string Key() const {
    const std::string number = id == "7" || id == "7.0" ? "7" : id;
    const std::string process = pid == "\"Main\"" ? pid : "1";
    return category + "|" + scope + "|" + (kind == "local" ? process : "") + "|" + number;
  }
};

std::vector<Point> RandomPoints(const std::vector<const char*>& phases, std::mt19937_64* random) {
  const auto pick = [random](const std::vector<const char*>& texts) { return texts[(*random)() % texts.size()]; };
  std::vector<Point> points;
  for (int time = 0, count = static_cast<int>((*random)() % 24); time < count; ++time)
    points.push_back({pick(phases), pick({"1", "1.0", "\"Main\""}), pick({"c", "d"}), pick({"", "", "net"}),
                      pick({"id", "local", "global"}), pick({"7", "7.0", "\"x\""}), pick({"m", "n"}), time});
  return points;
}

std::string InRandomOrder(const std::vector<Point>& points, std::mt19937_64* random) {
  Lines events;
  for (const Point& point : points)
    events.push_back(point.Text());
  std::shuffle(events.begin(), events.end(), *random);
  return Joined(events);
}

// An end closes the newest open begin of its key and name, else the newest of its key.
Lines PairedByTheRules(const std::vector<Point>& points) {
  Lines lines;
  std::vector<bool> closed(points.size(), false);
  for (size_t end = 0; end < points.size(); ++end) {
    if (points[end].phase != "e") continue;
    size_t found = points.size();
    for (const bool asks_name : {false, true}) {
      for (size_t i = 0; i < end; ++i) {
        const bool fits = points[i].phase == "b" && !closed[i] && points[i].Key() == points[end].Key();
        if (fits && (!asks_name || points[i].name == points[end].name)) found = i;
      }
    }
    if (found == points.size()) continue;
    closed[found] = true;
    lines.push_back(points[found].category + " " + points[found].name + " " + std::to_string(points[found].time) + " " +
                    std::to_string(points[end].time));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

Lines AsyncSpansOf(const Trace& trace) {
  Lines lines;
  const AsyncSpanColumns& spans = trace.async_spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    lines.push_back(std::string(trace.text(spans.category[i])) + " " + std::string(trace.text(spans.name[i])) + " " +
                    std::to_string(spans.start[i].ns / 1000) + " " +
                    std::to_string((spans.start[i] + spans.duration[i]).ns / 1000));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(ChromePairs, OfAsynchronousRangesAreOfOneCategoryScopeAndId) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
    const std::vector<Point> points = RandomPoints({"b", "e"}, &random);
    const std::string text = InRandomOrder(points, &random);
    ASSERT_EQ(AsyncSpansOf(ReadEvents(text)), PairedByTheRules(points)) << text;
  }
}

// An end belongs to the newest start of its key before it, else to the first.
TEST(ChromePairs, OfFlowsAreOfOneCategoryScopeAndId) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
    const std::vector<Point> points = RandomPoints({"s", "t", "f"}, &random);
    Lines expected;
    for (const Point& end : points) {
      const Point* start = nullptr;
      for (const Point& point : points) {
        const bool fits = point.phase == "s" && point.Key() == end.Key();
        if (fits && (start == nullptr || point.time < end.time)) start = &point;
      }
      if (end.phase != "s" && start != nullptr)
        expected.push_back(std::to_string(start->time) + " " + std::to_string(end.time));
    }
    const std::string text = InRandomOrder(points, &random);
    const Trace trace = ReadEvents(text);
    Lines arrows;
    for (size_t i = 0; i < trace.flows().size(); ++i) {
      arrows.push_back(std::to_string(trace.flows().start_time[i].ns / 1000) + " " +
                       std::to_string(trace.flows().end_time[i].ns / 1000));
    }
    std::sort(arrows.begin(), arrows.end()), std::sort(expected.begin(), expected.end());
    ASSERT_EQ(arrows, expected) << text;
  }
}

// A range with "bind_id". A file may have any two of them at one time, where the order of the file decides.
struct Bound {
  std::string category, id;
  bool is_in = false, is_out = false, is_begin = false;
  int time = 0;
};

// As Perfetto's FlowTracker does: it keeps the range that the next arrow of an id leaves.
Lines BoundByTheRules(const std::vector<Bound>& ranges) {
  std::map<std::string, const Bound*> newest;
  Lines lines;
  for (const Bound& range : ranges) {
    if (range.id.empty()) continue;
    const auto from = newest.find(range.id);
    if (range.is_in && from != newest.end())
      lines.push_back(from->second->category + " " + std::to_string(from->second->time) + " " +
                      std::to_string(range.time));
    if (range.is_out) newest[range.id] = &range;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(ChromePairs, OfRangesWithABindIdLeadFromOneToTheNext) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto pick = [&random](const std::vector<const char*>& texts) { return texts[random() % texts.size()]; };
  for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
    std::vector<Bound> ranges;
    Lines events;
    for (int time = 0, count = static_cast<int>(random() % 16); time < count; ++time) {
      const Bound& range = ranges.emplace_back(Bound{pick({"c", "d"}), pick({"7", "\"0x8\"", "\"x\"", ""}),
                                                     random() % 2 == 0, random() % 2 == 0, random() % 2 == 0, time});
      std::string rest = ",\"pid\":1,\"tid\":" + std::to_string(time) + ",\"cat\":\"" + range.category +
                         "\",\"ts\":" + std::to_string(time);
      std::string binding = range.id.empty() ? "" : ",\"bind_id\":" + range.id;
      if (range.is_in) binding += ",\"flow_in\":true";
      binding += range.is_out ? ",\"flow_out\":true" : pick({"", ",\"flow_out\":false"});
      const std::string name = ",\"name\":\"n\"" + rest + binding;
      events.push_back(range.is_begin ? "{\"ph\":\"B\"" + name + "}" : "{\"ph\":\"X\",\"dur\":1" + name + "}");
      // Arrows of the older form with the same ids are others.
      if (random() % 4 == 0) events.push_back("{\"ph\":\"s\",\"id\":7" + rest + ",\"name\":\"old\"}");
    }
    std::shuffle(events.begin(), events.end(), random);
    const Trace trace = ReadEvents(Joined(events));
    const auto arrows_of = [](const Trace& of) {
      Lines arrows;
      const FlowColumns& flows = of.flows();
      for (size_t i = 0; i < flows.size(); ++i) {
        EXPECT_EQ(of.spans().start[Row(flows.start_span[i])], flows.start_time[i]);
        EXPECT_EQ(of.spans().start[Row(flows.end_span[i])], flows.end_time[i]);
        arrows.push_back(std::string(of.text(flows.category[i])) + " " + std::to_string(flows.start_time[i].ns / 1000) +
                         " " + std::to_string(flows.end_time[i].ns / 1000));
      }
      std::sort(arrows.begin(), arrows.end());
      return arrows;
    };
    ASSERT_EQ(arrows_of(trace), BoundByTheRules(ranges)) << Joined(events);
  }
}

// Two ranges at one time: a start before an end, and none leads to itself.
TEST(ChromePairs, OfARangeThatAnArrowReachesAndLeavesLeadNotToItself) {
  const auto range = [](int tid, const char* binding) {
    return "{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":" + std::to_string(tid) +
           ",\"ts\":5,\"dur\":1,\"bind_id\":\"0x1\"" + binding + "}";
  };
  const Trace trace = ReadEvents(Joined({range(1, ",\"flow_in\":true,\"flow_out\":true"),
                                         range(2, ",\"flow_out\":true"), range(3, ",\"flow_in\":true")}));
  Lines arrows;
  for (size_t i = 0; i < trace.flows().size(); ++i) {
    const auto tid_of = [&](TrackId track) { return std::to_string(trace.tracks().tid[Row(track)]); };
    arrows.push_back(tid_of(trace.flows().start_track[i]) + " " + tid_of(trace.flows().end_track[i]));
  }
  EXPECT_EQ(arrows, (Lines{"2 1", "1 3"}));
}

// Ranges that are alone on their track stand in order of time, those of the file in another one.
TEST(ChromePairs, OutOfOrderKeepTheirArrowsAndSteps) {
  const std::string step = ",\"cat\":\"user_annotation\"", from = step + ",\"bind_id\":7,\"flow_out\":true";
  const Trace trace =
      ReadEvents(Joined({EventText("B", "ProfilerStep#4", 20, from), EventText("E", "ProfilerStep#4", 30),
                         EventText("B", "ProfilerStep#3", 10, step), EventText("E", "ProfilerStep#3", 15),
                         R"({"ph":"X","name":"to","pid":1,"tid":2,"ts":40,"dur":1,"bind_id":7,"flow_in":true})"}));
  const auto name_of = [&](SpanId span) { return std::string(trace.text(trace.spans().name[Row(span)])); };
  ASSERT_EQ(trace.flows().size(), 1u);
  EXPECT_EQ(name_of(trace.flows().start_span[0]), "ProfilerStep#4");
  EXPECT_EQ(name_of(trace.flows().end_span[0]), "to");
  Lines steps;
  for (size_t i = 0; i < trace.steps().size(); ++i)
    steps.push_back(std::to_string(trace.steps().number[i]) + " " + name_of(trace.steps().span[i]));
  EXPECT_EQ(steps, (Lines{"3 ProfilerStep#3", "4 ProfilerStep#4"}));
}

TEST(ChromePairs, OfOneProcessAreNotPairedAcrossProcesses) {
  const auto at = [](const char* phase, const char* pid, int time) {
    return Point{phase, pid, "c", "", "local", "\"0x1\"", "load", time}.Text();
  };
  const std::string text = Joined({at("b", "1", 0), at("b", "2", 10), at("e", "1", 30), at("e", "2", 100)});
  EXPECT_EQ(AsyncSpansOf(ReadEvents(text)), (Lines{"c load 0 30", "c load 10 100"}));
}

// A search among the open begins of the id would compare names 1,250,000,000 times.
TEST(ChromePairs, OfOneIdMayEndInTheOrderInWhichTheyBegan) {
  constexpr int kRanges = 50'000;
  const auto at = [](const char* phase, int range, int time) {
    return Point{phase, "1", "c", "", "id", "7", "n" + std::to_string(range), time}.Text();
  };
  Lines events(2 * kRanges), expected;
  for (int i = 0; i < kRanges; ++i) {
    events[static_cast<size_t>(i)] = at("b", i, i);
    events[static_cast<size_t>(kRanges + i)] = at("e", i, kRanges + i);
    expected.push_back("c n" + std::to_string(i) + " " + std::to_string(i) + " " + std::to_string(kRanges + i));
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(AsyncSpansOf(ReadEvents(Joined(events))), expected);
}

}  // namespace
}  // namespace opscope
