// Writes Paddle's protobuf dump (paddle/fluid/platform/profiler/dump/nodetree.proto) as Paddle's own reader requires
// it: all fields are present, and the nodes of a thread come level by level, parents before children.
//
// Types 15 and 16 are newer than Paddle 3.3.1's enum, and a required field with an unknown value makes its reader
// refuse the file. So the field is written twice: protobuf takes the last value that a reader knows.
//
//   type: 8   type: 15      read by Paddle 3.3.1 as OperatorInner, by ours as DygraphKernelLaunch
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "export/paddle/facts.h"
#include "export/paddle/levels.h"
#include "export/writers.h"
#include "opscope/paddle/device_properties.h"
#include "opscope/paddle/memory_events.h"
#include "opscope/paddle/node_trees.h"

namespace opscope {
namespace {

using protozero::pbf_writer;

// Writes a host node without calls, memory and arguments, the common case. All lengths are computed beforehand, so no
// bytes are moved; a writer of nested messages takes three times as long.
//
//   12 <length> 08 <id> 10 <parent> 1a <length> 0a <length> <name> <type, start, end, process, thread>
class PlainNode {
 public:
  explicit PlainNode(const PaddleThread& thread) {
    char* at = Varint(0x28, owner_);  // field 5
    at = Varint(thread.process, at);
    at = Varint(0x30, at);  // field 6
    at = Varint(thread.thread, at);
    owner_size_ = static_cast<size_t>(at - owner_);
  }

  void Append(uint32_t id, uint32_t parent, std::string_view name, PaddleEventType type, uint64_t start, uint64_t end,
              std::string* out) const {
    char numbers[64], head[64];
    char* const numbers_end = Number(0x20, end, Number(0x18, start, Type(type, numbers)));
    const size_t numbers_size = static_cast<size_t>(numbers_end - numbers);
    const size_t event = 1 + SizeOf(name.size()) + name.size() + numbers_size + owner_size_;
    const size_t node = 2 + SizeOf(id) + SizeOf(parent) + 1 + SizeOf(event) + event;
    char* at = Number(0x12, node, head);
    at = Number(0x10, parent, Number(0x08, id, at));
    at = Number(0x0a, name.size(), Number(0x1a, event, at));
    out->append(head, static_cast<size_t>(at - head));
    out->append(name);
    out->append(numbers, numbers_size);
    out->append(owner_, owner_size_);
  }

 private:
  static char* Varint(uint64_t value, char* at) { return at + protozero::write_varint(at, value); }
  static char* Number(char key, uint64_t value, char* at) {
    *at++ = key;
    return Varint(value, at);
  }
  static char* Type(PaddleEventType type, char* at) {
    if (type > PaddleEventType::kPythonUserDefined)
      at = Number(0x10, static_cast<uint64_t>(PaddleEventType::kOperatorInner), at);
    return Number(0x10, static_cast<uint64_t>(type), at);
  }
  static size_t SizeOf(uint64_t value) { return static_cast<size_t>(protozero::length_of_varint(value)); }

  char owner_[32];
  size_t owner_size_ = 0;
};

class DumpWriter {
 public:
  DumpWriter(const Trace& trace, ExportOutput* out)
      : trace_(trace),
        spans_(trace.spans()),
        types_(trace),
        facts_(ReadPaddleRunFacts(trace)),
        trees_(BuildPaddleNodeTrees(trace)),
        out_(out) {}

  void Write() {
    pbf_writer file(bytes_);
    file.add_string(1, facts_.version);
    file.add_uint32(2, static_cast<uint32_t>(facts_.span_index));
    for (const PaddleThread& thread : trees_.threads) {
      WriteThread(thread, &file);
      out_->Write(bytes_);
      bytes_.clear();
    }
    for (const auto& [key, value] : facts_.extra_info) {
      pbf_writer info(file, 4);
      info.add_string(1, key);
      info.add_string(2, value);
    }
    for (const PaddleRunFacts::Device& device : facts_.devices)
      WriteDevice(device, &file);
    out_->Write(bytes_);
    LeaveOutOfPaddle(trace_, trees_, out_);
  }

 private:
  static void WriteDevice(const PaddleRunFacts::Device& device, pbf_writer* file) {
    pbf_writer properties(*file, 5);
    for (const auto& [field, key] : kPaddleDeviceProperties) {
      properties.add_uint64(field, device.numbers[field]);
      if (field == 1) properties.add_string(kPaddleDeviceNameField, device.name);
    }
  }

  void WriteThread(const PaddleThread& thread, pbf_writer* file) {
    bytes_.reserve(bytes_.size() + size_t{72} * (thread.end_node - thread.first_node));
    pbf_writer tree(*file, 3);
    tree.add_uint64(1, thread.thread);
    const PaddleLevels levels = OrderByLevel(trees_, thread);
    PlainNode plain(thread);
    for (uint32_t number = 0; number < levels.nodes.size(); ++number) {
      const uint32_t node = levels.nodes[number];
      if (IsPlain(node)) {
        const uint32_t span = Row(trees_.span[node]);
        const uint64_t start = facts_.UnixTime(trees_.start[node]);
        plain.Append(number, levels.number[trees_.parent[node] - thread.first_node], trace_.text(spans_.name[span]),
                     trees_.type[node], start, start + static_cast<uint64_t>(spans_.duration[span].ns), &bytes_);
        continue;
      }
      pbf_writer out(tree, 2);
      out.add_int64(1, number);
      out.add_int64(2, trees_.is_root(node) ? int64_t{-1} : levels.number[trees_.parent[node] - thread.first_node]);
      WriteHost(node, thread, &out);
      for (uint32_t call = trees_.first_call[node]; call < trees_.first_call[node + 1]; ++call)
        WriteCall(call, thread, &out);
      for (const PaddleMemoryRow& row : trees_.memory_of(node))
        WriteMemory(PaddleMemoryEventOf(trace_, row), thread, &out);
      if (trees_.type[node] == PaddleEventType::kOperator) WriteOperator(node, thread, &out);
    }
  }

  bool IsPlain(uint32_t node) const {
    return !trees_.is_root(node) && trees_.first_call[node] == trees_.first_call[node + 1] &&
           trees_.memory_of(node).empty() &&
           (trees_.type[node] != PaddleEventType::kOperator || spans_.extra[Row(trees_.span[node])] == StringId::kNone);
  }

  void WriteHost(uint32_t node, const PaddleThread& thread, pbf_writer* out) {
    pbf_writer event(*out, 3);
    if (trees_.is_root(node)) {
      event.add_string(1, "root node");
      event.add_enum(2, static_cast<int32_t>(PaddleEventType::kUserDefined));
      event.add_uint64(3, 0);
      event.add_uint64(4, UINT64_MAX);
      event.add_uint64(5, 0);
      event.add_uint64(6, 0);
      return;
    }
    const uint32_t span = Row(trees_.span[node]);
    event.add_string(1, Name(span));
    const PaddleEventType type = trees_.type[node];
    if (type > PaddleEventType::kPythonUserDefined)
      event.add_enum(2, static_cast<int32_t>(PaddleEventType::kOperatorInner));
    event.add_enum(2, static_cast<int32_t>(type));
    WriteTimes(span, trees_.start[node], 3, &event);
    event.add_uint64(5, thread.process);
    event.add_uint64(6, thread.thread);
  }

  void WriteCall(uint32_t call, const PaddleThread& thread, pbf_writer* out) {
    const uint32_t span = Row(trees_.call[call]);
    pbf_writer node(*out, 4);
    {
      pbf_writer event(node, 1);
      event.add_string(1, Name(span));
      WriteTimes(span, spans_.start[span].ns, 2, &event);
      event.add_uint64(4, thread.process);
      event.add_uint64(5, thread.thread);
      event.add_uint32(6, spans_.correlation[span]);
      event.add_uint32(7, CallbackOf(span));
    }
    for (const SpanId device : trees_.devices_of(call)) {
      pbf_writer device_node(node, 2);
      WriteDevice(Row(device), spans_.correlation[span], &device_node);
    }
  }

  uint32_t CallbackOf(uint32_t span) const {
    constexpr std::string_view kKey = "\"callback id\": ";
    const std::string_view extra = trace_.text(spans_.extra[span]);
    return extra.starts_with(kKey) ? static_cast<uint32_t>(std::stoul("0" + std::string(extra.substr(kKey.size(), 9))))
                                   : 0;
  }

  void WriteDevice(uint32_t span, uint32_t correlation, pbf_writer* node) {
    pbf_writer event(*node, 1);
    const PaddleEventType type = types_.Of(span);
    const PaddleDeviceFacts facts = ReadPaddleDeviceFacts(trace_, span);
    event.add_string(1, Name(span));
    event.add_enum(2, static_cast<int32_t>(type));
    WriteTimes(span, spans_.start[span].ns, 3, &event);
    event.add_uint64(5, facts.device);
    event.add_uint64(6, facts.context);
    event.add_uint64(7, facts.stream);
    event.add_uint32(8, spans_.correlation[span] != 0 ? spans_.correlation[span] : correlation);
    if (type == PaddleEventType::kMemcpy) {
      pbf_writer detail(event, 10);
      detail.add_uint64(1, facts.bytes);
      detail.add_string(2, facts.copy_kind);
      detail.add_string(3, facts.source_kind);
      detail.add_string(4, facts.destination_kind);
    } else if (type == PaddleEventType::kMemset) {
      pbf_writer detail(event, 11);
      detail.add_uint64(1, facts.bytes);
      detail.add_string(2, facts.memory_kind);
      detail.add_uint32(3, static_cast<uint32_t>(facts.value));
    } else {
      WriteKernel(facts, &event);
    }
  }

  static void WriteKernel(const PaddleDeviceFacts& facts, pbf_writer* event) {
    pbf_writer detail(*event, 9);
    const uint64_t static_memory = facts.shared_memory - std::min(facts.shared_memory, facts.dynamic_shared_memory);
    const uint64_t sizes[] = {facts.block[0],
                              facts.block[1],
                              facts.block[2],
                              facts.grid[0],
                              facts.grid[1],
                              facts.grid[2],
                              facts.dynamic_shared_memory,
                              static_memory,
                              facts.registers,
                              facts.local_memory,
                              facts.local_memory_total};
    uint32_t field = 0;
    for (const uint64_t size : sizes)
      detail.add_uint32(++field, static_cast<uint32_t>(size));
    for (const uint64_t time : {facts.queued, facts.submitted, facts.completed})
      detail.add_uint64(++field, time);
    for (const float fraction : {facts.blocks_per_sm, facts.warps_per_sm, facts.occupancy})
      detail.add_float(++field, fraction);
  }

  void WriteMemory(const PaddleMemoryEvent& memory, const PaddleThread& thread, pbf_writer* out) {
    pbf_writer node(*out, 5);
    pbf_writer event(node, 1);
    event.add_uint64(1, facts_.UnixTime(memory.time.ns));
    event.add_enum(2, static_cast<int32_t>(memory.type));
    event.add_uint64(3, memory.address);
    event.add_uint64(4, thread.process);
    event.add_uint64(5, thread.thread);
    event.add_int64(6, memory.increase_bytes);
    event.add_string(7, memory.place);
    event.add_uint64(8, memory.current_allocated);
    event.add_uint64(9, memory.current_reserved);
    event.add_uint64(10, memory.peak_allocated);
    event.add_uint64(11, memory.peak_reserved);
  }

  void WriteOperator(uint32_t node, const PaddleThread& thread, pbf_writer* out) {
    const uint32_t span = Row(trees_.span[node]);
    if (spans_.extra[span] == StringId::kNone) return;
    const PaddleOperatorFacts facts = ReadPaddleOperatorFacts(trace_.text(spans_.extra[span]));
    if (!facts.any) return;
    pbf_writer supplement(*out, 6);
    pbf_writer event(supplement, 1);
    event.add_uint64(1, facts_.UnixTime(spans_.start[span].ns));
    event.add_string(2, facts.op_type.empty() ? Name(span) : protozero::data_view(facts.op_type));
    event.add_uint64(3, thread.process);
    event.add_uint64(4, thread.thread);
    event.add_message(5, ListsOf(facts.shapes, [](const PaddleSlot& slot, pbf_writer* list) {
                        for (const std::vector<int64_t>& sizes : slot.shapes) {
                          std::string shape;
                          for (const int64_t size : sizes)
                            pbf_writer(shape).add_uint64(1, static_cast<uint64_t>(size));
                          list->add_message(1, shape);
                        }
                      }));
    event.add_message(6, ListsOf(facts.types, [](const PaddleSlot& slot, pbf_writer* list) {
                        for (const std::string& type : slot.types)
                          list->add_string(1, type);
                      }));
    event.add_string(7, facts.call_stack);
    event.add_uint64(8, facts.op_id);
  }

  // All names, then a list for each. An empty list must be written, which a nested pbf_writer would omit.
  template <typename AddItems>
  static std::string ListsOf(const std::vector<PaddleSlot>& slots, const AddItems& add_items) {
    std::string lists;
    pbf_writer out(lists);
    for (const PaddleSlot& slot : slots)
      out.add_string(1, slot.name);
    for (const PaddleSlot& slot : slots) {
      std::string list;
      pbf_writer items(list);
      add_items(slot, &items);
      out.add_message(2, list);
    }
    return lists;
  }

  protozero::data_view Name(uint32_t span) const {
    const std::string_view name = trace_.text(spans_.name[span]);
    return {name.data(), name.size()};
  }

  // Writes the start into `field` and the end into the next field.
  void WriteTimes(uint32_t span, int64_t start_ns, uint32_t field, pbf_writer* event) const {
    const uint64_t start = facts_.UnixTime(start_ns);
    event->add_uint64(field, start);
    event->add_uint64(field + 1, start + static_cast<uint64_t>(spans_.duration[span].ns));
  }

  const Trace& trace_;
  const SpanColumns& spans_;
  const PaddleEventTypes types_;
  const PaddleRunFacts facts_;
  const PaddleNodeTrees trees_;
  ExportOutput* out_;
  std::string bytes_;
};

}  // namespace

void WritePaddleProtobuf(const Trace& trace, const ExportOptions&, ExportOutput* out) {
  DumpWriter(trace, out).Write();
}

}  // namespace opscope
