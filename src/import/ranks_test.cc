// SPDX-License-Identifier: Apache-2.0
#include "import/ranks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "opscope/export.h"
#include "opscope/export/formats.h"
#include "opscope/import.h"

namespace opscope {
namespace {

// The host of the first process of a file with this metadata; "<none>" if it is unknown.
std::string HostOf(const std::string& metadata) {
  const std::string file = "{" + metadata + R"("traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1}]})";
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(file)), "trace.json");
  EXPECT_TRUE(trace.ok());
  const StringId host = trace.value().processes().host[0];
  return host == StringId::kNone ? "<none>" : std::string(trace.value().text(host));
}

TEST(Hosts, AreReadFromKinetosHostName) {
  EXPECT_EQ(HostOf(R"("host_name":"node3",)"), "node3");
  EXPECT_EQ(HostOf(""), "<none>");
  for (const char* other : {R"("host_name":7,)", R"("host_name":"",)", R"("host_name":{"a":"b"},)"})
    EXPECT_EQ(HostOf(other), "<none>") << other;
}

// Three processes, of which the last has no host, written to `.opscope` and read again; "" where it is unknown.
std::vector<std::string> HostsOfFile(bool is_merged) {
  TraceBuilder builder;
  builder.AddProcess({.pid = 1, .host = builder.Intern("node1")});
  builder.AddProcess({.pid = 2, .host = builder.Intern("node2")});
  builder.AddProcess({.pid = 3});
  builder.AddMetadata("host_name", "\"node1\"");
  if (is_merged) builder.AddMetadata(kMergeMetadata, "{}");
  const std::string file = ExportToBytes(builder.Build(), ExportFormat::kOpscope).value().bytes;
  const Trace again = ImportBytes(std::as_bytes(std::span(file)), "trace.opscope").value();
  std::vector<std::string> hosts;
  for (const StringId host : again.processes().host)
    hosts.emplace_back(again.text(host));
  return hosts;
}

TEST(Hosts, StayWithTheirProcessesInFiles) {
  EXPECT_EQ(HostsOfFile(false), (std::vector<std::string>{"node1", "node2", "node1"}));
}

TEST(Hosts, OfAMergeAreNotTakenFromTheMetadataOfOneInput) {
  EXPECT_EQ(HostsOfFile(true), (std::vector<std::string>{"node1", "node2", ""}));
}

}  // namespace
}  // namespace opscope
