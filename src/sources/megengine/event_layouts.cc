// The table of event types: for each type a function that writes an event, and one that checks the pointers of the
// first event of that type. A field of an event is an offset in a struct of MegEngine's, so a wrong layout would write
// garbage; the check reads the fields of one event as memory that may be unmapped (own_memory.h).
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/text.h"
#include "sources/megengine/device_event.h"
#include "sources/megengine/walk.h"

namespace opscope::megengine {
namespace {

template <typename T>
const T& As(const char* body) {
  return *reinterpret_cast<const T*>(body);
}

std::string_view Text(NativeString string) {
  return {string.text, string.size()};
}

// Events about a tensor or an operator begin with its number.
Record About(Record record, const char* body) {
  record.value = As<uint64_t>(body);
  return record;
}

bool IsText(Walk* walk, NativeString string) {
  std::string text;
  return ReadString(string, &walk->memory(), &text);
}

// Lists of tensors are short; the words of each can be read.
bool IsList(Walk* walk, const NativeWords& words) {
  const auto bytes = reinterpret_cast<uintptr_t>(words.end) - reinterpret_cast<uintptr_t>(words.begin);
  if (words.begin > words.end || words.end > words.capacity || bytes % 8 != 0 || bytes > (1u << 20)) return false;
  uint64_t word = 0;
  return bytes == 0 || (walk->memory().Read(words.begin, &word) && walk->memory().Read(words.end - 1, &word));
}

bool IsFunction(Walk* walk, const NativeFunction& function) {
  char code = 0;
  if (function.manager == nullptr) return true;
  return walk->memory().Read(function.manager, &code, 1) && walk->memory().Read(function.invoker, &code, 1);
}

bool IsNode(Walk* walk, const void* node) {
  const void* functions = nullptr;
  return node == nullptr || walk->memory().Read(node, &functions);
}

bool IsLayout(Walk* walk, const TensorLayout& layout) {
  if (layout.shape.dimensions > std::size(layout.shape.sizes)) return false;
  ElementType type{};
  if (layout.type == nullptr) return true;
  return walk->memory().Read(layout.type, &type) && !ReadCString(type.name, &walk->memory()).empty();
}

// Checks of events whose only pointers are a name, a device, or a layout and a device.
template <typename Event>
bool ProbeName(Walk* walk, const char* body) {
  return IsText(walk, As<Event>(body).name);
}
template <typename Event>
bool ProbeDevice(Walk* walk, const char* body) {
  return IsNode(walk, As<Event>(body).device);
}
template <typename Event>
bool ProbeTensor(Walk* walk, const char* body) {
  return IsLayout(walk, As<Event>(body).layout) && IsNode(walk, As<Event>(body).device);
}

void WriteBare(Walk* walk, Record record, const char* /*body*/) {
  walk->writer().WriteBare(record);
}
void WriteAbout(Walk* walk, Record record, const char* body) {
  walk->writer().WriteBare(About(record, body));
}

void WriteDispatch(Walk* walk, Record record, const char* body) {
  const auto& event = As<OpDispatch>(body);
  walk->writer().Write(About(record, body), {.name = Text(event.name),
                                             .members = walk->Members(event.parameters),
                                             .inputs = {event.inputs.begin, event.inputs.count()},
                                             .outputs = {event.outputs.begin, event.outputs.count()},
                                             .has_lists = true});
}
bool ProbeDispatch(Walk* walk, const char* body) {
  const auto& event = As<OpDispatch>(body);
  return IsText(walk, event.name) && IsFunction(walk, event.parameters) && IsList(walk, event.inputs) &&
         IsList(walk, event.outputs);
}
void WriteExecute(Walk* walk, Record record, const char* body) {
  walk->writer().Write(About(record, body), {.name = Text(As<OpExecute>(body).reason)});
}
bool ProbeExecute(Walk* walk, const char* body) {
  return IsText(walk, As<OpExecute>(body).reason);
}

void WriteKernel(Walk* walk, Record record, const char* body) {
  const auto& event = As<KernelLaunch>(body);
  const uint16_t device = walk->DeviceNumber(event.device);
  walk->writer().Write(About(record, body), {.has_device = true, .device = device, .correlation = event.kernel});
}
void WriteDeclare(Walk* walk, Record record, const char* body) {
  walk->writer().Write(About(record, body), {.name = Text(As<TensorDeclare>(body).name)});
}
void WriteTensor(Walk* walk, Record record, const TensorLayout& layout, const void* node, const void* address) {
  const uint16_t device = walk->DeviceNumber(node);
  walk->writer().Write(record, {.name = layout.type != nullptr ? layout.type->name : std::string_view(),
                                .layout = &layout,
                                .has_address = true,
                                .address = reinterpret_cast<uint64_t>(address),
                                .device = device});
}
void WriteProduce(Walk* walk, Record record, const char* body) {
  const auto& event = As<TensorProduce>(body);
  WriteTensor(walk, About(record, body), event.layout, event.device, event.address);
}
void WriteHostToDevice(Walk* walk, Record record, const char* body) {
  const auto& event = As<HostToDevice>(body);
  WriteTensor(walk, record, event.layout, event.device, event.address);
}

void WriteErase(Walk* walk, Record record, const char* body) {
  record.reserved = As<TensorErase>(body).uses != 0 ? 1 : 0;
  WriteAbout(walk, record, body);
}
void WriteDetail(Walk* walk, Record record, const char* body) {
  record.reserved = static_cast<uint16_t>(As<TensorDetail>(body).detail);
  WriteAbout(walk, record, body);
}
void WriteNotify(Walk* walk, Record record, const char* body) {
  record.reserved = static_cast<uint16_t>(As<TensorNotify>(body).property);
  WriteAbout(walk, record, body);
}
void WriteWait(Walk* walk, Record record, const char* body) {
  const auto& event = As<TensorWait>(body);
  record.reserved = static_cast<uint16_t>(event.property);
  const bool finish = (record.flags & record_flags::kFinish) != 0;
  walk->writer().Write(About(record, body), {.members = finish ? walk->Members(event.parameters) : std::string_view()});
}
bool ProbeWait(Walk* walk, const char* body) {
  return IsFunction(walk, As<TensorWait>(body).parameters);
}

void WriteSample(Walk* walk, Record record, const char* body) {
  const auto& event = As<SampleDevice>(body);
  record.reserved = walk->DeviceNumber(event.device);
  if ((record.flags & record_flags::kFinish) == 0) return walk->writer().WriteBare(record);
  record.value = event.total - event.free;
  walk->writer().Write(
      record,
      {.has_totals = true, .used = static_cast<int64_t>(record.value), .total = static_cast<int64_t>(event.total)});
}
void WriteShapeInfer(Walk* walk, Record record, const char* body) {
  record.value = As<uint8_t>(body);
  walk->writer().WriteBare(record);
}

void WriteScope(Walk* walk, Record record, const char* body) {
  const auto& event = As<Scope>(body);
  record.reserved = static_cast<uint16_t>(event.type);
  walk->writer().Write(record, {.name = Text(event.name)});
}
void WriteCustom(Walk* walk, Record record, const char* body) {
  const auto& event = As<Custom>(body);
  if (event.device != nullptr) record.reserved = static_cast<uint16_t>(walk->DeviceNumber(event.device) + 1);
  std::string content;
  if (event.content.size() != 0) {
    content = "\"content\": ";
    AppendJsonString(&content, Text(event.content));
  }
  walk->writer().Write(record, {.name = Text(event.title), .members = content});
}
bool ProbeCustom(Walk* walk, const char* body) {
  const auto& event = As<Custom>(body);
  return IsText(walk, event.title) && IsText(walk, event.content) && IsNode(walk, event.device);
}

void WriteRecordDevice(Walk* walk, Record record, const char* body) {
  int64_t elapsed = 0;
  if (!walk->DeviceTime(As<RecordDevice>(body).event, &record.reserved, &elapsed)) return walk->CountFailed();
  record.value = static_cast<uint64_t>(elapsed);
  walk->writer().WriteBare(record);
}
bool ProbeRecordDevice(Walk* walk, const char* body) {
  const void* functions = nullptr;
  void* event = As<RecordDevice>(body).event;
  const void* table[8] = {};
  return event != nullptr && walk->memory().Read(event, &functions) && walk->memory().Read(functions, &table);
}

constexpr EventLayout kEventLayouts[] = {
    {"OpDispatch", MegEngineEvent::kOpDispatch, sizeof(OpDispatch), &WriteDispatch, &ProbeDispatch},
    {"OpExecute", MegEngineEvent::kOpExecute, sizeof(OpExecute), &WriteExecute, &ProbeExecute},
    {"KernelLaunch", MegEngineEvent::kKernelLaunch, sizeof(KernelLaunch), &WriteKernel, &ProbeDevice<KernelLaunch>},
    {"OpInput", MegEngineEvent::kOpInput, sizeof(uint64_t), &WriteAbout, nullptr},
    {"OpOutput", MegEngineEvent::kOpOutput, sizeof(uint64_t), &WriteAbout, nullptr},
    {"TensorDeclare", MegEngineEvent::kTensorDeclare, sizeof(TensorDeclare), &WriteDeclare, &ProbeName<TensorDeclare>},
    {"TensorProduce", MegEngineEvent::kTensorProduce, sizeof(TensorProduce), &WriteProduce,
     &ProbeTensor<TensorProduce>},
    {"TensorUsage", MegEngineEvent::kTensorUsage, sizeof(uint64_t), &WriteAbout, nullptr},
    {"TensorRelease", MegEngineEvent::kTensorRelease, sizeof(uint64_t), &WriteAbout, nullptr},
    {"TensorErase", MegEngineEvent::kTensorErase, sizeof(TensorErase), &WriteErase, nullptr},
    {"TensorGetProp", MegEngineEvent::kTensorGetProp, sizeof(TensorDetail), &WriteDetail, nullptr},
    {"TensorNotifyProp", MegEngineEvent::kTensorNotifyProp, sizeof(TensorNotify), &WriteNotify, nullptr},
    {"TensorWaitProp", MegEngineEvent::kTensorWaitProp, sizeof(TensorWait), &WriteWait, &ProbeWait},
    {"TensorCommand", MegEngineEvent::kTensorCommand, sizeof(TensorDetail), &WriteDetail, nullptr},
    {"SampleDevice", MegEngineEvent::kSampleDevice, sizeof(SampleDevice), &WriteSample, &ProbeDevice<SampleDevice>},
    {"WorkerException", MegEngineEvent::kWorkerException, 0, &WriteBare, nullptr},
    {"ShapeInfer", MegEngineEvent::kShapeInfer, 1, &WriteShapeInfer, nullptr},
    {"Scope", MegEngineEvent::kScope, sizeof(Scope), &WriteScope, &ProbeName<Scope>},
    {"StartProfile", MegEngineEvent::kStartProfile, 0, &WriteBare, nullptr},
    {"StopProfile", MegEngineEvent::kStopProfile, 0, &WriteBare, nullptr},
    {"StopStep", MegEngineEvent::kStopStep, 0, &WriteBare, nullptr},
    {"AutoEvict", MegEngineEvent::kAutoEvict, 0, &WriteBare, nullptr},
    {"Custom", MegEngineEvent::kCustom, sizeof(Custom), &WriteCustom, &ProbeCustom},
    {"RecordDevice", MegEngineEvent::kRecordDevice, sizeof(RecordDevice), &WriteRecordDevice, &ProbeRecordDevice},
    {"HostToDevice", MegEngineEvent::kHostToDevice, sizeof(HostToDevice), &WriteHostToDevice,
     &ProbeTensor<HostToDevice>},
};

}  // namespace

const EventLayout* FindEventLayout(std::string_view name) {
  for (const EventLayout& layout : kEventLayouts) {
    if (layout.name == name) return &layout;
  }
  return nullptr;
}

}  // namespace opscope::megengine
