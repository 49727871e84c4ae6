// Members are read one by one with simdjson's on-demand parser. A member of a wrong type keeps its default, because the
// rest of the block is still useful, above all the calibrations, without which all times would be wrong. Unknown
// members are copied unchanged and become options of the Trace.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/window.h"

#include "base/json_object.h"
#include "base/metadata_keys.h"
#include "base/text.h"
#include "import/recording/parsed_json.h"

namespace opscope {
namespace {

namespace json = simdjson::ondemand;

// Makes simdjson choose its implementation for this processor at start: its choice crashes if memory is refused.
[[maybe_unused]] const bool simdjson_has_chosen = !simdjson::get_active_implementation()->name().empty();

// The functions below return a default for a value of another type.
uint64_t NumberOf(json::value value) {
  uint64_t positive = 0;
  if (value.get(positive) == simdjson::SUCCESS) return positive;
  int64_t number = 0;
  return value.get(number) == simdjson::SUCCESS ? static_cast<uint64_t>(number) : 0;
}

std::string TextOf(json::value value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::string RawOf(json::value value) {
  std::string_view text;
  json::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return {};
  if (type == json::json_type::object) {
    json::object object;
    if (value.get(object) != simdjson::SUCCESS || object.raw_json().get(text) != simdjson::SUCCESS) return {};
  } else if (type == json::json_type::array) {
    json::array array;
    if (value.get(array) != simdjson::SUCCESS || array.raw_json().get(text) != simdjson::SUCCESS) return {};
  } else {
    text = value.raw_json_token();
  }
  return std::string(text.substr(0, text.find_last_not_of(kJsonBlanks) + 1));
}

// Calls visit(key, value) for each member; the key without its escapes.
template <typename Visit>
bool ForEachMember(json::object object, Visit visit) {
  for (auto member : object) {
    json::field field;
    std::string_view key;
    if (std::move(member).get(field) != simdjson::SUCCESS) return false;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) continue;
    visit(key, field.value());
  }
  return true;
}

template <typename Visit>
void ForEachElement(json::value value, Visit visit) {
  json::array array;
  if (value.get(array) != simdjson::SUCCESS) return;
  for (auto element : array) {
    json::value item;
    if (element.get(item) != simdjson::SUCCESS) return;
    visit(item);
  }
}

std::vector<uint64_t> NumbersOf(json::value value) {
  std::vector<uint64_t> numbers;
  ForEachElement(value, [&](json::value number) { numbers.push_back(NumberOf(number)); });
  return numbers;
}

// [ticks, nanoseconds]
std::optional<Calibration> CalibrationOf(json::value value) {
  const std::vector<uint64_t> numbers = NumbersOf(value);
  if (numbers.size() < 2) return std::nullopt;
  return Calibration{numbers[0], static_cast<int64_t>(numbers[1])};
}

void ReadCalibrations(json::value value, WindowInfo* info) {
  ForEachElement(value, [info](json::value row) {
    if (const std::optional<Calibration> calibration = CalibrationOf(row)) info->calibrations.push_back(*calibration);
  });
}

void ReadThreads(json::value value, WindowInfo* info) {
  ForEachElement(value, [info](json::value row) {
    json::object object;
    if (row.get(object) != simdjson::SUCCESS) return;
    WindowThread thread;
    ForEachMember(object, [&thread](std::string_view key, json::value member) {
      if (key == "index") thread.index = static_cast<uint32_t>(NumberOf(member));
      if (key == "os_thread") thread.os_thread = NumberOf(member);
      if (key == "logical_thread") thread.logical_thread = NumberOf(member);
      if (key == "name") thread.name = TextOf(member);
      if (key == "recorded") thread.recorded = NumberOf(member);
      if (key == "dropped") thread.dropped = NumberOf(member);
    });
    info->threads.push_back(std::move(thread));
  });
}

void ReadWallClock(json::value value, WindowInfo* info) {
  const std::vector<uint64_t> numbers = NumbersOf(value);
  if (numbers.size() == 3) info->wall_clock.assign(numbers.begin(), numbers.end());
}

void ReadFailure(json::value value, WindowInfo* info) {
  json::object object;
  std::string error, step;
  if (value.get(object) != simdjson::SUCCESS) return;
  ForEachMember(object, [&](std::string_view key, json::value member) {
    if (key == "error") error = TextOf(member);
    if (key == "step") step = TextOf(member);
  });
  info->record_to_failure = error + " " + step;
}

void ReadMetadata(json::value value, WindowInfo* info) {
  json::object object;
  if (value.get(object) != simdjson::SUCCESS) return;
  ForEachMember(object, [info](std::string_view key, json::value member) {
    std::string text = RawOf(member);
    if (!text.empty()) info->metadata.emplace_back(std::string(key), std::move(text));
  });
}

void ReadMember(std::string_view key, json::value value, WindowInfo* info, std::string* options) {
  if (key == "generation") {
    info->window = NumberOf(value);
  } else if (key == "pid") {
    info->process = static_cast<int64_t>(NumberOf(value));
  } else if (key == "process_name") {
    info->process_name = TextOf(value);
  } else if (key == "boot") {
    info->boot = TextOf(value);
  } else if (key == "wall_clock") {
    ReadWallClock(value, info);
  } else if (key == "parent_pid" || key == "parent_generation") {
    info->metadata.emplace_back(std::string(key), RawOf(value));
  } else if (key == "calibrations") {
    ReadCalibrations(value, info);
  } else if (key == "threads") {
    ReadThreads(value, info);
  } else if (key == "live") {
    bool live = false;
    info->is_live = value.get(live) == simdjson::SUCCESS && live;
  } else if (key == "rate") {
    info->rate = CalibrationOf(value).value_or(Calibration{});
  } else if (key == "record_to") {
    ReadFailure(value, info);
  } else if (key == "metadata") {
    ReadMetadata(value, info);
  } else {
    const std::string raw = RawOf(value);
    if (key == "at_cap") info->keeps_newest = raw == "\"keep_newest\"";
    JsonMemberWriter(options).EscapedKey(key).append(raw);
  }
}

// One stray byte in a name must not cost the calibrations.
std::string WithoutStrayBytes(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    clean += length == 0 ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

}  // namespace

std::optional<WindowInfo> ParseWindowInfo(std::span<const std::byte> bytes) {
  ParsedJson parsed(WithoutStrayBytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  json::object root;
  if (!parsed.Get(&root)) return std::nullopt;
  WindowInfo info;
  std::string options;
  const bool whole =
      ForEachMember(root, [&](std::string_view key, json::value value) { ReadMember(key, value, &info, &options); });
  if (!whole) return std::nullopt;
  info.options_json = "{" + options + "}";
  return info;
}

void AddMachine(const std::vector<WindowInfo>& windows, TraceBuilder* builder) {
  std::string readings;
  for (const WindowInfo& window : windows) {
    if (window.boot.empty() || window.boot != windows.front().boot || window.wall_clock.empty()) return;
    readings += readings.empty() ? "[" : ",[";
    for (const int64_t ns : window.wall_clock) {
      if (readings.back() != '[') readings += ',';
      AppendInt(&readings, ns);
    }
    readings += ']';
  }
  if (windows.empty()) return;
  std::string boot;
  AppendJsonString(&boot, windows.front().boot);
  builder->AddMetadata(kBootKey, boot);
  builder->AddMetadata(kWallClockKey, "[" + readings + "]");
}

}  // namespace opscope
