// SPDX-License-Identifier: Apache-2.0
#include "analysis/group_keys.h"

#include <algorithm>
#include <utility>

#include "opscope/analysis/function_events.h"

namespace opscope {
namespace {

constexpr uint32_t kUnknown = 0xffffffff;

constexpr std::pair<std::string_view, GroupKey> kNames[] = {
    {"name", GroupKey::kName},     {"shape", GroupKey::kShape},   {"category", GroupKey::kCategory},
    {"thread", GroupKey::kThread}, {"device", GroupKey::kDevice}, {"stack", GroupKey::kStack},
    {"module", GroupKey::kModule},
};

std::string StackText(const Trace& trace, StackId id) {
  std::vector<std::string_view> frames;  // innermost first
  for (; id != StackId::kNone; id = trace.stacks().caller[Row(id)]) {
    frames.push_back(trace.text(trace.frames().text[Row(trace.stacks().frame[Row(id)])]));
  }
  std::string text;
  for (size_t i = frames.size(); i-- > 0;) {
    text += frames[i];
    if (i > 0) text += ';';
  }
  return text;
}

}  // namespace

std::optional<GroupKey> GroupKeyFromName(std::string_view name) {
  for (const auto& [known, key] : kNames) {
    if (known == name) return key;
  }
  return std::nullopt;
}

std::string TrackLabel(const Trace& trace, TrackId track) {
  const TrackColumns& tracks = trace.tracks();
  const StringId name = tracks.name[Row(track)];
  if (name != StringId::kNone && name != StringId::kEmpty) return std::string(trace.text(name));
  const StringId text = tracks.tid_text[Row(track)];
  return text == StringId::kNone ? std::to_string(tracks.tid[Row(track)]) : std::string(trace.text(text));
}

SpanGrouper::SpanGrouper(const Trace& trace, const std::vector<GroupKey>& keys) : trace_(trace) {
  for (GroupKey key : keys) {
    if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys_.push_back(key);
  }
  has_name_ = std::find(keys_.begin(), keys_.end(), GroupKey::kName) != keys_.end();
  shape_of_args_.assign(trace.argument_list_count(), kUnknown);
  if (std::find(keys_.begin(), keys_.end(), GroupKey::kModule) != keys_.end()) modules_ = FindModules(trace);
}

size_t SpanGrouper::KeyHash::operator()(const Key& key) const {
  uint64_t hash = 0;
  for (uint32_t part : key)
    hash = (hash ^ (hash >> 29) ^ part) * 0x9e3779b97f4a7c15u;
  return static_cast<size_t>(hash ^ (hash >> 32));
}

uint32_t SpanGrouper::Find(size_t span) {
  Key key = {};
  for (size_t i = 0; i < keys_.size(); ++i)
    key[i] = Value(keys_[i], span);
  return rows_.try_emplace(key, static_cast<uint32_t>(rows_.size())).first->second;
}

uint32_t SpanGrouper::Value(GroupKey key, size_t span) {
  const SpanColumns& spans = trace_.spans();
  switch (key) {
    case GroupKey::kName:
      return Row(spans.name[span]);
    case GroupKey::kShape:
      return ShapeValue(spans.args[span]);
    case GroupKey::kCategory:
      return Row(spans.category[span]);
    case GroupKey::kThread:
      return Row(spans.track[span]);
    case GroupKey::kDevice:
      return static_cast<uint32_t>(trace_.tracks().device[Row(spans.track[span])]);
    case GroupKey::kStack:
      return Row(spans.stack[span]);
    case GroupKey::kModule:
      return modules_.node_of[span];
  }
  return 0;
}

// Different argument lists can have the same shapes.
uint32_t SpanGrouper::ShapeValue(ArgsId args) {
  if (args == ArgsId::kNone) return kUnknown;
  uint32_t& shape = shape_of_args_[Row(args)];
  if (shape == kUnknown) {
    shape = shapes_.try_emplace(InputShapesText(trace_, args), static_cast<uint32_t>(shapes_.size())).first->second;
  }
  return shape;
}

std::vector<std::string> SpanGrouper::TextNames() const {
  std::vector<std::string> names;
  for (GroupKey key : keys_) {
    for (const auto& [name, known] : kNames) {
      if (known == key && key != GroupKey::kName) names.emplace_back(name);
    }
  }
  return names;
}

std::vector<std::string> SpanGrouper::Texts(size_t span) const {
  const SpanColumns& spans = trace_.spans();
  std::vector<std::string> texts;
  for (GroupKey key : keys_) {
    const int32_t device = trace_.tracks().device[Row(spans.track[span])];
    switch (key) {
      case GroupKey::kName:
        break;
      case GroupKey::kShape:
        texts.push_back(spans.args[span] == ArgsId::kNone ? "" : InputShapesText(trace_, spans.args[span]));
        break;
      case GroupKey::kCategory:
        texts.emplace_back(trace_.text(spans.category[span]));
        break;
      case GroupKey::kThread:
        texts.push_back(TrackLabel(trace_, spans.track[span]));
        break;
      case GroupKey::kDevice:
        texts.push_back(device < 0 ? "" : std::to_string(device));
        break;
      case GroupKey::kStack:
        texts.push_back(StackText(trace_, spans.stack[span]));
        break;
      case GroupKey::kModule:
        texts.push_back(modules_.PathOf(modules_.node_of[span]));
        break;
    }
  }
  return texts;
}

}  // namespace opscope
