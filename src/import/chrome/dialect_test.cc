// A dialect is a table: this one is of a writer that does not exist.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/dialect.h"

#include <gtest/gtest.h>

#include <string>

#include "import/chrome/importer.h"
#include "opscope/trace.h"
#include "trace/builder.h"

namespace opscope {
namespace {

bool WroteIt(const ChromeFile& file) {
  return file.shown_by_events || file.MetadataHas("inventor", "year");
}

ChromeEvidence EvidenceOfInventor(const ChromeEvent& event) {
  return event.name.text == "heartbeat" ? ChromeEvidence::kCertain : ChromeEvidence::kNone;
}

bool ReadSizes(const JsonValue& value, const std::vector<JsonMember>& /*members*/, ChromeLists* lists) {
  AppendListItem(&lists->dims, value.text);
  AppendListItem(&lists->types, "\"float\"");
  return value.kind == JsonValue::Kind::kArray;
}

SpanKind KindOfInvented(TrackKind /*track*/, std::string_view name, std::string_view /*members*/) {
  return name == "work" ? SpanKind::kOperator : kKindOfCategory;
}

void ClassifyCores(std::span<ChromeTrackFacts> tracks) {
  for (ChromeTrackFacts& track : tracks) {
    if (track.name == "core") track.kind = TrackKind::kDeviceStream, track.device = 3;
  }
}

constexpr ChromeMember kInventedMembers[] = {
    {.key = "link", .meaning = ChromeMember::Meaning::kCorrelation},
    {.key = "lap", .meaning = ChromeMember::Meaning::kStep},
    {.key = "sizes", .meaning = ChromeMember::Meaning::kListsAlone, .read = ReadSizes},
};

constexpr ChromeDialect kInvented = {
    .format = "invented-json",
    .is_writer = WroteIt,
    .evidence_in = EvidenceOfInventor,
    .members = kInventedMembers,
    .base_time_key = "inventor",
    .base_time_member = "born",
    .classify_tracks = ClassifyCores,
    .kind_of = KindOfInvented,
};

Trace ReadInvented(std::string_view text, std::string_view format = {}) {
  static constexpr const ChromeDialect* kList[] = {&kInvented};
  static const ChromeDialects dialects(kList);
  TraceBuilder builder;
  PlainText source(std::as_bytes(std::span(text)));
  ImportOptions options;
  options.format = format;
  EXPECT_TRUE(ImportChromeText(&source, "input", options, dialects, &builder).ok());
  return builder.Build();
}

constexpr char kWork[] = R"({"ph": "X", "pid": 1, "tid": 2, "ts": 1, "dur": 1, "name": "work")";

TEST(ChromeDialect, IsKnownByMetadataOrByEvents) {
  const std::string events = R"({"traceEvents": [)" + std::string(kWork) + "}]";
  EXPECT_EQ(ReadInvented(events + "}").info().format, "chrome-json");
  EXPECT_EQ(ReadInvented(events + R"(, "inventor": {"year": 1}})").info().format, "invented-json");
  EXPECT_EQ(ReadInvented("[" + std::string(kWork) + "}]").info().format, "chrome-json");
  const std::string counter = R"({"ph": "C", "pid": 1, "ts": 1, "name": "heartbeat", "args": {"n": 1}})";
  EXPECT_EQ(ReadInvented("[" + std::string(kWork) + "}, " + counter + "]").info().format, "invented-json");
  EXPECT_EQ(ReadInvented(events + "}", "invented-json").info().format, "invented-json");
}

TEST(ChromeDialect, GivesItsMembersTheirMeaningInEveryFile) {
  const Trace trace =
      ReadInvented("[" + std::string(kWork) + R"(, "args": {"link": 7, "lap": "4", "sizes": [2, 3], "rest": 1}}])");
  const SpanColumns& spans = trace.spans();
  EXPECT_EQ(trace.info().format, "chrome-json");
  EXPECT_EQ(spans.correlation[0], 7u);
  ASSERT_EQ(trace.steps().size(), 1u);
  EXPECT_EQ(trace.steps().number[0], 4);
  EXPECT_EQ(trace.text(spans.extra[0]), R"("lap": "4", "rest": 1)");
  ASSERT_NE(spans.args[0], ArgsId::kNone);
}

TEST(ChromeDialect, GivesBaseTimeKindsAndTracks) {
  const Trace trace =
      ReadInvented(R"({"inventor": {"year": 1, "born": 77}, "traceEvents": [)" + std::string(kWork) +
                   R"(}, {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "core"}}]})");
  EXPECT_EQ(trace.info().epoch_ns, 77);
  EXPECT_EQ(trace.spans().kind[0], SpanKind::kOperator);
  EXPECT_EQ(trace.tracks().kind[0], TrackKind::kDeviceStream);
  EXPECT_EQ(trace.tracks().device[0], 3);
}

}  // namespace
}  // namespace opscope
