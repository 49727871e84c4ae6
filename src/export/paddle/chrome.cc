// Writes Paddle's Chrome JSON: durations in names ("matmul[12.345 us]"), texts as thread ids, an arrow from each
// runtime call. Unlike Paddle's writer it escapes names, so the file is always valid JSON, and keeps times exact, where
// Paddle rounds to single precision. A million events take 0.11 s, Paddle's writer 4.9 s
// (docs/reference/benchmarks_frameworks.md).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_members.h"
#include "base/text.h"
#include "export/chrome_buffer.h"
#include "export/escaped_names.h"
#include "export/paddle/chrome_ends.h"
#include "export/paddle/facts.h"
#include "export/paddle/levels.h"
#include "export/row_blocks.h"
#include "export/writers.h"
#include "opscope/paddle/memory_events.h"
#include "opscope/paddle/node_trees.h"

namespace opscope {
namespace {

// Nodes per block of about 250 KB of text. Larger blocks cost page faults, an eighth of the CPU time of a short file.
constexpr size_t kNodesPerBlock = 1024;
constexpr size_t kFixedRoom = 640;  // upper bound of a row without its texts

// The ids of a thread's two rows: `,"pid":7,"tid":"8(Python)"`.
struct ThreadPlaces {
  explicit ThreadPlaces(const PaddleThread& thread) {
    for (const bool is_python : {false, true}) {
      std::string& text = is_python ? python : below;
      text.append(",\"pid\":").append(std::to_string(thread.process));
      text.append(",\"tid\":\"").append(std::to_string(thread.thread)).append(PaddleRowSuffix(is_python)).append("\"");
    }
  }
  std::string python, below;
};

// Caches that consecutive rows share. One per block.
struct BlockTexts {
  explicit BlockTexts(const Trace& trace) : names(trace) {}

  // Writes microseconds since 1970. The digits of the seconds are cached, since they rarely change.
  void PutUnixMicros(uint64_t micros, ChromeCursor* at) {
    constexpr uint64_t kSecond = 1000000;
    if (const uint64_t now = micros / kSecond; now != second) {
      ChromeCursor digits(seconds);
      digits.PutUint(second = now);
      size = static_cast<size_t>(digits.at() - seconds);
    }
    if (second == 0) return at->PutUint(micros);
    at->Put({seconds, size});
    at->PutSixDigits(static_cast<uint32_t>(micros % kSecond));
  }

  EscapedNames names;
  uint64_t second = 0;
  size_t size = 0;
  char seconds[24] = {};
};

class RowWriter {
 public:
  RowWriter(const Trace& trace, const PaddleNodeTrees& trees, const PaddleRunFacts& facts)
      : trace_(trace), spans_(trace.spans()), types_(trace), trees_(trees), facts_(facts) {
    for (size_t node = 0; node < trees.size(); ++node) {
      if (!trees.is_root(node)) first_ = std::min(first_, facts.UnixTime(trees.start[node]));
    }
    if (first_ == UINT64_MAX) first_ = 0;
    for (size_t type = 0; type < kPaddleEventTypes; ++type)
      before_times_[type] = BeforeTimes(static_cast<PaddleEventType>(type));
  }

  // Writes a node, its runtime calls with their device events, and its memory events.
  void Write(uint32_t node, const ThreadPlaces& places, BlockTexts* texts, ChromeBuffer* out) const {
    if (!trees_.is_root(node)) WriteHost(node, places, texts, out);
    for (uint32_t call = trees_.first_call[node]; call < trees_.first_call[node + 1]; ++call)
      WriteCall(call, places, texts, out);
    for (const PaddleMemoryRow& row : trees_.memory_of(node))
      WriteMemory(PaddleMemoryEventOf(trace_, row), places, out);
  }

 private:
  struct Times {
    uint64_t start = 0, duration = 0;
    uint64_t middle() const { return start + duration / 2; }
  };
  Times TimesOf(uint32_t span, int64_t start) const {
    return {facts_.UnixTime(start), static_cast<uint64_t>(spans_.duration[span].ns)};
  }

  static std::string BeforeTimes(PaddleEventType type) {
    const bool is_device =
        type == PaddleEventType::kKernel || type == PaddleEventType::kMemcpy || type == PaddleEventType::kMemset;
    const bool is_call = type == PaddleEventType::kCudaRuntime;
    std::string text = ",\"ph\":\"X\",\"cat\":\"";
    text.append(PaddleEventTypeName(type)).append("\",\"cname\":\"");
    text.append(is_device ? "cq_build_failed" : is_call ? "thread_state_running" : "thread_state_runnable");
    return text.append("\",\"args\":{\"start_time\":\"");
  }

  // Writes the name with its duration. Returns the duration's text in microseconds for reuse; empty if it was written
  // in milliseconds.
  static std::string_view PutName(std::string_view name, uint64_t duration, ChromeCursor* at) {
    at->Put(R"({"name":")");
    at->Put(name);
    at->Put("[");
    if (duration > 1000000) {
      at->PutMicros(static_cast<int64_t>(duration / 1000 + (duration % 1000 >= 500 ? 1 : 0)));
      at->Put(" ms]\"");
      return {};
    }
    const char* begin = at->at();
    at->PutMicros(static_cast<int64_t>(duration));
    const auto size = static_cast<size_t>(at->at() - begin);
    at->Put(" us]\"");
    return {begin, size};
  }

  void PutTimes(const Times& times, std::string_view duration, PaddleEventType type, BlockTexts* texts,
                ChromeCursor* at) const {
    at->Put(R"(,"ts":)");
    texts->PutUnixMicros(times.start / 1000, at);
    at->Put(R"(,"dur":)");
    if (duration.empty()) {
      at->PutMicros(static_cast<int64_t>(times.duration));
    } else {
      at->Put(duration);
    }
    at->Put(before_times_[static_cast<size_t>(type)]);
    at->PutMicros(static_cast<int64_t>(times.start - first_));
    at->Put(R"( us","end_time":")");
    at->PutMicros(static_cast<int64_t>(times.start + times.duration - first_));
    at->Put(R"( us")");
  }

  void WriteHost(uint32_t node, const ThreadPlaces& places, BlockTexts* texts, ChromeBuffer* out) const {
    const uint32_t span = Row(trees_.span[node]);
    const PaddleEventType type = trees_.type[node];
    const Times times = TimesOf(span, trees_.start[node]);
    const std::string_view name = texts->names.Of(spans_.name[span]);
    const std::string_view extra =
        type == PaddleEventType::kOperator ? trace_.text(spans_.extra[span]) : std::string_view();
    ChromeCursor at = out->Begin(kFixedRoom + name.size() + extra.size());
    const std::string_view duration = PutName(name, times.duration, &at);
    at.Put(IsPythonThreadEvent(type) ? places.python : places.below);
    PutTimes(times, duration, type, texts, &at);
    if (type == PaddleEventType::kOperator && extra.empty()) {
      at.Put(R"(,"input_shapes":{},"input_dtypes":{},"callstack":"")");
    } else if (type == PaddleEventType::kOperator) {
      const auto put = [&](std::string_view key, std::string_view otherwise) {
        const std::string_view value = FindJsonMember(extra, key);
        at.Put(",\"");
        at.Put(key);
        at.Put("\":");
        at.Put(!value.empty() && IsJsonValue(value) ? value : otherwise);
      };
      put("input_shapes", "{}");
      put("input_dtypes", "{}");
      put("callstack", "\"\"");
    }
    at.Put("}},\n");
    out->End(at);
  }

  void WriteCall(uint32_t call, const ThreadPlaces& places, BlockTexts* texts, ChromeBuffer* out) const {
    const uint32_t span = Row(trees_.call[call]);
    const Times times = TimesOf(span, spans_.start[span].ns);
    const std::string_view name = texts->names.Of(spans_.name[span]);
    ChromeCursor at = out->Begin(2 * kFixedRoom + name.size());
    const std::string_view duration = PutName(name, times.duration, &at);
    at.Put(places.below);
    PutTimes(times, duration, PaddleEventType::kCudaRuntime, texts, &at);
    at.Put(R"(,"correlation id":)");
    at.PutUint(spans_.correlation[span]);
    at.Put("}},\n");
    at.Put(R"({"name":"launch","id":)");
    at.PutUint(spans_.correlation[span]);
    at.Put(places.below);
    at.Put(R"(,"ts":)");
    at.PutUint(times.middle() / 1000);
    at.Put(R"(,"ph":"s","cat":"async"},)");
    at.Put("\n");
    out->End(at);
    for (const SpanId device : trees_.devices_of(call))
      WriteDevice(Row(device), spans_.correlation[span], texts, out);
  }

  void WriteDevice(uint32_t span, uint32_t correlation, BlockTexts* texts, ChromeBuffer* out) const {
    const PaddleEventType type = types_.Of(span);
    const PaddleDeviceFacts facts = ReadPaddleDeviceFacts(trace_, span);
    const Times times = TimesOf(span, spans_.start[span].ns);
    const std::string_view name = texts->names.Of(spans_.name[span]);
    if (spans_.correlation[span] != 0) correlation = spans_.correlation[span];
    const std::string detail = DetailOf(type, facts, times.duration, correlation);
    ChromeCursor at = out->Begin(2 * kFixedRoom + name.size() + detail.size());
    const auto put_row = [&] {
      at.Put(R"(,"pid":)");
      at.PutUint(facts.device);
      at.Put(R"(,"tid":)");
      at.PutUint(facts.stream);
    };
    const std::string_view duration = PutName(name, times.duration, &at);
    put_row();
    PutTimes(times, duration, type, texts, &at);
    at.Put(detail);
    at.Put("}},\n");
    at.Put(R"({"name":"launch","id":)");
    at.PutUint(correlation);
    put_row();
    at.Put(R"(,"ts":)");
    const bool is_short = times.duration < 1000;
    at.PutUint((is_short ? times.start : times.middle()) / 1000);
    at.Put(R"(,"ph":"f","cat":"async")");
    at.Put(is_short ? "},\n" : ",\"bp\":\"e\"},\n");
    out->End(at);
  }

  static std::string DetailOf(PaddleEventType type, const PaddleDeviceFacts& facts, uint64_t duration,
                              uint32_t correlation) {
    std::string text;
    const auto key = [&](std::string_view name) { text.append(",\"").append(name).append("\":"); };
    const auto number = [&](std::string_view name, uint64_t value) { key(name), AppendUint(&text, value); };
    // JSON has no infinity, which a number outside the range of float becomes.
    const auto fixed = [&](double value, int decimals) {
      AppendFixed(&text, std::isfinite(value) ? value : 0, decimals);
    };
    const auto triple = [&](std::string_view name, const std::array<uint64_t, 3>& values) {
      key(name);
      for (size_t i = 0; i < 3; ++i)
        text += i == 0 ? "[" : ", ", AppendUint(&text, values[i]);
      text += "]";
    };
    if (type != PaddleEventType::kMemcpy) number("device", facts.device), number("context", facts.context);
    number("stream", facts.stream);
    number("correlation id", correlation);
    if (type == PaddleEventType::kMemcpy) {
      number("bytes", facts.bytes);
      key("memory bandwidth (GB/s)");
      fixed(duration == 0 ? 0 : static_cast<double>(facts.bytes) / static_cast<double>(duration), 3);
    } else if (type == PaddleEventType::kMemset) {
      number("bytes", facts.bytes);
      number("value", facts.value);
    } else {
      number("registers per thread", facts.registers);
      number("shared memory", facts.shared_memory);
      key("blocks per SM"), fixed(facts.blocks_per_sm, 6);
      key("warps per SM"), fixed(facts.warps_per_sm, 6);
      triple("grid", facts.grid);
      triple("block", facts.block);
      key("theoretical achieved occupancy %"), fixed(facts.occupancy * 100, 3);
    }
    return text;
  }

  void WriteMemory(const PaddleMemoryEvent& memory, const ThreadPlaces& places, ChromeBuffer* out) const {
    std::string place;
    AppendJsonEscaped(&place, memory.place);
    ChromeCursor at = out->Begin(kFixedRoom + place.size());
    at.Put(R"({"name":"[memory]")");
    at.Put(places.below);
    at.Put(R"(,"ts":)");
    at.PutUint(facts_.UnixTime(memory.time.ns) / 1000);
    at.Put(R"(,"ph":"i","cat":")");
    at.Put(kPaddleMemoryTypeNames[static_cast<size_t>(memory.type)]);
    at.Put(R"(","args":{"place":")");
    at.Put(place);
    at.Put(R"(","addr":")");
    at.PutUint(memory.address);
    at.Put(R"(","increase_bytes":)");
    at.PutInt(memory.increase_bytes);
    const std::pair<std::string_view, uint64_t> totals[] = {{",\"current_allocated\":", memory.current_allocated},
                                                            {",\"current_reserved\":", memory.current_reserved},
                                                            {",\"peak_allocated\":", memory.peak_allocated},
                                                            {",\"peak_reserved\":", memory.peak_reserved}};
    for (const auto& [key, value] : totals) {
      at.Put(key);
      at.PutUint(value);
    }
    at.Put("}},\n");
    out->End(at);
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  const PaddleEventTypes types_;
  const PaddleNodeTrees& trees_;
  const PaddleRunFacts& facts_;
  uint64_t first_ = UINT64_MAX;  // start of the first host call
  std::array<std::string, kPaddleEventTypes> before_times_;
};

}  // namespace

void WritePaddleChrome(const Trace& trace, const ExportOptions&, ExportOutput* out) {
  const PaddleNodeTrees trees = BuildPaddleNodeTrees(trace);
  const PaddleRunFacts facts = ReadPaddleRunFacts(trace);
  const RowWriter rows(trace, trees, facts);
  out->Write(PaddleChromeHead(facts));
  std::vector<uint32_t> nodes;
  std::vector<ThreadPlaces> places;  // by thread
  std::vector<RowBlock> blocks;      // RowBlock::list: the thread
  for (const PaddleThread& thread : trees.threads) {
    const std::vector<uint32_t> of_thread = OrderByLevel(trees, thread).nodes;
    AppendRowBlocks(places.size(), nodes.size(), nodes.size() + of_thread.size(), kNodesPerBlock, &blocks);
    places.emplace_back(thread);
    nodes.insert(nodes.end(), of_thread.begin(), of_thread.end());
  }
  out->WriteBlocks<ChromeBuffer>(blocks.size(), [&](size_t number, ChromeBuffer* text) {
    const RowBlock& block = blocks[number];
    BlockTexts texts(trace);
    for (size_t i = block.begin; i < block.end; ++i)
      rows.Write(nodes[i], places[block.list], &texts, text);
  });
  out->Write(PaddleChromeTail(trace, trees, facts));
  LeaveOutOfPaddle(trace, trees, out);
}

}  // namespace opscope
