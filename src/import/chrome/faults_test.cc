// Events that are no valid JSON cost themselves and nothing else: good traces in which events are damaged in the ways
// of real writers, and at random, have every other event, one problem for each, and the first offset.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "import/chrome/importer.h"
#include "import/text/compress_for_test.h"
#include "import/text/decompress.h"
#include "import/text/faults_for_test.h"
#include "import/text/pieced_text.h"
#include "opscope/import.h"
#include "trace/builder.h"
#include "trace/debug_text_for_test.h"

namespace opscope {
namespace {

using ProblemCounts = std::map<std::string, uint64_t>;

// How a writer lays out its events; $ is the name, # the time.
constexpr const char* kLayouts[] = {
    R"({"ph":"X","name":"$","pid":1,"tid":2,"ts":#,"dur":1,"args":{"a":1,"l":[[2,4],[]],"o":[{"f":[1]},{"g":2}],"z":"e"}})",
    "{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"$\", \"pid\": 1, \"tid\": 2,\n    \"ts\": #, \"dur\": 1,\n"
    "    \"args\": {\n      \"External id\": 1,\"Input Dims\": [[2, 4], [[3], [3]], []], \"Call stack\": \"a[0;b{;\"\n"
    "    }\n  }",
    R"({ "name": "$", "pid": 1, "tid": 2, "ts": #, "dur": 1, "args": { "place": "Place:cpu", "l": [1, 2] }, "ph": "X" })",
    R"({"args":{"o":[{"name":"in","k":1},{"name":"ph","k":2}],"s":"},{"},"cat":"c","dur":1,"name":"$","ph":"X","pid":1,"tid":2,"ts":#})",
};

struct Document {
  std::string text;
  std::vector<std::string> names;  // of the whole events
  size_t first_fault = std::string::npos;
  uint64_t faults = 0;
};

std::vector<std::string> NamesOf(const Trace& trace) {
  std::vector<std::string> names;
  for (const StringId name : trace.spans().name)
    names.emplace_back(trace.text(name));
  std::sort(names.begin(), names.end());
  return names;
}

ProblemCounts CountsOf(const Trace& trace) {
  ProblemCounts counts;
  for (size_t i = 0; i < trace.problems().size(); ++i)
    counts[std::string(trace.text(trace.problems().kind[i]))] = trace.problems().count[i];
  return counts;
}

Result<Trace> Import(const std::string& text) {
  return ImportBytes(std::as_bytes(std::span(text)), "trace.json");
}

class FaultyWriter {
 public:
  explicit FaultyWriter(std::mt19937* random) : random_(*random) {}

  // damage(event) returns the damaged text, "" to leave it alone.
  template <typename Damage>
  Document Write(size_t events, const Damage& damage) {
    Document document;
    const bool is_array = Pick(2) == 0;
    const char* const layout = kLayouts[Pick(std::size(kLayouts))];
    document.text = is_array ? "[\n  " : "{\"schemaVersion\": 1,\n\"traceEvents\": [\n  ";
    for (size_t i = 0; i < events; ++i) {
      const std::string name = "event " + std::to_string(i);
      std::string event = Replaced(Replaced(layout, "$", name), "#", std::to_string(10 * i));
      const std::string damaged = damage(event);
      if (damaged.empty()) {
        document.names.push_back(name);
      } else {
        document.first_fault = std::min(document.first_fault, document.text.size());
        ++document.faults;
        event = damaged;
      }
      document.text += event + (i + 1 < events ? kSeparators[Pick(std::size(kSeparators))] : "");
    }
    document.text +=
        is_array ? "\n]" : "\n  ],\n  \"traceName\": \"t\", \"list\": [{\"a\": [1]}, {\"b\": \"]}\"}]\n}\n";
    std::sort(document.names.begin(), document.names.end());
    return document;
  }

  size_t Pick(size_t n) { return random_() % n; }

 private:
  static constexpr const char* kSeparators[] = {",", ",\n  ", " , "};
  std::mt19937& random_;
};

void ExpectAllOthers(const Document& document) {
  const Result<Trace> trace = Import(document.text);
  ASSERT_TRUE(trace.ok()) << trace.error().message << "\n" << document.text;
  EXPECT_EQ(NamesOf(trace.value()), document.names) << document.text;
  ProblemCounts problems = CountsOf(trace.value());
  EXPECT_EQ(problems, (ProblemCounts{{"faulty_event", document.faults}})) << document.text;
  EXPECT_TRUE(trace.value().is_partial());
  if (trace.value().problems().size() != 0) {
    EXPECT_EQ(static_cast<size_t>(trace.value().problems().first_offset[0]), document.first_fault) << document.text;
  }
  if (document.text[0] == '{') {
    EXPECT_EQ(trace.value().metadata().size(), 3u) << document.text;  // what stands behind the events, too
  }
}

TEST(ChromeFaults, OfEveryKindCostTheirEventAlone) {
  std::mt19937 random(1);
  FaultyWriter writer(&random);
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    uint64_t seen = 0;
    for (size_t round = 0; round < 40 && !testing::Test::HasFailure(); ++round) {
      size_t number = 0;
      const size_t damaged = writer.Pick(5);
      const Document document = writer.Write(5, [&](const std::string& event) {
        const std::string text = number++ == damaged ? Replaced(event, fault.from, fault.to) : event;
        return text == event ? std::string() : text;
      });
      if (document.faults == 0) continue;  // not in this layout
      ExpectAllOthers(document);
      ++seen;
    }
    EXPECT_GT(seen, 3u);
  }
}

TEST(ChromeFaults, InAnyMixCostTheirEventsAlone) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  FaultyWriter writer(&random);
  for (int round = 0; round < 400 && !testing::Test::HasFailure(); ++round) {
    bool is_behind_one = false;
    const Document document = writer.Write(2 + writer.Pick(20), [&](const std::string& event) {
      const Fault& fault = kFaults[writer.Pick(std::size(kFaults))];
      const std::string text = Replaced(event, fault.from, fault.to);
      // What a stray quote takes in can make whole what another one broke, so two in a row are a test of their own.
      const bool is_damaged = !is_behind_one && writer.Pick(3) == 0 && text != event;
      is_behind_one = is_damaged;
      return is_damaged ? text : std::string();
    });
    if (document.faults != 0 && !document.names.empty()) ExpectAllOthers(document);
  }
}

TEST(ChromeFaults, InARowAreCountedOneByOne) {
  std::mt19937 random(2);
  FaultyWriter writer(&random);
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    for (int round = 0; round < 10 && !testing::Test::HasFailure(); ++round) {
      size_t number = 0;
      const Document document = writer.Write(9, [&](const std::string& event) {
        const bool is_damaged = number % 4 != 0;  // three in a row
        ++number;
        const std::string text = is_damaged ? Replaced(event, fault.from, fault.to) : event;
        return text == event ? std::string() : text;
      });
      if (document.faults != 0) ExpectAllOthers(document);
    }
  }
}

// An event that was cut off anywhere, as by a full disk or a writer that was killed and went on.
TEST(ChromeFaults, OfEventsThatEndEarlyCostThemAlone) {
  std::mt19937 random(3);
  FaultyWriter writer(&random);
  for (size_t size = 1; size < 300; ++size) {
    size_t number = 0;
    const Document document = writer.Write(6, [&](const std::string& event) {
      return number++ == 2 && size < event.size() - 1 ? event.substr(0, size) : std::string();
    });
    if (document.faults != 0) ExpectAllOthers(document);
    if (testing::Test::HasFailure()) break;
  }
}

// Any byte replaced, taken out or put in: of the events, at most the damaged one and a neighbour are lost.
TEST(ChromeFaults, OfAnyByteCostTwoEventsAtMost) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  FaultyWriter writer(&random);
  for (int round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
    size_t number = 0;
    const size_t victim = 1 + writer.Pick(4);
    const Document document = writer.Write(6, [&](std::string event) {
      if (number++ != victim) return std::string();
      const size_t at = writer.Pick(event.size());
      const char byte = "{}:,\"\\x0 \n"[writer.Pick(10)];
      const size_t way = writer.Pick(3);
      if (way == 0) event[at] = byte;
      if (way == 1) event.erase(at, 1);
      if (way == 2) event.insert(at, 1, byte);
      return event;
    });
    const Result<Trace> trace = Import(document.text);
    ASSERT_TRUE(trace.ok()) << trace.error().message << "\n" << document.text;
    const std::vector<std::string> names = NamesOf(trace.value());
    std::vector<std::string> missing;
    std::set_difference(document.names.begin(), document.names.end(), names.begin(), names.end(),
                        std::back_inserter(missing));
    EXPECT_LE(missing.size(), 1u) << document.text;
  }
}

TEST(ChromeFaults, AreTheSameHoweverTheTextComes) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  FaultyWriter writer(&random);
  const auto read = [](TextSource* source, const ChromeBlockSizes& sizes, uint32_t threads) {
    static const ChromeDialects dialects;
    TraceBuilder builder;
    const ImportOptions options{.max_threads = threads};
    const Status status = ImportChromeText(source, "input", options, dialects, sizes, &builder);
    return status.ok() ? ToDebugText(builder.Build()) : status.error().message;
  };
  for (int round = 0; round < 40; ++round) {
    std::string text = writer
                           .Write(1 + writer.Pick(40),
                                  [&](const std::string& event) {
                                    const Fault& fault = kFaults[writer.Pick(std::size(kFaults))];
                                    return writer.Pick(3) == 0 ? Replaced(event, fault.from, fault.to) : "";
                                  })
                           .text;
    if (round % 2 == 0) text[writer.Pick(text.size())] = "{}[],:\"1"[writer.Pick(8)];
    PlainText whole_text(std::as_bytes(std::span(text)));
    const std::string whole = read(&whole_text, {}, 1);
    for (const size_t size : {size_t{1}, size_t{7}, size_t{100}, size_t{1000}, text.size()}) {
      for (const uint32_t threads : {1u, 2u, 3u}) {
        PlainText plain(std::as_bytes(std::span(text)));
        ASSERT_EQ(read(&plain, {size, size}, threads), whole) << size << " bytes, " << threads << " threads\n" << text;
      }
      std::string members;
      for (size_t at = 0; at < text.size(); at += size)
        members += Gzip(text.substr(at, size));
      PiecedText pieces(Decompressed(members, CompressedFormat::kGzip), members.size());
      ASSERT_EQ(read(&pieces, {size, size}, 2), whole) << "pieces of " << size << " bytes\n" << text;
    }
  }
}

std::string Span(const char* name, const char* more = "") {
  return std::string("{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"") + name + "\"" + more + "}";
}

TEST(ChromeFaults, ThatLoseNothingAreNone) {
  const std::string a = Span("a"), b = Span("b");
  const std::string bodies[] = {"," + a + "," + b, a + "," + b + ",",  a + " " + b,
                                a + ",," + b,      "," + a + b + ",,", a + "\n," + b + "\n,\n"};
  for (const std::string& body : bodies) {
    for (const std::string& text : {"[" + body + "]", "{\"traceEvents\":[" + body + "],\"a\":[1,],\"b\":[,2],}"}) {
      const Result<Trace> trace = Import(text);
      ASSERT_TRUE(trace.ok()) << trace.error().message << text;
      EXPECT_EQ(trace.value().spans().size(), 2u) << text;
      EXPECT_EQ(trace.value().problems().size(), 0u) << text;
    }
  }
}

TEST(ChromeFaults, OfCommasInArgumentsAreNoneAndAreNotExported) {
  const Result<Trace> trace =
      Import("[" + Span("a", R"(,"args":{"input_type_shape":[{"float":[1,3]},],"x":[,[1,],{"y":2,},],})") + "]");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().problems().size(), 0u);
  ASSERT_EQ(trace.value().spans().size(), 1u);
  EXPECT_NE(trace.value().spans().args[0], ArgsId::kNone);
  EXPECT_EQ(trace.value().text(trace.value().spans().extra[0]), R"("x": [[1], {"y": 2}])");
}

TEST(ChromeFaults, BetweenEventsLoseNoEvent) {
  const Result<Trace> trace =
      Import("[" + Span("a") + ";" + Span("b") + ", garbage, " + Span("c") + "}, " + Span("d") + "]");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().spans().size(), 4u);
  EXPECT_EQ(CountsOf(trace.value()), (ProblemCounts{{"stray_text", 3}}));
  EXPECT_FALSE(trace.value().is_partial());
}

// torch's add_metadata_json writes what it is given.
TEST(ChromeFaults, OfMetadataBeforeTheEventsCostTheirMembersAlone) {
  for (const char* member :
       {"\"k\": {bad}", "\"k\": \"my \"value\"\"", "\"k\": 0x7f, \"l\": 1", "\"k\" 1", "\"k\": [1, 2", "k: 1"}) {
    const std::string head = "{\"schemaVersion\": 1, ";
    const std::string text = head + member + ", \"traceEvents\": [" + Span("a") + "], \"traceName\": \"t\"}";
    const Result<Trace> trace = Import(text);
    ASSERT_TRUE(trace.ok()) << trace.error().message << text;
    EXPECT_EQ(trace.value().spans().size(), 1u) << text;
    EXPECT_EQ(trace.value().metadata().size(), 2u) << text;
    EXPECT_EQ(CountsOf(trace.value()), (ProblemCounts{{"bad_value", 1}})) << text;
    EXPECT_GE(static_cast<size_t>(trace.value().problems().first_offset[0]), head.size() - 1) << text;
  }
}

TEST(ChromeFaults, WithoutAWholeEventAreAnError) {
  for (const std::string& text :
       {std::string("[{\"ph\":\"X\",\"ts\":0x1}]"), std::string("{\"traceEvents\":[{\"a\":None}]}")}) {
    const Result<Trace> trace = Import(text);
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().message.find("trace.json: at byte "), 0u) << trace.error().message;
  }
}

// What looks like events everywhere, within each other as deep as can be: the search looks at each byte a few times.
TEST(ChromeFaults, AreFoundInLinearTime) {
  std::string nested = Span("a") + ",{\"ph\":0x1,\"b\":[0,";
  for (int i = 0; i < 500; ++i)
    nested += "{\"b\":[0,";
  for (int i = 0; i < 20'000; ++i)
    nested += "{\"b\":1},";
  std::string text = "[" + nested;
  for (int i = 0; i < 40; ++i)
    text += nested;
  text += Span("z") + "]";
  const Result<Trace> trace = Import(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(NamesOf(trace.value()).back(), "z");
}

// Each of them seems to hold all that follow.
TEST(ChromeFaults, OfManyEventsCutWithinAListAreFoundInLinearTime) {
  std::string text = "[";
  for (int i = 0; i < 5000; ++i)
    text += "{\"ph\":\"X\",\"a\":[1," + std::string(i % 100 == 0 ? Span("a") + "," : "");
  text += Span("z") + "]";
  const Result<Trace> trace = Import(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(NamesOf(trace.value()).size(), 51u);
}

}  // namespace
}  // namespace opscope
