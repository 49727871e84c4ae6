// The tree of an execution trace against the nodes of the file, read by another parser.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "import/text/compress_for_test.h"
#include "import/text/pieced_text.h"
#include "opscope/import.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

std::string ReadInput(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  if (path.extension() != ".gz") return bytes.str();
  const std::string packed = bytes.str();
  PiecedText plain(Decompressed(packed, CompressedFormat::kGzip), packed.size());
  plain.Extend(SIZE_MAX);
  return std::string(plain.text());
}

// "name below parent": how often. Nodes of the process and of threads are no calls.
std::map<std::string, int> CountCalls(const std::string& text) {
  simdjson::dom::parser parser;
  simdjson::dom::element document = parser.parse(simdjson::padded_string(text));
  std::map<uint64_t, std::string> name_of_id;
  const auto is_root = [](std::string_view name) { return name.starts_with("[pytorch|profiler|execution_trace|"); };
  for (simdjson::dom::element node : document["nodes"].get_array()) {
    const std::string_view name = node["name"];
    if (!is_root(name)) name_of_id[node["id"].get_uint64()] = name;
  }
  std::map<std::string, int> calls;
  for (simdjson::dom::element node : document["nodes"].get_array()) {
    const std::string_view name = node["name"];
    uint64_t parent = 0;
    if (node["ctrl_deps"].get(parent) != simdjson::SUCCESS) parent = node["parent"].get_uint64();
    if (!is_root(name)) ++calls[std::string(name) + " below " + name_of_id[parent]];
  }
  return calls;
}

std::map<std::string, int> CountSpans(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  std::map<std::string, int> calls;
  for (size_t i = 0; i < spans.size(); ++i) {
    const SpanId parent = spans.parent[i];
    const std::string_view above = parent == SpanId::kNone ? std::string_view() : trace.text(spans.name[Row(parent)]);
    ++calls[std::string(trace.text(spans.name[i])) + " below " + std::string(above)];
  }
  return calls;
}

void ExpectTheSameCalls(const fs::path& path) {
  SCOPED_TRACE(path);
  const std::string text = ReadInput(path);
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), path.string());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().info().format, "torch-execution-trace");
  EXPECT_EQ(CountSpans(trace.value()), CountCalls(text));
}

TEST(ExecutionTrace, HasEveryCallBelowItsParent) {
  const fs::path golden = fs::path(OPSCOPE_SOURCE_DIR) / "tests/golden/torch_execution_trace";
  for (const char* name : {"backward_of_a_layer", "two_threads", "odd_tensors", "schema_1_0_1"})
    ExpectTheSameCalls(golden / name / "input.json");
}

TEST(ExecutionTrace, HasEveryCallOfAPublicSample) {
  const fs::path sample = fs::path(OPSCOPE_SOURCE_DIR) / "../shared/samples/kineto/execution_trace_simple_add.json.gz";
  if (!fs::exists(sample)) GTEST_SKIP() << sample << " is not there";
  ExpectTheSameCalls(sample);
}

}  // namespace
}  // namespace opscope
