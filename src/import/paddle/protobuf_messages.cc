// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/protobuf_messages.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/text.h"
#include "opscope/paddle/device_properties.h"
#include "opscope/paddle/memory_events.h"

namespace opscope {
namespace {

constexpr uint64_t kMemcpy = 5, kMemset = 6;

void Note(const ProtoReader& message, uint32_t* seen) {
  if (message.field() < 32) *seen |= 1u << message.field();
}

void Key(std::string* out, std::string_view key) {
  if (!out->empty()) out->append(", ");
  out->append("\"").append(key).append("\": ");
}
void Member(std::string* out, std::string_view key, uint64_t value) {
  Key(out, key);
  AppendUint(out, value);
}

void MemberIfAny(std::string* out, std::string_view key, uint64_t value) {
  if (value != 0) Member(out, key, value);
}
void MemberIfAny(std::string* out, std::string_view key, std::string_view text) {
  // Paddle leaves some of them as it finds the memory.
  const bool is_text = IsUtf8(text) && std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; });
  if (text.empty() || !is_text) return;
  Key(out, key);
  AppendJsonString(out, text);
}

void AppendTriple(std::string* out, std::string_view key, const uint64_t* values) {
  Key(out, key);
  out->append("[");
  for (int i = 0; i < 3; ++i) {
    if (i > 0) out->append(", ");
    AppendUint(out, values[i]);
  }
  out->append("]");
}

bool ReadKernel(ProtoReader message, std::string* detail) {
  uint64_t numbers[15] = {};
  double fractions[3] = {};
  while (message.NextWhole()) {
    if (!message.is_number()) continue;
    if (message.field() < 15) numbers[message.field()] = message.number();
    if (message.field() >= 15 && message.field() <= 17) fractions[message.field() - 15] = message.float32();
  }
  if (message.failed()) return false;
  Member(detail, "registers per thread", numbers[9]);
  Member(detail, "shared memory", numbers[7] + numbers[8]);
  Key(detail, "blocks per SM");
  AppendFixedDecimals(detail, fractions[0], 6);
  Key(detail, "warps per SM");
  AppendFixedDecimals(detail, fractions[1], 6);
  AppendTriple(detail, "grid", numbers + 4);
  AppendTriple(detail, "block", numbers + 1);
  Key(detail, "theoretical achieved occupancy %");
  AppendFixedDecimals(detail, fractions[2] * 100, 3);
  // What Paddle's JSON has not: whoever writes the protobuf again asks for it.
  MemberIfAny(detail, "dynamic shared memory", numbers[7]);
  MemberIfAny(detail, "local memory per thread", numbers[10]);
  MemberIfAny(detail, "local memory total", numbers[11]);
  MemberIfAny(detail, "queued", numbers[12]);
  MemberIfAny(detail, "submitted", numbers[13]);
  MemberIfAny(detail, "completed", numbers[14]);
  constexpr const char* kExact[] = {"exact blocks per SM", "exact warps per SM", "exact occupancy"};
  for (int i = 0; i < 3; ++i) {
    std::string shown;
    AppendFixedDecimals(&shown, i < 2 ? fractions[i] : fractions[i] * 100, i < 2 ? 6 : 3);
    const float read = std::strtof(shown.c_str(), nullptr);
    if ((i < 2 ? read : read / 100) == static_cast<float>(fractions[i]) || !std::isfinite(fractions[i])) continue;
    Key(detail, kExact[i]);
    AppendDouble(detail, fractions[i]);
  }
  return true;
}

bool ReadCopyOrSet(ProtoReader message, uint64_t type, const PaddleDeviceEvent& event, std::string* detail) {
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
  Member(detail, "bytes", bytes);
  if (type == kMemset) {
    Member(detail, "value", value);
  } else {
    Key(detail, "memory bandwidth (GB/s)");
    const bool has_time = event.end_ns > event.start_ns;
    AppendDouble(detail,
                 has_time ? static_cast<double>(bytes) / static_cast<double>(event.end_ns - event.start_ns) : 0);
  }
  MemberIfAny(detail, type == kMemset ? "memory kind" : "copy kind", kinds[0]);
  MemberIfAny(detail, "source kind", kinds[1]);
  MemberIfAny(detail, "destination kind", kinds[2]);
  return true;
}

// One of the lists of an operator: texts under field 1, and messages of values under field 2, side by side. `joined`
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

void AppendFixedDecimals(std::string* out, double value, int decimals) {
  if (!std::isfinite(value)) {
    out->append("null");
    return;
  }
  char text[400];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals);
  out->append(text, end.ptr);
}

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
  Member(&event->detail, "device", event->device);
  Member(&event->detail, "context", event->context);
  Member(&event->detail, "stream", event->stream);
  if (detail_field == 9) return ReadKernel(detail, &event->detail);
  if (detail_field == 0) return true;
  return ReadCopyOrSet(detail, detail_field == 10 ? kMemcpy : kMemset, *event, &event->detail);
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
  Key(&op->members, "input_shapes");
  op->members.append(shapes);
  Key(&op->members, "input_dtypes");
  op->members.append(types);
  Key(&op->members, "callstack");
  op->members.append(stack);
  MemberIfAny(&op->members, "op type", op_type);
  MemberIfAny(&op->members, "op id", op_id);
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
  for (const auto& [field, key] : kPaddleDeviceProperties) {
    Member(&members, key, numbers[field]);
    if (field != 1) continue;
    Key(&members, "name");
    AppendJsonString(&members, name);
  }
  *json = "{" + members + "}";
  return !message->failed();
}

}  // namespace opscope
