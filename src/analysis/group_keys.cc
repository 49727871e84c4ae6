// SPDX-License-Identifier: Apache-2.0
#include "analysis/group_keys.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analysis/torch/function_event_rules.h"
#include "opscope/torch/function_events.h"

namespace opscope {
namespace {

constexpr std::pair<std::string_view, GroupKey> kNames[] = {
    {"name", GroupKey::kName},     {"shape", GroupKey::kShape},   {"category", GroupKey::kCategory},
    {"thread", GroupKey::kThread}, {"device", GroupKey::kDevice}, {"stack", GroupKey::kStack},
    {"module", GroupKey::kModule}, {"kind", GroupKey::kKind},
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

NumberTable::NumberTable(size_t size) : values_(static_cast<uint32_t*>(std::calloc(size + 1, sizeof(uint32_t)))) {
  if (values_ == nullptr) throw std::bad_alloc();
}

SpanGrouper::SpanGrouper(const Trace& trace, const std::vector<GroupKey>& keys, bool join_steps)
    : trace_(trace),
      spans_(trace.spans()),
      texts_(static_cast<uint32_t>(trace.string_count())),
      stacks_(static_cast<uint32_t>(trace.stacks().size())) {
  const auto has = [&](GroupKey key) { return std::find(keys_.begin(), keys_.end(), key) != keys_.end(); };
  for (GroupKey key : keys) {
    if (!has(key)) keys_.push_back(key);
  }
  has_name_ = has(GroupKey::kName);
  if (join_steps) JoinSteps();
  if (has(GroupKey::kShape)) NumberShapes();
  if (has(GroupKey::kDevice)) NumberDevices();
  if (has(GroupKey::kModule)) modules_ = FindModules(trace);
}

void SpanGrouper::JoinSteps() {
  std::vector<uint32_t> steps;
  for (uint32_t name = 0; name < texts_; ++name) {
    if (IsProfilerStep(trace_.text(StringId{name}))) steps.push_back(name);
  }
  if (steps.size() < 2) return;
  first_name_.resize(size_t{steps.back()} + 1);
  std::iota(first_name_.begin(), first_name_.end(), 0u);
  for (const uint32_t name : steps)
    first_name_[name] = steps.front();
}

void SpanGrouper::NumberShapes() {
  std::unordered_map<std::string, uint32_t> shapes;
  shape_of_args_.reserve(trace_.argument_list_count());
  for (uint32_t list = 0; list < trace_.argument_list_count(); ++list) {
    const auto next = static_cast<uint32_t>(shapes.size());
    shape_of_args_.push_back(shapes.try_emplace(InputShapesText(trace_, ArgsId{list}), next).first->second);
  }
}

void SpanGrouper::NumberDevices() {
  std::unordered_map<int32_t, uint32_t> devices;
  for (const int32_t device : trace_.tracks().device)
    device_of_track_.push_back(devices.try_emplace(device, static_cast<uint32_t>(devices.size())).first->second);
}

// One more value for "none", which is the largest of all numbers.
size_t SpanGrouper::Values(GroupKey key) const {
  switch (key) {
    case GroupKey::kName:
    case GroupKey::kCategory:
      return size_t{texts_} + 1;
    case GroupKey::kShape:
      return shape_of_args_.size() + 1;
    case GroupKey::kThread:
    case GroupKey::kDevice:
      return trace_.tracks().size();
    case GroupKey::kStack:
      return size_t{stacks_} + 1;
    case GroupKey::kModule:
      return modules_.nodes.size();
    case GroupKey::kKind:
      return kSpanKinds;
  }
  return 0;
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
      case GroupKey::kKind:
        texts.emplace_back(SpanKindName(spans.kind[span]));
        break;
    }
  }
  return texts;
}

GroupRows::GroupRows(const SpanGrouper& grouper)
    : grouper_(grouper),
      by_value_(grouper.keys().size() == 1 ? grouper.Values(grouper.keys().front()) : 0),
      further_(std::max<size_t>(grouper.keys().size(), 1) - 1) {
}

uint32_t GroupRows::FindPair(uint32_t value, size_t span) {
  uint32_t row = value;
  for (size_t i = 0; i < further_.size(); ++i) {
    const uint64_t pair = uint64_t{row} << 32 | grouper_.Value(grouper_.keys()[i + 1], span);
    row = further_[i].try_emplace(pair, static_cast<uint32_t>(further_[i].size())).first->second;
  }
  return row;
}

void GroupRows::Clear() {
  for (const uint32_t value : used_)
    by_value_[value] = 0;
  used_.clear();
  for (auto& pairs : further_)
    pairs.clear();
}

}  // namespace opscope
