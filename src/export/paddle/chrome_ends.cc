// Writes the text around the events of Paddle's Chrome JSON: version and devices before them, names and order of rows
// and facts about the run behind them. Paddle gives each thread two rows, "123(Python)" and "123(C++)".
// SPDX-License-Identifier: Apache-2.0
#include "export/paddle/chrome_ends.h"

#include <set>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "opscope/paddle/device_properties.h"

namespace opscope {
namespace {

constexpr uint64_t kFirstDeviceSortIndex = 0x10000000;

// Writes the "M" events that name and order rows.
class RowNames {
 public:
  RowNames(const PaddleRunFacts& facts, std::string* out) : out_(out) {
    for (const auto& [key, value] : facts.extra_info)
      extra_info_.try_emplace(key, value);
  }

  void AddThread(const PaddleThread& thread) {
    const std::string process = std::to_string(thread.process), number = std::to_string(thread.thread);
    const auto named = extra_info_.find(number);
    const std::string name = "thread " + number + ":" + (named == extra_info_.end() ? "" : std::string(named->second));
    const auto tid = [&](bool is_python) { return "\"" + number + std::string(PaddleRowSuffix(is_python)) + "\""; };
    for (const bool is_python : {true, false})
      Add("process_name", process, tid(is_python), "Process " + process + " (CPU)");
    for (const bool is_python : {true, false})
      Add("thread_name", process, tid(is_python), name + std::string(PaddleRowSuffix(is_python)));
    AddPlace("process_sort_index", process, number, thread.process);
    for (const bool is_python : {true, false})
      AddPlace("thread_sort_index", process, tid(is_python), 2 * thread.thread + (is_python ? 0 : 1));
  }

  void AddStream(uint64_t device, uint64_t stream) {
    const std::string pid = std::to_string(device), tid = std::to_string(stream);
    Add("process_name", pid, tid, "Device " + pid + " (GPU)");
    Add("thread_name", pid, tid, "stream " + tid);
    AddPlace("process_sort_index", pid, tid, device + kFirstDeviceSortIndex);
    AddPlace("thread_sort_index", pid, tid, stream);
  }

 private:
  void Begin(const char* what, const std::string& pid, const std::string& tid) {
    out_->append("{\"name\": \"").append(what).append("\", \"pid\": ").append(pid);
    out_->append(", \"tid\": ").append(tid).append(", \"ph\": \"M\", \"args\": {");
  }
  void Add(const char* what, const std::string& pid, const std::string& tid, const std::string& name) {
    Begin(what, pid, tid);
    out_->append("\"name\": ");
    AppendJsonString(out_, name);
    out_->append("}},\n");
  }
  void AddPlace(const char* what, const std::string& pid, const std::string& tid, uint64_t place) {
    Begin(what, pid, tid);
    out_->append("\"sort_index\": ").append(std::to_string(place)).append("}},\n");
  }

  std::unordered_map<std::string_view, std::string_view> extra_info_;  // names of threads by number
  std::string* out_;
};

// Only Paddle builds with device support write this member.
void AppendDevices(const std::vector<PaddleRunFacts::Device>& devices, std::string* out) {
  out->append(",\n\"deviceProperties\": [");
  const char* before = "\n{";
  for (const PaddleRunFacts::Device& device : devices) {
    out->append(std::exchange(before, ",\n{"));
    for (const auto& [field, key] : kPaddleDeviceProperties) {
      if (field != 1) out->append(", ");
      out->append("\"").append(key).append("\": ").append(std::to_string(device.numbers[field]));
      if (field != 1) continue;
      out->append(", \"name\": ");
      AppendJsonString(out, device.name);
    }
    out->append("}");
  }
  out->append("\n]");
}

}  // namespace

std::string PaddleChromeHead(const PaddleRunFacts& facts) {
  std::string text = "{\n\"displayTimeUnit\": \"ms\",\n\"schemaVersion\": ";
  AppendJsonString(&text, facts.version);
  // Paddle writes "span_index", but VisualDL reads "span_indx".
  for (const char* key : {"span_index", "span_indx"})
    text.append(",\n\"").append(key).append("\": \"").append(std::to_string(facts.span_index)).append("\"");
  if (!facts.devices.empty()) AppendDevices(facts.devices, &text);
  return text.append(",\n\"traceEvents\": [\n");
}

std::string PaddleChromeTail(const Trace& trace, const PaddleNodeTrees& trees, const PaddleRunFacts& facts) {
  std::string text;
  RowNames names(facts, &text);
  for (const PaddleThread& thread : trees.threads) {
    const uint32_t first = thread.first_node;
    const bool is_empty = thread.end_node == first + 1 && trees.first_call[first] == trees.first_call[first + 1] &&
                          trees.memory_of(first).empty();
    if (!is_empty) names.AddThread(thread);
  }
  std::set<std::pair<uint64_t, uint64_t>> streams;
  TrackId last = TrackId::kNone;
  for (const SpanId device : trees.device) {
    if (trace.spans().track[Row(device)] == std::exchange(last, trace.spans().track[Row(device)])) continue;
    const PaddleDeviceFacts of_device = ReadPaddleDeviceFacts(trace, Row(device));
    streams.emplace(of_device.device, of_device.stream);
  }
  for (const auto& [device, stream] : streams)
    names.AddStream(device, stream);
  text += "{}\n],\n\"ExtraInfo\": {";
  for (const auto& [key, value] : facts.extra_info) {
    text += &key == &facts.extra_info.front().first ? "\n" : ",\n";
    AppendJsonString(&text, key);
    text += ": ";
    AppendJsonString(&text, value);
  }
  return text + "\n}\n}\n";
}

}  // namespace opscope
