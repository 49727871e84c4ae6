// Members of a MegEngine timeline's events are there again after it was read and exported, however odd they are, or a
// problem counts them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "opscope/export/formats.h"
#include "opscope/import.h"

namespace opscope {
namespace {

using simdjson::dom::element;
using Members = std::map<std::string, std::string>;  // values as JSON

struct Range {
  std::string name;
  Members members;
};
using Ranges = std::map<int64_t, Range>;  // by the begin in microseconds: each has its own

Members MembersOf(element event) {
  Members members;
  simdjson::dom::object args;
  if (event["args"].get(args) != simdjson::SUCCESS) return members;
  for (const auto& [key, value] : args)
    members[std::string(key)] = simdjson::minify(value);
  return members;
}

std::string TextOf(element event, const char* key) {
  std::string_view text;
  return event[key].get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

int64_t TimeOf(element event) {
  return std::llround(double(event["ts"]));
}

// Ranges and instants. What an end says joins what its begin says; of two values of a member the end's is kept, and
// `replaced` counts the other one.
Ranges RangesOf(const std::string& json, uint64_t* replaced) {
  simdjson::dom::parser parser;
  Ranges ranges;
  std::map<std::string, std::vector<int64_t>> open;
  const element document = parser.parse(json);
  for (const element event : document["traceEvents"]) {
    const std::string phase = TextOf(event, "ph");
    if (TextOf(event, "cat") == "profiler_step") continue;  // opscope's own
    const std::string tid = simdjson::minify(event["tid"].value());
    if (phase == "B" || phase == "X" || phase == "i") {
      ranges[TimeOf(event)] = {TextOf(event, "name"), MembersOf(event)};
      if (phase == "B") open[tid].push_back(TimeOf(event));
    } else if (phase == "E") {
      Members& members = ranges[open[tid].back()].members;
      open[tid].pop_back();
      for (const auto& [key, value] : MembersOf(event)) {
        const auto [found, added] = members.try_emplace(key, value);
        *replaced += !added && found->second != value ? 1 : 0;
        found->second = value;
      }
    }
  }
  return ranges;
}

// Timelines whose events lack members, have wrong ones, and contradict each other and their names.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::string Timeline() {
    text_ = R"({"traceEvents":[{"args":{"value":0.0},"name":"train_time_ratio","ph":"C","pid":7,"tid":0,"ts":0.0})";
    for (int i = 0; i < 12; ++i)
      AddRange(Draw(3), 2);
    for (int tid = 0; tid < 3; ++tid) {
      const char* names[] = {"worker", "interpreter", "xpux:0"};
      Add("M", "thread_name", tid, std::string(R"("name":")") + names[tid] + '"');
    }
    return text_ + R"(],"metadata":{"localTime":"1795216449185312847"}})";
  }

 private:
  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  template <size_t N>
  std::string Pick(const char* const (&of)[N]) {
    return of[Draw(N)];
  }

  void Add(const char* phase, const std::string& name, uint32_t tid, const std::string& args,
           const std::string& rest = "") {
    text_ += std::string(R"(,{"ph":")") + phase + R"(","name":")" + name + R"(","pid":7,"tid":)" + std::to_string(tid) +
             R"(,"ts":)" + std::to_string(++time_) + rest + (args.empty() ? "" : R"(,"args":{)" + args + "}") + "}";
  }

  std::string Args() {
    static const char* const keys[] = {"id",          "name", "device", "dtype",      "nr_elements",
                                       "shape",       "kind", "__id__", "__name__",   "__device__",
                                       "living_time", "odd",  "id",     "nr_elements"};
    static const char* const values[] = {"0",
                                         "7",
                                         "3",
                                         "8",
                                         "-1",
                                         "1.5",
                                         "4294967296",
                                         "77",
                                         "null",
                                         "true",
                                         "[1,2]",
                                         R"({"a":1})",
                                         R"("w")",
                                         R"("ADD")",
                                         R"("{2,3}")",
                                         R"("{2,-3}")",
                                         R"("{02,3}")",
                                         R"("QuintS4")",
                                         R"("Float32")",
                                         R"("1.5 ms")",
                                         R"x("CompNode(\"cpu0:0\" from \"xpux:0\")")x",
                                         R"x("CompNode(\"gpu9:9\" from \"xpux:9\")")x",
                                         R"("")"};
    std::map<std::string, std::string> members;
    for (uint32_t i = Draw(6); i > 0; --i)
      members[Pick(keys)] = Pick(values);
    if (Draw(2) == 0) {
      members["dtype"] = Draw(3) == 0 ? R"("QuintS4")" : R"("Float32")";
      members["shape"] = Draw(3) == 0 ? R"("{2,-3}")" : Draw(2) == 0 ? R"("{2,3}")" : R"("{4}")";
    }
    std::string text;
    for (const auto& [key, value] : members)
      text += (text.empty() ? "\"" : ",\"") + key + "\":" + value;
    return text;
  }

  // Kineto's form of "Input 0" is "Input" with the id 0.
  std::string ArgsOf(const std::string& name) {
    std::string args = Args();
    const size_t zero = args.find("\"id\":0");
    if (zero != std::string::npos && name.find(' ') == std::string::npos) args[zero + 5] = '9';
    return args;
  }

  void AddRange(uint32_t tid, int depth) {
    static const char* const names[] = {"Input 7",  "Input 007",  "Input 0",        "Input", "Input x",
                                        "Output 8", "Put 3",      "Del 3",          "ADD",   "GetValue 4294967296",
                                        "Put",      "OpDispatch", "TensorWaitProp", "w",     "Output 4294967295"};
    const std::string rest = tid == 2 && Draw(2) == 0 ? R"(,"cat":"Kernel")" : "";
    if (Draw(8) == 0) return Add("X", "TensorGetProp", tid, Args(), R"(,"dur":0)");
    if (Draw(8) == 0) return Add("i", "StopStep", tid, Args());
    const std::string name = Pick(names), args = ArgsOf(name), others = ArgsOf(name);
    const uint32_t where = Draw(5);
    Add("B", name, tid, where == 0 || where == 1 ? args : where == 2 ? others : "", rest);
    if (depth > 0 && Draw(3) == 0) AddRange(tid, depth - 1);
    Add("E", name, tid, where == 1 ? "" : args, rest);
  }

  std::mt19937 random_;
  std::string text_;
  int time_ = 0;
};

// The original writes them wrong, and says nothing by them (docs/reference/export_formats.md).
bool SaysNothing(const std::string& key, const std::string& value) {
  return key == "__device__" && value == R"("invalid")";
}

// In Kineto's form numbers and layouts have members of their own.
bool IsInKinetosForm(const std::string& key, const std::string& value, const Members& members) {
  const auto is = [&](const char* name, const std::string& wanted) {
    const auto found = members.find(name);
    return found != members.end() && found->second == wanted;
  };
  if (key == "__id__") return is("External id", value);
  if (key == "dtype") return is("Input type", "[" + value + "]");
  if (key == "shape" && value.size() > 4) return is("Input Dims", "[[" + value.substr(2, value.size() - 4) + "]]");
  return false;
}

bool IsNameKept(const Range& read, const Range& written) {
  if (read.name == written.name) return true;
  const size_t blank = read.name.find(' ');
  if (blank == std::string::npos || read.name.substr(0, blank) != written.name) return false;
  const std::string number = read.name.substr(blank + 1);
  const auto id = written.members.find("External id");
  if (id != written.members.end()) return id->second == number;
  return number == "0" && written.members.contains("id");
}

uint64_t CountOf(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    if (trace.text(trace.problems().kind[i]) == kind) return trace.problems().count[i];
  }
  return 0;
}

void ExpectMembers(const Ranges& read, const std::string& json, bool is_kinetos) {
  uint64_t replaced = 0;
  const Ranges written = RangesOf(json, &replaced);
  EXPECT_EQ(replaced, 0u);
  for (const auto& [time, range] : read) {
    SCOPED_TRACE("at " + std::to_string(time) + ", " + range.name);
    const auto found = written.find(time);
    ASSERT_NE(found, written.end());
    EXPECT_TRUE(is_kinetos ? IsNameKept(range, found->second) : range.name == found->second.name) << found->second.name;
    for (const auto& [key, value] : range.members) {
      if (SaysNothing(key, value) || (is_kinetos && IsInKinetosForm(key, value, found->second.members))) continue;
      const auto member = found->second.members.find(key);
      ASSERT_NE(member, found->second.members.end()) << key << ": " << value;
      EXPECT_EQ(member->second, value) << key;
    }
  }
}

std::string BytesOf(const Trace& trace, ExportFormat format) {
  auto exported = ExportToBytes(trace, format);
  EXPECT_TRUE(exported.ok());
  return exported.ok() ? exported.value().bytes : "";
}

Trace Read(const std::string& text) {
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "timeline");
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

class OddMegEngineMembers : public testing::TestWithParam<uint32_t> {};

TEST_P(OddMegEngineMembers, AreThereAfterEachExportOrCounted) {
  const std::string text = Generator(GetParam()).Timeline();
  SCOPED_TRACE(text);
  uint64_t replaced = 0;
  const Ranges read = RangesOf(text, &replaced);
  const Trace trace = Read(text);
  EXPECT_EQ(CountOf(trace, "bad_value"), replaced);
  const std::string chrome = BytesOf(trace, ExportFormat::kChrome);
  const std::string timeline = BytesOf(trace, ExportFormat::kMegEngineChrome);
  ExpectMembers(read, chrome, true);
  ExpectMembers(read, timeline, false);
  ExpectMembers(read, BytesOf(Read(timeline), ExportFormat::kMegEngineChrome), false);
  ExpectMembers(read, BytesOf(Read(chrome), ExportFormat::kChrome), true);
  ExpectMembers(read, BytesOf(Read(chrome), ExportFormat::kMegEngineChrome), false);
}

INSTANTIATE_TEST_SUITE_P(Seeds, OddMegEngineMembers, testing::Range(0u, 300u));

constexpr char kBegin[] = R"({"metadata":{"localTime":"1795216449185312847"},"traceEvents":[)";

TEST(OddMegEngineMembers, MakeNoTensorOfARangeThatSaysNothingOfOne) {
  const Trace trace = Read(std::string(kBegin) +
                           R"({"ph":"B","name":"Put 3","pid":7,"tid":0,"ts":1},{"ph":"E","pid":7,"tid":0,"ts":2}]})");
  EXPECT_EQ(trace.tensor_lives().size(), 0u);
  EXPECT_EQ(trace.spans().external_id[0], 3u);
}

TEST(OddMegEngineMembers, LeaveTheCountOfElementsAsTheFileSaysIt) {
  const Trace trace = Read(
      std::string(kBegin) +
      R"({"ph":"B","name":"Input 5","pid":7,"tid":0,"ts":1,"args":{"id":5,"dtype":"QuintS4","shape":"{2,3}","nr_elements":77}},)"
      R"({"ph":"E","name":"Input 5","pid":7,"tid":0,"ts":2}]})");
  for (const ExportFormat format : {ExportFormat::kChrome, ExportFormat::kMegEngineChrome})
    EXPECT_NE(BytesOf(trace, format).find("\"nr_elements\": 77"), std::string::npos);
}

}  // namespace
}  // namespace opscope
