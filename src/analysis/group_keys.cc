// Maps each span to the row of its group. Each key of a span is a small integer: names are interned, and threads,
// shapes, stacks and modules are numbered once beforehand. The first key indexes an array (ZeroedArray), so the usual
// grouping by name needs no hashing; each further key is one hash look-up of (row so far, value). Example for name and
// thread: row of "aten::mm", then row of ("aten::mm", thread 2).
// SPDX-License-Identifier: Apache-2.0
#include "analysis/group_keys.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <unordered_map>

#include "analysis/track_labels.h"
#include "opscope/result.h"
#include "opscope/torch/function_events.h"

namespace opscope {
namespace {

constexpr std::string_view kNames[] = {"name",   "shape", "category", "thread", "device", "stack",
                                       "module", "kind",  "process",  "rank",   "step"};

}  // namespace

std::span<const std::string_view> GroupKeyNames() {
  return kNames;
}

std::optional<GroupKey> GroupKeyFromName(std::string_view name) {
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<GroupKey>(found - std::begin(kNames));
}

ZeroedArray::ZeroedArray(size_t size) : values_(static_cast<uint32_t*>(std::calloc(size + 1, sizeof(uint32_t)))) {
  if (values_ == nullptr) throw std::bad_alloc();
}

SpanGrouper::SpanGrouper(const Trace& trace, const std::vector<GroupKey>& keys, bool join_steps)
    : trace_(trace), spans_(trace.spans()), texts_(static_cast<uint32_t>(trace.string_count())) {
  const auto has = [&](GroupKey key) { return std::find(keys_.begin(), keys_.end(), key) != keys_.end(); };
  for (const GroupKey key : keys)
    if (!has(key)) keys_.push_back(key);
  has_name_ = has(GroupKey::kName);
  for (const TrackKind kind : trace.tracks().kind) {
    const bool is_on_device = kind == TrackKind::kDeviceStream || kind == TrackKind::kDeviceAnnotation;
    is_on_device_.push_back(is_on_device ? 1 : 0);
  }
  const auto number_or_none = [](int32_t number) { return number < 0 ? "" : std::to_string(number); };
  if (join_steps) step_names_ = StepNames(trace);
  if (has(GroupKey::kShape)) NumberShapes();
  if (has(GroupKey::kThread))
    NumberTracks(GroupKey::kThread, [labels = LabelTracks(trace)](uint32_t track) { return labels[track]; });
  if (has(GroupKey::kProcess)) {
    NumberTracks(GroupKey::kProcess, [&, labels = LabelProcesses(trace)](uint32_t track) {
      const ProcessId process = trace.tracks().process[track];
      return process == ProcessId::kNone ? "" : labels[Row(process)];
    });
  }
  if (has(GroupKey::kRank))
    NumberTracks(GroupKey::kRank, [&](uint32_t track) { return number_or_none(RankOfTrack(trace, TrackId{track})); });
  if (has(GroupKey::kDevice))
    NumberTracks(GroupKey::kDevice, [&](uint32_t track) { return number_or_none(trace.tracks().device[track]); });
  if (has(GroupKey::kStep)) NumberSteps();
  if (has(GroupKey::kStack)) stacks_ = FindStacks(trace);
  if (has(GroupKey::kModule)) modules_ = FindModules(trace);
}

template <typename TextOf>
void SpanGrouper::NumberTracks(GroupKey key, const TextOf& text_of) {
  TrackNumbers& numbers = of_tracks_[static_cast<size_t>(key)];
  std::unordered_map<std::string, uint32_t> known;
  for (uint32_t track = 0; track < trace_.tracks().size(); ++track) {
    const auto [found, is_new] = known.try_emplace(text_of(track), static_cast<uint32_t>(known.size()));
    if (is_new) numbers.texts.push_back(found->first);
    numbers.of_track.push_back(found->second);
  }
}

void SpanGrouper::NumberShapes() {
  std::unordered_map<std::string, uint32_t> shapes = {{"", 0}};
  shape_of_args_.reserve(trace_.argument_list_count());
  for (uint32_t list = 0; list < trace_.argument_list_count(); ++list) {
    const auto next = static_cast<uint32_t>(shapes.size());
    shape_of_args_.push_back(shapes.try_emplace(InputShapesText(trace_, ArgsId{list}), next).first->second);
  }
}

void SpanGrouper::NumberSteps() {
  steps_.emplace(trace_);
  step_numbers_.assign(trace_.steps().number.begin(), trace_.steps().number.end());
  std::sort(step_numbers_.begin(), step_numbers_.end());
  step_numbers_.erase(std::unique(step_numbers_.begin(), step_numbers_.end()), step_numbers_.end());
}

// Index in step_numbers_; step_numbers_.size() outside of steps.
uint32_t SpanGrouper::StepOf(size_t span) const {
  OPSCOPE_CHECK(steps_.has_value());
  const int64_t number = steps_->NumberAt(RankOfTrack(trace_, spans_.track[span]), spans_.start[span].ns);
  const auto found = std::lower_bound(step_numbers_.begin(), step_numbers_.end(), number);
  const bool is_step = found != step_numbers_.end() && *found == number;
  return static_cast<uint32_t>((is_step ? found : step_numbers_.end()) - step_numbers_.begin());
}

uint32_t SpanGrouper::OtherValue(GroupKey key, size_t span) const {
  switch (key) {
    case GroupKey::kName:
      break;
    case GroupKey::kShape:
      return spans_.args[span] == ArgsId::kNone ? 0 : shape_of_args_[Row(spans_.args[span])];
    case GroupKey::kCategory:
      return TextNumber(spans_.category[span]);
    case GroupKey::kThread:
    case GroupKey::kProcess:
    case GroupKey::kRank:
    case GroupKey::kDevice:
      return of_tracks_[static_cast<size_t>(key)].of_track[Row(spans_.track[span])];
    case GroupKey::kStep:
      return StepOf(span);
    case GroupKey::kStack:
      return stacks_.node_of[span];
    case GroupKey::kModule:
      return modules_.node_of[span];
    case GroupKey::kKind:
      return static_cast<uint32_t>(spans_.kind[span]);
  }
  return 0;
}

size_t SpanGrouper::Values(GroupKey key) const {
  switch (key) {
    case GroupKey::kName:
    case GroupKey::kCategory:
      return std::max<size_t>(texts_, 1);
    case GroupKey::kShape:
      return shape_of_args_.size() + 1;
    case GroupKey::kThread:
    case GroupKey::kProcess:
    case GroupKey::kRank:
    case GroupKey::kDevice:
      return trace_.tracks().size();
    case GroupKey::kStep:
      return step_numbers_.size() + 1;
    case GroupKey::kStack:
      return stacks_.nodes.size();
    case GroupKey::kModule:
      return modules_.nodes.size();
    case GroupKey::kKind:
      return kSpanKinds;
  }
  return 0;
}

std::vector<std::string> SpanGrouper::TextNames() const {
  std::vector<std::string> names;
  for (GroupKey key : keys_)
    if (key != GroupKey::kName) names.emplace_back(kNames[static_cast<size_t>(key)]);
  return names;
}

std::vector<std::string> SpanGrouper::Texts(size_t span) const {
  std::vector<std::string> texts;
  for (GroupKey key : keys_) {
    const uint32_t value = Value(key, span);
    switch (key) {
      case GroupKey::kName:
        break;
      case GroupKey::kShape:
        texts.push_back(spans_.args[span] == ArgsId::kNone ? "" : InputShapesText(trace_, spans_.args[span]));
        break;
      case GroupKey::kCategory:
        texts.emplace_back(trace_.text(spans_.category[span]));
        break;
      case GroupKey::kThread:
      case GroupKey::kProcess:
      case GroupKey::kRank:
      case GroupKey::kDevice:
        texts.push_back(of_tracks_[static_cast<size_t>(key)].texts[value]);
        break;
      case GroupKey::kStep:
        texts.push_back(value < step_numbers_.size() ? std::to_string(step_numbers_[value]) : "");
        break;
      case GroupKey::kStack:
        texts.push_back(stacks_.TextOf(trace_, value));
        break;
      case GroupKey::kModule:
        texts.push_back(modules_.PathOf(value));
        break;
      case GroupKey::kKind:
        texts.emplace_back(SpanKindName(spans_.kind[span]));
        break;
    }
  }
  return texts;
}

GroupRows::GroupRows(const SpanGrouper& grouper)
    : grouper_(grouper),
      by_value_(2 * (grouper.keys().empty() ? 1 : grouper.Values(grouper.keys().front()))),
      further_(std::max<size_t>(grouper.keys().size(), 1) - 1) {
}

uint32_t GroupRows::AddRow(size_t value) {
  used_.push_back(value);
  by_value_[value] = static_cast<uint32_t>(used_.size());
  return by_value_[value] - 1;
}

uint32_t GroupRows::FindFurther(uint32_t row, size_t span) {
  for (size_t i = 0; i < further_.size(); ++i) {
    const uint64_t pair = uint64_t{row} << 32 | grouper_.Value(grouper_.keys()[i + 1], span);
    row = further_[i].try_emplace(pair, static_cast<uint32_t>(further_[i].size())).first->second;
  }
  return row;
}

void GroupRows::Clear() {
  for (const size_t value : used_)
    by_value_[value] = 0;
  used_.clear();
  for (auto& pairs : further_)
    pairs.clear();
}

}  // namespace opscope
