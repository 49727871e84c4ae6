// Rows that are no valid JSON cost themselves and nothing else, in every list of rows of every format: of a document in
// which one row is damaged in the ways of real writers, or at random, the Trace is that of the document without the
// row, and one problem says where the row began.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "import/importer.h"
#include "import/text/faults_for_test.h"
#include "import/text/tiny_pieces_for_test.h"
#include "opscope/import.h"
#include "trace/builder.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

using ProblemCounts = std::map<std::string, uint64_t>;

// `@` stands for three rows, # for a number of its own. The members that faults look for are given the names of the
// format: a text, a number and anything.
struct List {
  const char* name;
  const char* document;
  const char* row;
  const char *text = "\"name\"", *number = "\"pid\"", *any = "\"args\"";
};

#define LISTS "\"l\":[[2,4],[]],\"o\":[{\"f\":[1]},{\"g\":2}]"
#define PRETTY_LISTS "\n\"l\": [[2, 4], [[3], [3]], []]"

const List kLists[] = {
    {"ExecutionTrace", R"({"schema":"1.1.0-chakra.0.0.4","pid":3,"nodes":[@],"finish_ts":5})",
     R"({"id":#,"name":"aten::op#","ctrl_deps":1,"inputs":{"values":[],"shapes":[],"types":[],"strides":[]},)" LISTS
     R"(,"attrs":[{"name":"rf_id","type":"uint64","value":#},{"name":"tid","type":"uint64","value":1}]})",
     "\"name\"", "\"id\"", "\"inputs\""},
    {"ExecutionTracePretty", "{\n  \"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 3,\n  \"nodes\": [\n    @\n  ]\n}\n",
     "{\n      \"id\": #, \"name\": \"aten::op#\", \"ctrl_deps\": 1,\n      \"inputs\": {\"values\": [], \"shapes\": "
     "[], "
     "\"types\": [], \"strides\": []}," PRETTY_LISTS
     ",\n      \"attrs\": [{\"name\": \"tid\", \"type\": \"uint64\", \"value\": 1}]\n    }",
     "\"name\"", "\"id\"", "\"inputs\""},
    {"ExecutionTraceOld", R"({"schema": "1.0.1", "pid": 7, "nodes": [@]})",
     R"({"name": "aten::op#", "id": #, "parent": 1, "tid": 1, "inputs": [], "input_shapes": [], "input_types": []})",
     "\"name\"", "\"id\"", "\"inputs\""},
    {"Actions",
     R"({"segments":[],"device_traces":[[@],[],[@],[@]],"allocator_settings":{"a":[1]},"external_annotations":[]})",
     R"({"action":"alloc","addr":4096#,"size":8#,"stream":0,"time_us":7#,)" LISTS
     R"(,"frames":[{"filename":"a.py","line":3,"name":"f"},{"filename":"b.py","line":#,"name":"g"}]})",
     "\"action\"", "\"addr\"", "\"frames\""},
    {"ActionsSorted", R"({"allocator_settings": {}, "device_traces": [[@], [@]], "segments": []})",
     R"({"action": "alloc", "addr": 4096#, "frames": [{"filename": "a.py", "line": #, "name": "f"}], )" PRETTY_LISTS
     R"(, "size": 8#, "time_us": 7#})",
     "\"action\"", "\"addr\"", "\"frames\""},
    {"Segments", R"({"segments":[@],"device_traces":[[{"action":"alloc","addr":5,"size":6,"time_us":7}]]})",
     R"({"device":0,"address":#,"total_size":4096,"segment_type":"small","is_expandable":false,)" LISTS
     R"(,"frames":[],"blocks":[{"address":#,"size":64,"requested_size":#,"state":"active_allocated",)"
     R"("frames":[{"filename":"a.py","line":3,"name":"f"}]},{"address":9,"size":8,"state":"inactive","frames":[]}]})",
     "\"segment_type\"", "\"address\"", "\"frames\""},
    {"SegmentsAlone", R"([@])",
     R"({"device": 0, "address": #, "total_size": 4096, "segment_type": "small", )" PRETTY_LISTS
     R"(, "blocks": [{"size": 64#, "state": "active_allocated", "history": [{"addr": 4, "real_size": #, "frames": []}]}]})",
     "\"segment_type\"", "\"address\"", "\"blocks\""},
    {"Blocks",
     R"({"segments":[{"device":0,"address":1,"total_size":4096,"blocks":[@]},{"device":1,"address":2,"total_size":4096,)"
     R"("blocks":[@]}],"device_traces":[[{"action":"alloc","addr":5,"size":6,"time_us":7}]],"allocator_settings":{}})",
     R"({"address":#,"size":64,"requested_size":#,"state":"active_allocated",)" LISTS
     R"(,"frames":[{"filename":"a.py","line":3,"name":"f"}]})",
     "\"state\"", "\"address\"", "\"frames\""},
    {"BlocksSorted",
     R"({"segments": [{"address": 1, "blocks": [@], "device": 0, "frames": [], "total_size": 4096}, )"
     R"({"address": 2, "blocks": [@], "device": 1, "frames": [], "total_size": 4096}]})",
     R"({"address": #, "frames": [{"filename": "a.py", "line": 3, "name": "f"}], "requested_size": #, "size": 64, )" PRETTY_LISTS
     R"(, "state": "active_allocated"})",
     "\"state\"", "\"address\"", "\"frames\""},
    {"Annotations",
     R"({"segments":[],"device_traces":[[{"action":"alloc","addr":5,"size":6,"time_us":7}]],"external_annotations":[@]})",
     R"({"stage":"START","name":"range#","device":0,"time_us":#,)" LISTS "}", "\"name\"", "\"device\"", "\"stage\""},
    {"GraphDevice", R"~({"profiler":{"device":{@},"host":{@}},"graph_exec":{"operator":{},"var":{}}})~",
     R"~("#":{"CompNode(\"gpu0:0\" from \"xpux:0\")":{"start":0.1#,"kern":0.2#,"end":0.3#}})~", "\"start\"", "\"kern\"",
     "\"end\""},
    {"GraphPlaces",
     R"({"profiler":{"device":{"6":{@},"7":{@}},"opr_footprint":{}},"graph_exec":{"operator":{"6":{"type":"Conv"}}}})",
     R"~("CompNode(\"gpu#:0\")":{"end":0.3#,"kern":0.2#,"start":0.1#})~", "\"start\"", "\"kern\"", "\"end\""},
    {"GraphFootprints",
     R"({"graph_exec":{"operator":{}},"profiler":{"opr_footprint":{@},"host":{"1":{"a":{"start":1,"kern":2,"end":3}}}}})",
     R"("#":{"computation":5,"in_shapes":[[2, 4],[3]],"memory":#,"param":{"mode":"a"}})", "\"mode\"", "\"memory\"",
     "\"param\""},
    {"GraphOperators",
     "{\n  \"graph_exec\": {\n    \"comp_seq\": [\"1\"],\n    \"operator\": {@},\n    \"var\": {}\n  },\n"
     "  \"profiler\": {\"host\": {\"1\": {\"a\": {\"start\": 1, \"kern\": 2, \"end\": 3}}}}\n}",
     "\"#\": {\"type\": \"Op#\", \"id\": \"#\", \"name\": \"op#\",\n  \"input\": [\"1\"], \"output\": [\"2\"]}",
     "\"type\"", "\"id\"", "\"input\""},
    {"GraphVariables",
     R"({"graph_exec":{"var":{@},"operator":{"1":{"type":"Conv"}}},"profiler":{"host":{"1":{"a":{"start":1,"end":3}}}}})",
     R"("#":{"comp_node":"c#","prev_dev_ptr":4#,"mem_plan":{"layout":{"dtype":"Float32","shape":[2,4]}}})",
     "\"comp_node\"", "\"prev_dev_ptr\"", "\"mem_plan\""},
};

std::string WithNumber(std::string text, size_t number) {
  for (size_t at = text.find('#'); at != std::string::npos; at = text.find('#'))
    text.replace(at, 1, std::to_string(number));
  return text;
}

// A document with its rows apart.
struct RowDocument {
  std::vector<std::string> pieces;  // the odd ones are rows
  size_t rows() const { return pieces.size() / 2; }
  std::string& row(size_t i) { return pieces[2 * i + 1]; }
  std::string text() const {
    std::string all;
    for (const std::string& piece : pieces)
      all += piece;
    return all;
  }
  size_t OffsetOf(size_t row) const {
    size_t offset = 0;
    for (size_t i = 0; i < 2 * row + 1; ++i)
      offset += pieces[i].size();
    return offset;
  }
};

RowDocument Written(const List& list, std::mt19937* random) {
  constexpr const char* kSeparators[] = {",", ",\n  ", " , "};
  RowDocument document{{""}};
  for (const char c : std::string_view(list.document)) {
    if (c != '@') {
      document.pieces.back() += c;
      continue;
    }
    for (int i = 0; i < 3; ++i) {
      if (i != 0) document.pieces.back() += kSeparators[(*random)() % std::size(kSeparators)];
      document.pieces.push_back(WithNumber(list.row, 10 + document.rows()));
      document.pieces.emplace_back();
    }
  }
  return document;
}

std::string Damaged(const List& list, const std::string& row, const Fault& fault) {
  const auto translated = [&](std::string text) {
    for (const auto& [from, to] :
         {std::pair{"\"name\"", list.text}, {"\"pid\"", list.number}, {"\"args\"", list.any}}) {
      const size_t at = text.find(from);
      if (at != std::string::npos) text.replace(at, std::string_view(from).size(), to);
    }
    return text;
  };
  return Replaced(row, translated(fault.from), translated(fault.to));
}

Result<Trace> ImportDocument(const std::string& text) {
  return ImportBytes(std::as_bytes(std::span(text)), "trace.json");
}

// Without metadata, which are the last: the graph as a whole is one, if it is whole.
std::string Rows(const Trace& trace) {
  const std::string dump = ToDebugText(trace, {.info = false, .problems = false});
  return dump.substr(0, dump.find("metadata "));
}

ProblemCounts CountsOf(const Trace& trace) {
  ProblemCounts counts;
  for (size_t i = 0; i < trace.problems().size(); ++i)
    counts[std::string(trace.text(trace.problems().kind[i]))] = trace.problems().count[i];
  return counts;
}

int64_t OffsetOf(const Trace& trace, std::string_view kind) {
  for (size_t i = 0; i < trace.problems().size(); ++i) {
    if (trace.text(trace.problems().kind[i]) == kind) return trace.problems().first_offset[i];
  }
  return -1;
}

// The Trace of `damaged` against that of the document without the damaged rows.
void ExpectOnly(const RowDocument& damaged, const RowDocument& without, size_t first, uint64_t faults) {
  const std::string text = damaged.text();
  const Result<Trace> trace = ImportDocument(text), expected = ImportDocument(without.text());
  ASSERT_TRUE(expected.ok()) << expected.error().message << "\n" << without.text();
  ASSERT_TRUE(trace.ok()) << trace.error().message << "\n" << text;
  EXPECT_EQ(Rows(trace.value()), Rows(expected.value())) << text;
  EXPECT_EQ(trace.value().info().format, expected.value().info().format) << text;
  ProblemCounts counts = CountsOf(expected.value());
  counts["faulty_event"] = faults;
  EXPECT_EQ(CountsOf(trace.value()), counts) << text;
  // In a row of the graph's device or host the row of a place stands.
  const bool is_at_place = text.starts_with("{\"profiler\":{\"device\":{\"10\":{");
  const auto row = static_cast<int64_t>(damaged.OffsetOf(first));
  const int64_t offset = OffsetOf(trace.value(), "faulty_event"), place = row + (is_at_place ? 6 : 0);
  EXPECT_TRUE(offset == row || offset == place) << offset << "\n" << text;
  EXPECT_TRUE(trace.value().is_partial());
}

class RowFaults : public testing::TestWithParam<List> {};

TEST_P(RowFaults, OfEveryKindCostTheirRowAlone) {
  std::mt19937 random(1);
  size_t kinds = 0;
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    const RowDocument whole = Written(GetParam(), &random);
    for (size_t i = 0; i < whole.rows() && !HasFailure(); ++i) {
      RowDocument damaged = whole, without = whole;
      damaged.row(i) = Damaged(GetParam(), damaged.row(i), fault);
      without.row(i).clear();
      if (damaged.row(i) == Written(GetParam(), &random).row(i)) continue;
      ExpectOnly(damaged, without, i, 1);
      kinds += i == 0 ? 1 : 0;
    }
  }
  EXPECT_GT(kinds, 15u);
}

TEST_P(RowFaults, InARowAreCountedOneByOne) {
  std::mt19937 random(2);
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    RowDocument damaged = Written(GetParam(), &random), without = damaged;
    for (const size_t i : {size_t{1}, size_t{2}}) {
      damaged.row(i) = Damaged(GetParam(), damaged.row(i), fault);
      if (damaged.row(i) == without.row(i)) break;
      without.row(i).clear();
    }
    if (without.row(2).empty() && !HasFailure()) ExpectOnly(damaged, without, 1, 2);
  }
}

// Behind such a cut the rows that follow can be read as a part of it.
bool SeemsToGoOn(std::string_view list, const std::string& row) {
  const auto open = [&](char opening, char closing) {
    return std::count(row.begin(), row.end(), opening) - std::count(row.begin(), row.end(), closing);
  };
  return open('[', ']') != 0 || (list.starts_with("Graph") && open('{', '}') > (list == "GraphDevice" ? 2 : 1));
}

// A row that was cut off anywhere, as by a full disk or a writer that was killed and went on.
TEST_P(RowFaults, OfRowsThatEndEarlyCostThemAlone) {
  std::mt19937 random(3);
  const RowDocument whole = Written(GetParam(), &random);
  for (size_t i = 0; i + 1 < whole.rows(); ++i) {
    for (size_t size = 1; size + 1 < WithNumber(GetParam().row, 10).size() && !HasFailure(); ++size) {
      RowDocument damaged = whole, without = whole;
      damaged.row(i).resize(size);
      if (SeemsToGoOn(GetParam().name, damaged.row(i))) continue;
      without.row(i).clear();
      if (i % 3 != 2) ExpectOnly(damaged, without, i, 1);  // a row of the same list follows
    }
  }
}

TEST_P(RowFaults, ThatLoseNothingAreNone) {
  std::mt19937 random(4);
  const RowDocument whole = Written(GetParam(), &random);
  const Result<Trace> expected = ImportDocument(whole.text());
  ASSERT_TRUE(expected.ok());
  for (const auto& [before, between, behind] :
       {std::tuple{",", ",", ""}, {"", ",", ","}, {"", " ", ""}, {"", ",,", ""}}) {
    RowDocument other = whole;
    for (size_t i = 0; i < other.rows(); ++i) {
      other.row(i) = (i % 3 == 0 ? before : "") + other.row(i) + (i % 3 == 2 ? behind : "");
      if (i % 3 != 2) other.pieces[2 * i + 2] = between;
    }
    const Result<Trace> trace = ImportDocument(other.text());
    ASSERT_TRUE(trace.ok()) << trace.error().message << other.text();
    EXPECT_EQ(Rows(trace.value()), Rows(expected.value())) << other.text();
    EXPECT_EQ(CountsOf(trace.value()), CountsOf(expected.value())) << other.text();
  }
}

std::string OutcomeOf(Status (*importer)(TextSource*, std::string_view, const ImportOptions&, TraceBuilder*),
                      TextSource* text) {
  TraceBuilder builder;
  const Status status = importer(text, "input", {}, &builder);
  return status.ok() ? ToDebugText(builder.Build()) : status.error().message;
}

// Any byte replaced, taken out or put in: the Trace does not depend on the pieces in which the text comes.
TEST_P(RowFaults, AreTheSameHoweverTheTextComes) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string_view name = GetParam().name;
  const auto importer = name.starts_with("Graph")       ? ImportMegEngineGraph
                        : name.starts_with("Execution") ? ImportExecutionTrace
                                                        : ImportMemorySnapshotJson;
  for (int round = 0; round < 300; ++round) {
    RowDocument document = Written(GetParam(), &random);
    for (size_t i = 0; i < document.rows(); ++i) {
      if (random() % 4 == 0)
        document.row(i) = Damaged(GetParam(), document.row(i), kFaults[random() % std::size(kFaults)]);
    }
    std::string text = document.text();
    if (round % 2 == 0) text[random() % text.size()] = "{}[],:\"1\\"[random() % 9];
    if (round % 8 == 0) text.resize(random() % text.size());
    PlainText plain(std::as_bytes(std::span(text)));
    TinyText tiny(text);
    ASSERT_EQ(OutcomeOf(importer, &tiny), OutcomeOf(importer, &plain)) << text;
  }
}

// Rows that are lists of numbers.
struct NumberFault {
  const char* name;
  const char* row;  // in place of `[#,2,64,3]`
};

constexpr NumberFault kNumberFaults[] = {
    {"hexadecimal number", "[0x7f,2,64,3]"},
    {"None", "[5,None,64,3]"},
    {"zeros in front", "[007,2,64,3]"},
    {"no zero in front", "[.5,2,64,3]"},
    {"plus sign", "[+5,2,64,3]"},
    {"missing comma", "[5 2,64,3]"},
    {"missing comma, last", "[5,2,64 3]"},
    {"two commas", "[5,,2,64,3]"},
    {"quote", "[5,\"2,64,3]"},
    {"missing bracket", "[5,2,64,3"},
    {"cut", "[5,2,"},
    {"no bracket in front", "5,2,64,3]"},
    {"number that ends early", "[5.,2,64,3]"},
    {"address", "[<0x7f>,2,64,3]"},
    {"brace", "[5,2,{64,3]"},
    {"last None", "[5,2,64,None]"},
};

void ExpectOnlyNumbers(const std::string& before, const std::string& row, const std::string& after,
                       const std::string& without) {
  const std::string text = before + row + after;
  const Result<Trace> trace = ImportDocument(text), expected = ImportDocument(without);
  ASSERT_TRUE(trace.ok()) << trace.error().message << "\n" << text;
  ASSERT_TRUE(expected.ok()) << expected.error().message << "\n" << without;
  EXPECT_EQ(Rows(trace.value()), Rows(expected.value())) << text;
  EXPECT_EQ(CountsOf(trace.value()), (ProblemCounts{{"faulty_event", 1}})) << text;
  EXPECT_EQ(OffsetOf(trace.value(), "faulty_event"), static_cast<int64_t>(before.size())) << text;
  for (const std::string& again : {text, text.substr(0, text.size() - 1)}) {
    PlainText plain(std::as_bytes(std::span(again)));
    TinyText tiny(again);
    EXPECT_EQ(OutcomeOf(ImportMemoryTimeline, &tiny), OutcomeOf(ImportMemoryTimeline, &plain)) << again;
  }
}

TEST(MemoryTimelineFaults, CostTheirRowAlone) {
  for (const NumberFault& fault : kNumberFaults) {
    SCOPED_TRACE(fault.name);
    const std::string rows[] = {"[1000,2,64,3]", "[1001,2,128,4]", "[1002,4,-64,3]"};
    for (const char* comma : {",", ", ", "\n,\n"}) {
      const std::string a = rows[0] + comma, b = rows[1] + comma, row = fault.row;
      const bool is_cut = !row.ends_with(']') || row.find('"') != std::string::npos;
      ExpectOnlyNumbers("[" + a, row, comma + b + rows[2] + "]", "[" + a + b + rows[2] + "]");
      if (!is_cut) ExpectOnlyNumbers("[" + a + rows[1] + comma, row, "]", "[" + a + rows[1] + "]");
      if (row[0] != '[' || row.size() < 5) continue;
      ExpectOnlyNumbers("[", row, comma + a + rows[1] + "]", "[" + a + rows[1] + "]");
    }
  }
}

TEST(MemoryTimelineFaults, CostTheirSampleAlone) {
  const auto sample = [](const char* numbers) { return std::string("[0,") + numbers + ",5,6,7,8]"; };
  for (const char* numbers : {"1,None,3,4", "0x1,2,3,4", "1 2,3,4", "1,,2,3,4", "007,2,3,4", "1,\"2,3,4"}) {
    const std::string a = sample("1,2,3,4"), b = sample("2,2,3,4"), row = sample(numbers);
    ExpectOnlyNumbers("[[10,20,30],[" + a + ",", row, "," + b + "]]", "[[10,30],[" + a + "," + b + "]]");
    if (row.find('"') != std::string::npos) continue;  // the text ends within it
    ExpectOnlyNumbers("[[10,20,30],[" + a + "," + b + ",", row, "]]", "[[10,20],[" + a + "," + b + "]]");
  }
}

TEST(MemoryTimelineFaults, OfATimeCostItsSampleAlone) {
  const std::string a = "[0,1,2,3,4,5,6,7,8]", b = "[0,9,2,3,4,5,6,7,8]", c = "[0,5,5,5,5,5,6,7,8]";
  for (const char* time : {"None", "0x14", "020", ".5", "2 0", "+20", "<20>"}) {
    SCOPED_TRACE(time);
    ExpectOnlyNumbers("[[10,", time, ",30],[" + a + "," + b + "," + c + "]]", "[[10,30],[" + a + "," + c + "]]");
    ExpectOnlyNumbers("[[10,20,", time, "],[" + a + "," + b + "," + c + "]]", "[[10,20],[" + a + "," + b + "]]");
  }
}

TEST(MemoryTimelineFaults, ThatLoseNothingAreNone) {
  for (const char* text : {"[,[1000,2,64,3],[1001,2,64,3]]", "[[1000,2,64,3] [1001,2,64,3]]",
                           "[[1000,2,64,3],[1001,2,64,3],]", "[[1000,2,64,3,],,[1001,2,64,3]]"}) {
    const Result<Trace> trace = ImportDocument(text);
    ASSERT_TRUE(trace.ok()) << trace.error().message << text;
    EXPECT_EQ(trace.value().allocations().size(), 2u) << text;
    EXPECT_EQ(CountsOf(trace.value()), ProblemCounts()) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RowFaults, testing::ValuesIn(kLists),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace opscope
