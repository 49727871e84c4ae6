// Reads from a Trace what Paddle's files contain besides times and names. In a Trace from a Paddle file, `extra` and the
// metadata have Paddle's keys; in a Trace from a recording they have Kineto's ("numSms", "est. achieved occupancy %").
// Both are accepted here, so that the writers of JSON and protobuf treat them alike.
// SPDX-License-Identifier: Apache-2.0
#include "export/paddle/facts.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <unordered_set>

#include "base/json_decode.h"
#include "base/json_members.h"
#include "opscope/paddle/device_properties.h"

namespace opscope {
namespace {

std::string_view Inside(std::string_view bracketed) {
  return bracketed.size() < 2 ? std::string_view() : bracketed.substr(1, bracketed.size() - 2);
}

template <typename Number>
Number LeadingNumber(std::string_view text) {
  Number number = 0;
  if (text.starts_with('"')) text.remove_prefix(1);
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Calls item(value) for each element of "[a, b]".
template <typename Item>
void ForEachItem(std::string_view array, const Item& item) {
  const std::string_view items = Inside(array);
  for (size_t at = items.find_first_not_of(" ,"); at < items.size(); at = items.find_first_not_of(" ,", at)) {
    const size_t end = std::max(EndOfJsonValue(items, at), at + 1);
    item(items.substr(at, end - at));
    at = end;
  }
}

std::array<uint64_t, 3> TripleOf(std::string_view array) {
  std::array<uint64_t, 3> numbers = {};
  size_t count = 0;
  ForEachItem(array, [&](std::string_view item) {
    if (count < 3) numbers[count++] = LeadingNumber<uint64_t>(item);
  });
  return numbers;
}

struct NumberMember {
  std::string_view key;
  uint64_t PaddleDeviceFacts::* to;
};
constexpr NumberMember kNumbers[] = {
    {"device", &PaddleDeviceFacts::device},
    {"context", &PaddleDeviceFacts::context},
    {"stream", &PaddleDeviceFacts::stream},
    {"shared memory", &PaddleDeviceFacts::shared_memory},
    {"dynamic shared memory", &PaddleDeviceFacts::dynamic_shared_memory},
    {"registers per thread", &PaddleDeviceFacts::registers},
    {"local memory per thread", &PaddleDeviceFacts::local_memory},
    {"local memory total", &PaddleDeviceFacts::local_memory_total},
    {"queued", &PaddleDeviceFacts::queued},
    {"submitted", &PaddleDeviceFacts::submitted},
    {"completed", &PaddleDeviceFacts::completed},
    {"bytes", &PaddleDeviceFacts::bytes},
    {"value", &PaddleDeviceFacts::value},
};

struct TextMember {
  std::string_view key;
  std::string PaddleDeviceFacts::* to;
};
constexpr TextMember kTexts[] = {
    {"copy kind", &PaddleDeviceFacts::copy_kind},
    {"source kind", &PaddleDeviceFacts::source_kind},
    {"destination kind", &PaddleDeviceFacts::destination_kind},
    {"memory kind", &PaddleDeviceFacts::memory_kind},
};

void ReadFractions(std::string_view key, std::string_view value, PaddleDeviceFacts* facts) {
  const auto fraction = [&] { return std::strtof(std::string(value).c_str(), nullptr); };
  if (key == "blocks per SM" || key == "exact blocks per SM") facts->blocks_per_sm = fraction();
  if (key == "warps per SM" || key == "exact warps per SM") facts->warps_per_sm = fraction();
  // The second key is Kineto's.
  if (key == "theoretical achieved occupancy %" || key == "est. achieved occupancy %")
    facts->occupancy = fraction() / 100;
  if (key == "exact occupancy") facts->occupancy = fraction();
}

void AddThreadNames(const Trace& trace, PaddleRunFacts* facts) {
  const TrackColumns& tracks = trace.tracks();
  std::unordered_set<int64_t> named;
  for (size_t track = 0; track < tracks.size(); ++track) {
    const std::string_view name = trace.text(tracks.name[track]);
    if (tracks.kind[track] != TrackKind::kThread || name.empty() || !named.insert(tracks.tid[track]).second) continue;
    facts->extra_info.emplace_back(std::to_string(tracks.tid[track]), name);
  }
}

}  // namespace

std::string TextOfJson(std::string_view json) {
  if (json.size() < 2 || json.front() != '"') return std::string(json);
  std::string text;
  AppendDecoded(&text, Inside(json));
  return text;
}

void LeaveOutOfPaddle(const Trace& trace, const PaddleNodeTrees& trees, ExportOutput* out) {
  const TrackColumns& tracks = trace.tracks();
  uint64_t of_devices = 0, of_others = 0;
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDeviceStream) of_devices += tracks.span_count[track];
    if (tracks.kind[track] == TrackKind::kDeviceAnnotation || tracks.kind[track] == TrackKind::kOther)
      of_others += tracks.span_count[track];
  }
  const auto without = [](uint64_t all, uint64_t kept) { return all > kept ? all - kept : 0; };
  uint64_t instants = 0;  // instants that are memory events
  for (const PaddleMemoryRow& row : trees.memory)
    instants += row.instant != UINT32_MAX ? 1 : 0;
  out->CountOmitted("spans of devices that no call launched", without(of_devices, trees.device.size()));
  out->CountOmitted("spans of tracks that are not threads or streams", of_others);
  out->CountOmitted("asynchronous spans with an id", trace.async_spans().size());
  out->CountOmitted("instants", without(trace.instants().size(), instants));
  out->CountOmitted("counter samples", trace.counters().size());
  out->CountOmitted("flows", without(trace.flows().size(), trees.device.size()));
}

namespace {

// Reads a device of Paddle's or of Kineto's file; Kineto calls the number of SMs "numSms".
PaddleRunFacts::Device DeviceOf(std::string_view json) {
  PaddleRunFacts::Device device;
  ForEachJsonMember(Inside(json), [&](std::string_view key, std::string_view value) {
    if (key == "name") device.name = TextOfJson(value);
    for (const auto& [field, known] : kPaddleDeviceProperties) {
      if (key == known || (key == "numSms" && known == "smCount"))
        device.numbers[field] = LeadingNumber<uint64_t>(value);
    }
    return true;
  });
  return device;
}

}  // namespace

PaddleRunFacts ReadPaddleRunFacts(const Trace& trace) {
  PaddleRunFacts facts;
  facts.epoch_ns = static_cast<uint64_t>(trace.info().epoch_ns);
  const MetadataColumns& metadata = trace.metadata();
  bool is_paddles = false;
  for (size_t row = 0; row < metadata.size(); ++row) {
    const std::string_view key = trace.text(metadata.key[row]), json = trace.text(metadata.json[row]);
    if (key == "schemaVersion" && json.starts_with('"')) facts.version = TextOfJson(json);
    if (key == "span_index" || key == "span_indx") facts.span_index = LeadingNumber<uint64_t>(json);
    if (key == "deviceProperties" && json.starts_with('['))
      ForEachItem(json, [&](std::string_view device) { facts.devices.push_back(DeviceOf(device)); });
    if (key != "ExtraInfo") continue;
    is_paddles = true;
    ForEachJsonMember(Inside(json), [&](std::string_view name, std::string_view value) {
      facts.extra_info.emplace_back(TextOfJson("\"" + std::string(name) + "\""), TextOfJson(value));
      return true;
    });
  }
  if (is_paddles) return facts;
  // Paddle's summary fails without these entries.
  facts.extra_info.emplace_back("Process Cpu Utilization", "0.000000");
  facts.extra_info.emplace_back("System Cpu Utilization", "0.000000");
  AddThreadNames(trace, &facts);
  return facts;
}

PaddleDeviceFacts ReadPaddleDeviceFacts(const Trace& trace, size_t span) {
  PaddleDeviceFacts facts;
  const TrackColumns& tracks = trace.tracks();
  const uint32_t track = Row(trace.spans().track[span]);
  facts.stream = static_cast<uint64_t>(tracks.tid[track]);
  if (tracks.device[track] >= 0) facts.device = static_cast<uint64_t>(tracks.device[track]);
  ForEachJsonMember(trace.text(trace.spans().extra[span]), [&](std::string_view key, std::string_view value) {
    for (const NumberMember& member : kNumbers) {
      if (key == member.key) facts.*member.to = LeadingNumber<uint64_t>(value);
    }
    for (const TextMember& member : kTexts) {
      if (key == member.key) facts.*member.to = TextOfJson(value);
    }
    if (key == "grid") facts.grid = TripleOf(value);
    if (key == "block") facts.block = TripleOf(value);
    ReadFractions(key, value, &facts);
    return true;
  });
  return facts;
}

PaddleOperatorFacts ReadPaddleOperatorFacts(std::string_view members) {
  PaddleOperatorFacts facts;
  ForEachJsonMember(members, [&](std::string_view key, std::string_view value) {
    if (key == "input_shapes" || key == "input_dtypes") {
      facts.any = true;
      const bool is_shapes = key == "input_shapes";
      ForEachJsonMember(Inside(value), [&](std::string_view name, std::string_view items) {
        PaddleSlot& slot = (is_shapes ? facts.shapes : facts.types).emplace_back();
        slot.name = TextOfJson("\"" + std::string(name) + "\"");
        ForEachItem(items, [&](std::string_view item) {
          if (!is_shapes) return slot.types.push_back(TextOfJson(item));
          std::vector<int64_t>& shape = slot.shapes.emplace_back();
          ForEachItem(item, [&](std::string_view number) { shape.push_back(LeadingNumber<int64_t>(number)); });
        });
        return true;
      });
    }
    if (key == "callstack") facts.call_stack = TextOfJson(value);
    if (key == "op type") facts.op_type = TextOfJson(value);
    if (key == "op id") facts.op_id = LeadingNumber<uint64_t>(value);
    return true;
  });
  return facts;
}

}  // namespace opscope
