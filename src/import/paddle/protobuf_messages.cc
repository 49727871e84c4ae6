// One function per message. The fields that were read are noted as bits in `seen`, because a message without one of
// them is damaged, although protobuf allows it. A field's wire type is checked only for being a number or bytes;
// unknown fields are skipped, so newer versions of the format can be read.
// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/protobuf_messages.h"

#include <iterator>
#include <vector>

#include "base/json_object.h"
#include "base/text.h"
#include "import/paddle/device_members.h"
#include "opscope/paddle/device_properties.h"

namespace opscope {
namespace {

void Note(const ProtoReader& message, uint32_t* seen) {
  if (message.field() < 32) *seen |= 1u << message.field();
}

bool ReadKernel(ProtoReader message, JsonMemberWriter* detail) {
  PaddleKernelFields kernel;
  while (message.NextWhole()) {
    if (!message.is_number()) continue;
    if (message.field() < std::size(kernel.numbers)) kernel.numbers[message.field()] = message.number();
    if (message.field() >= 15 && message.field() <= 17) kernel.fractions[message.field() - 15] = message.float32();
  }
  if (message.failed()) return false;
  WritePaddleKernel(kernel, detail);
  return true;
}

bool ReadCopyOrSet(ProtoReader message, bool is_set, const PaddleDeviceEvent& event, JsonMemberWriter* detail) {
  uint64_t bytes = 0, value = 0;
  std::string_view kinds[3];
  while (message.NextWhole()) {
    if (message.is_bytes() && message.field() >= 2 && message.field() <= 4)
      kinds[message.field() - 2] = message.bytes();
    if (!message.is_number()) continue;
    if (message.field() == 1) bytes = message.number();
    if (message.field() == 3) value = message.number();
  }
  if (message.failed()) return false;
  detail->Uint("bytes", bytes);
  if (is_set) {
    detail->Uint("value", value);
  } else {
    const double duration = event.end_ns > event.start_ns ? static_cast<double>(event.end_ns - event.start_ns) : 0;
    detail->Double("memory bandwidth (GB/s)", duration == 0 ? 0 : static_cast<double>(bytes) / duration);
  }
  WritePaddleTextIfAny(is_set ? "memory kind" : "copy kind", kinds[0], detail);
  WritePaddleTextIfAny("source kind", kinds[1], detail);
  WritePaddleTextIfAny("destination kind", kinds[2], detail);
  return true;
}

// Reads one of the lists of an operator: names in field 1, and messages with the values of each in field 2. `joined`
// gets the values of all.
bool ReadNamedLists(ProtoReader message, bool (*append_value)(ProtoReader, std::string*), std::string* out,
                    std::string* joined) {
  std::vector<std::string_view> keys;
  std::vector<ProtoReader> values;
  while (message.NextWhole()) {
    if (!message.is_bytes()) continue;
    if (message.field() == 1) keys.push_back(message.bytes());
    if (message.field() == 2) values.push_back(message.message());
  }
  if (message.failed()) return false;
  *out += '{';
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) *out += ", ";
    AppendJsonString(out, keys[i]);
    *out += ": [";
    const size_t begin = out->size();
    if (i < values.size() && !append_value(values[i], out)) return false;
    if (out->size() != begin) joined->append(joined->size() > 1 ? ", " : "").append(*out, begin);
    *out += ']';
  }
  *out += '}';
  return true;
}

bool AppendTypes(ProtoReader message, std::string* out) {
  for (bool first = true; message.NextWhole();) {
    if (message.field() != 1 || !message.is_bytes()) continue;
    if (!first) *out += ", ";
    first = false;
    AppendJsonString(out, message.bytes());
  }
  return !message.failed();
}

bool AppendShape(ProtoReader message, std::string* out) {
  *out += '[';
  for (bool first = true; message.NextWhole();) {
    if (message.field() != 1 || !message.is_number()) continue;
    if (!first) *out += ", ";
    first = false;
    AppendInt(out, message.signed_number());  // a dimension of -1 is written as an unsigned number
  }
  *out += ']';
  return !message.failed();
}

bool AppendShapes(ProtoReader message, std::string* out) {
  for (bool first = true; message.NextWhole();) {
    if (message.field() != 1 || !message.is_bytes()) continue;
    if (!first) *out += ", ";
    first = false;
    if (!AppendShape(message.message(), out)) return false;
  }
  return !message.failed();
}

}  // namespace

bool ReadPaddleHostCall(ProtoReader* message, PaddleCall* call) {
  uint64_t* const numbers[] = {nullptr,       nullptr,        &call->type,  &call->start_ns,
                               &call->end_ns, &call->process, &call->thread};
  while (message->NextWhole()) {
    if (message->field() == 1 && message->is_bytes()) {
      call->name = message->bytes();
    } else if (message->field() >= 2 && message->field() <= 6 && message->is_number()) {
      *numbers[message->field()] = message->number();
    } else {
      continue;
    }
    Note(*message, &call->seen);
  }
  return !message->failed();
}

bool ReadPaddleRuntimeCall(ProtoReader* message, PaddleCall* call) {
  uint64_t correlation = 0, callback = 0;
  uint64_t* const numbers[] = {nullptr,        nullptr,       &call->start_ns, &call->end_ns,
                               &call->process, &call->thread, &correlation,    &callback};
  while (message->NextWhole()) {
    if (message->field() == 1 && message->is_bytes()) {
      call->name = message->bytes();
    } else if (message->field() >= 2 && message->field() <= 7 && message->is_number()) {
      *numbers[message->field()] = message->number();
    } else {
      continue;
    }
    Note(*message, &call->seen);
  }
  call->correlation = static_cast<uint32_t>(correlation);
  call->callback = static_cast<uint32_t>(callback);
  return !message->failed();
}

bool ReadPaddleDeviceEvent(ProtoReader* message, PaddleDeviceEvent* event) {
  uint64_t correlation = 0;
  uint64_t* const numbers[] = {nullptr,        nullptr,         &event->type,   &event->start_ns, &event->end_ns,
                               &event->device, &event->context, &event->stream, &correlation};
  ProtoReader detail{{}};
  uint32_t detail_field = 0;
  while (message->NextWhole()) {
    if (message->field() == 1 && message->is_bytes()) {
      event->name = message->bytes();
    } else if (message->field() >= 2 && message->field() <= 8 && message->is_number()) {
      *numbers[message->field()] = message->number();
    } else if (message->field() >= 9 && message->field() <= 11 && message->is_bytes()) {
      detail_field = message->field();
      detail = message->message();
    } else {
      continue;
    }
    Note(*message, &event->seen);
  }
  if (message->failed()) return false;
  event->correlation = static_cast<uint32_t>(correlation);
  JsonMemberWriter members(&event->detail, JsonMemberWriter::kSpaced);
  members.Uint("device", event->device).Uint("context", event->context).Uint("stream", event->stream);
  if (detail_field == 9) return ReadKernel(detail, &members);
  return detail_field == 0 || ReadCopyOrSet(detail, detail_field == 11, *event, &members);
}

bool ReadPaddleMemoryMessage(ProtoReader* message, PaddleMemoryMessage* event) {
  uint64_t increase = 0;
  uint64_t* const numbers[] = {nullptr,
                               &event->time_ns,
                               &event->type,
                               &event->address,
                               &event->process,
                               &event->thread,
                               &increase,
                               nullptr,
                               &event->current_allocated,
                               &event->current_reserved,
                               &event->peak_allocated,
                               &event->peak_reserved};
  while (message->NextWhole()) {
    if (message->field() == 7 && message->is_bytes()) {
      event->place = message->bytes();
    } else if (message->field() >= 1 && message->field() <= 11 && message->field() != 7 && message->is_number()) {
      *numbers[message->field()] = message->number();
    } else {
      continue;
    }
    Note(*message, &event->seen);
  }
  event->increase_bytes = static_cast<int64_t>(increase);
  return !message->failed();
}

bool ReadPaddleOperator(ProtoReader* message, PaddleOperator* op) {
  std::string shapes = "{}", types = "{}", stack = "\"\"";
  std::string_view op_type;
  uint64_t op_id = 0;
  while (message->NextWhole()) {
    if (message->field() == 8 && message->is_number()) op_id = message->number();
    if (!message->is_bytes()) continue;
    if (message->field() == 2) op_type = message->bytes();
    if (message->field() == 5) {
      shapes.clear(), op->dims = "[";
      if (!ReadNamedLists(message->message(), AppendShapes, &shapes, &op->dims)) return false;
    } else if (message->field() == 6) {
      types.clear(), op->types = "[";
      if (!ReadNamedLists(message->message(), AppendTypes, &types, &op->types)) return false;
    } else if (message->field() == 7) {
      stack.clear();
      AppendJsonString(&stack, message->bytes());
    }
  }
  op->dims += "]", op->types += "]";
  JsonMemberWriter members(&op->members, JsonMemberWriter::kSpaced);
  members.Key("input_shapes").append(shapes);
  members.Key("input_dtypes").append(types);
  members.Key("callstack").append(stack);
  WritePaddleTextIfAny("op type", op_type, &members);
  WritePaddleNumberIfAny("op id", op_id, &members);
  return !message->failed();
}

bool ReadPaddleDeviceProperties(ProtoReader* message, std::string* json) {
  uint64_t numbers[16] = {};
  std::string_view name;
  while (message->NextWhole()) {
    if (message->is_number() && message->field() < 16) numbers[message->field()] = message->number();
    if (message->is_bytes() && message->field() == kPaddleDeviceNameField) name = message->bytes();
  }
  std::string members;
  JsonMemberWriter writer(&members, JsonMemberWriter::kSpaced);
  for (const auto& [field, key] : kPaddleDeviceProperties) {
    writer.Uint(key, numbers[field]);
    if (field == 1) writer.Text("name", name);
  }
  *json = "{" + members + "}";
  return !message->failed();
}

}  // namespace opscope
