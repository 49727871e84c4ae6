// Ids of asynchronous ranges, flows and counters keep what they mean in an exported file.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "opscope/export.h"
#include "opscope/import.h"

namespace opscope {
namespace {

using testing::HasSubstr;

Trace ReadAgain(const std::string& text) {
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "trace.json");
  EXPECT_TRUE(trace.ok()) << text;
  return trace.ok() ? std::move(trace).value() : Trace();
}

std::string Number(int64_t number) {
  return " " + std::to_string(number);
}

// Asynchronous ranges with their ids, arrows by their ends and what their ids mean something within, counters by name
// and process.
std::vector<std::string> RowsOf(const Trace& trace) {
  std::vector<std::string> rows;
  const auto process_of = [&](TrackId track) {
    const uint32_t process = Row(trace.tracks().process[Row(track)]);
    return Number(trace.processes().pid[process]) + std::string(trace.text(trace.processes().pid_text[process]));
  };
  const AsyncSpanColumns& spans = trace.async_spans();
  for (size_t i = 0; i < spans.size(); ++i) {
    rows.push_back(std::string(trace.text(spans.name[i])) + " " + std::string(trace.text(spans.id[i])) +
                   process_of(spans.track[i]) + Number(spans.start[i].ns) + Number(spans.duration[i].ns));
  }
  const FlowColumns& flows = trace.flows();
  for (size_t i = 0; i < flows.size(); ++i)
    rows.push_back("arrow" + process_of(flows.start_track[i]) + Number(flows.start_time[i].ns) +
                   process_of(flows.end_track[i]) + Number(flows.end_time[i].ns) + " " +
                   std::string(trace.text(flows.id_scope[i])));
  const CounterColumns& counters = trace.counters();
  for (size_t i = 0; i < counters.size(); ++i) {
    rows.push_back(std::string(trace.text(counters.name[i])) + process_of(counters.track[i]) +
                   Number(counters.time[i].ns) + Number(static_cast<int64_t>(counters.value[i])));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::string RandomEvents(std::mt19937_64* random) {
  const auto pick = [random](const std::vector<const char*>& texts) { return texts[(*random)() % texts.size()]; };
  std::string text = "[";
  for (int time = 0; time < 20; ++time) {
    const std::string name = pick({"m", "n"});
    text += (time == 0 ? "" : ",\n") + std::string("{\"ph\":\"") + pick({"b", "e", "s", "t", "f", "C"}) +
            "\",\"cat\":\"c\",\"name\":\"" + name + "\",\"pid\":" + pick({"1", "2", "\"Main\""}) +
            ",\"tid\":1,\"ts\":" + std::to_string(time) + "," +
            pick({"\"id\":7", "\"id\":\"a\\\"b\"", "\"id2\":{\"local\":7}", "\"id2\":{\"global\":\"0x8\"}"}) +
            pick({"", "", ",\"scope\":\"net\"", ",\"scope\":\"a\\\"b\\u00e9\""}) +
            ",\"args\":{\"v\":" + std::to_string(time) + "}}";
  }
  return text + "]";
}

TEST(ChromeIds, MeanTheSameInAFileThatIsReadAgain) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000 && !testing::Test::HasFailure(); ++round) {
    const std::string text = RandomEvents(&random);
    const Trace trace = ReadAgain(text);
    const std::string file = ChromeTraceText(trace).value();
    ASSERT_EQ(RowsOf(ReadAgain(file)), RowsOf(trace)) << text << file;
    EXPECT_EQ(ChromeTraceText(ReadAgain(file)).value(), file);
  }
}

// Of two events with this id, as they are written again.
std::string WrittenAgain(const std::string& id, const std::string& begin, const std::string& end) {
  const std::string rest = "\"cat\":\"c\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":";
  return ChromeTraceText(ReadAgain("[{\"ph\":\"" + begin + "\"," + id + "," + rest + "1},{\"ph\":\"" + end + "\"," +
                                   id + "," + rest + "2}]"))
      .value();
}

TEST(ChromeIds, OfArrowsAreWrittenAsTheFormatHasThem) {
  const auto exported = [](const std::string& id) { return WrittenAgain(id, "s", "f"); };
  EXPECT_THAT(exported(R"("id":"0x1f")"), HasSubstr(R"("name":"n","id":31,"ts":)"));
  EXPECT_THAT(exported(R"("id":31,"scope":"a\"b")"), HasSubstr(R"("name":"n","id":31,"scope":"a\"b","ts":)"));
  EXPECT_THAT(exported(R"("id2":{"local":"0x1f"},"scope":"net")"),
              HasSubstr(R"("name":"n","id2":{"local":"0x1f"},"scope":"net","ts":)"));
  EXPECT_THAT(exported(R"("id2":{"global":"0x1f"})"), HasSubstr(R"("name":"n","id2":{"global":"0x1f"},"ts":)"));
}

TEST(ChromeIds, AreWrittenAsTheFormatHasThem) {
  const auto exported = [](const std::string& id) { return WrittenAgain(id, "b", "e"); };
  EXPECT_THAT(exported(R"("id":"0x1")"), HasSubstr(R"("name":"n","id":"0x1","pid":1)"));
  EXPECT_THAT(exported(R"("id":"0x1","scope":"net")"), HasSubstr(R"("id":"0x1","scope":"net","pid":1)"));
  EXPECT_THAT(exported(R"("id2":{"local":"0x1"},"scope":"net")"),
              HasSubstr(R"("id2":{"local":"0x1"},"scope":"net","pid":1)"));
  EXPECT_THAT(exported(R"("id2":{"global":"0x1"})"), HasSubstr(R"("id2":{"global":"0x1"},"pid":1)"));
}

}  // namespace
}  // namespace opscope
