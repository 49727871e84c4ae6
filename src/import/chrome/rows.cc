// Each event becomes one row, by its phase. Neighbouring events have much in common, so the category of the last event
// is cached (with its role, its present name and whether its ranges are steps) and compared by text before a lookup; a
// flow usually belongs to the complete event directly before it.
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/rows.h"

#include <algorithm>
#include <string>

#include "base/json_object.h"
#include "import/chrome/ids.h"
#include "import/text/json_number.h"
#include "trace/span_kinds.h"

namespace opscope {
namespace {

// "matmul[12.345 us]" without its duration.
std::string_view WithoutDurationSuffix(std::string_view name) {
  if (name.size() < 6 || name.back() != ']') return name;
  const size_t open = name.rfind('[');
  if (open == std::string_view::npos || open == 0) return name;
  const std::string_view inside = name.substr(open + 1, name.size() - open - 2);
  const size_t blank = inside.find(' ');
  if (blank == std::string_view::npos || blank == 0) return name;
  const std::string_view number = inside.substr(0, blank);
  const std::string_view unit = inside.substr(blank + 1);
  const bool is_number = number.find_first_not_of("0123456789.") == std::string_view::npos;
  const bool is_unit = unit == "ns" || unit == "us" || unit == "ms" || unit == "s";
  return is_number && is_unit ? name.substr(0, open) : name;
}

constexpr std::string_view kMemoryCategory = "cpu_instant_event";
constexpr std::string_view kStepPrefix = "ProfilerStep#";  // of torch, and of exports by opscope of other tools' steps

ChromePartTracks::Role RoleOfCategory(std::string_view category) {
  using Role = ChromePartTracks::Role;
  switch (KindOfCategory(category)) {
    case SpanKind::kKernel:
    case SpanKind::kCopy:
    case SpanKind::kSet:
      return Role::kDevice;
    case SpanKind::kDeviceAnnotation:
      return Role::kAnnotation;
    case SpanKind::kSynchronization:
    case SpanKind::kOverhead:
      return Role::kNothing;  // a row of its own beside the streams: neither busy time nor a thread of the program
    default:
      break;
  }
  const bool is_beside = category == "cuda_event" || category == "cuda_profiler_range" ||
                         category == "graph_event_node" || category == "graph_host_node" || category == kStepCategory;
  return is_beside ? Role::kNothing : Role::kHost;
}

// The present name of a category of older torch versions; "" if it has not changed.
std::string_view CategoryOfToday(std::string_view category) {
  if (category == "Operator") return "cpu_op";
  if (category == "Kernel") return "kernel";
  if (category == "Memcpy") return "gpu_memcpy";
  if (category == "Memset") return "gpu_memset";
  if (category == "Runtime") return "cuda_runtime";
  if (category == "async_cpu_to_gpu") return "ac2g";
  return {};
}

}  // namespace

void ChromeRows::Begin(ChromePart* part, const ChromeConventions& conventions) {
  part->Clear();
  part_ = part;
  args_.Begin(part, conventions);
  conventions_ = conventions;
  categories_.clear();
  last_category_ = nullptr;
  last_id_scope_ = StringId::kEmpty;
}

Timestamp ChromeRows::ReadTime(const ChromeEvent& event) {
  const auto ns = ParseMicroseconds(event.time);
  if (ns) return {*ns};
  Problem("missing_time", event);
  return kNoTime;
}

Duration ChromeRows::ReadDuration(const ChromeEvent& event) {
  const auto ns = ParseMicroseconds(event.duration);
  if (!ns) {
    Problem("missing_duration", event);
  } else if (*ns < 0) {
    Problem("negative_duration", event);
  }
  return {std::max<int64_t>(ns.value_or(0), 0)};
}

StringId ChromeRows::ReadName(const ChromeEvent& event) {
  if (event.name.is_string() || event.name.is_number()) return args_.Text(event.name);
  if (event.name.present()) Problem("bad_value", event);
  return StringId::kEmpty;
}

const ChromeRows::Category& ChromeRows::ReadCategory(const ChromeEvent& event) {
  std::string_view text = event.category.text;
  if (!event.category.is_string()) {
    if (event.category.present()) Problem("bad_value", event);
    text = {};
  }
  if (last_category_ != nullptr && text == last_category_text_) return *last_category_;
  const StringId id = event.category.is_string() ? args_.Text(event.category) : StringId::kEmpty;
  if (Row(id) >= categories_.size()) categories_.resize(Row(id) + 1);
  Category& category = categories_[Row(id)];
  if (category.today == StringId::kNone) {
    const bool keeps = conventions_.declared->keeps_categories;
    const std::string_view today = keeps ? std::string_view() : CategoryOfToday(part_->text(id));
    category.today = today.empty() ? id : part_->InternView(today);
    const std::string_view name = part_->text(category.today);
    category.role = RoleOfCategory(name);
    const bool is_ours = name == "user_annotation" || name == kStepCategory;
    category.step_prefix = is_ours ? kStepPrefix : conventions_.dialects->StepPrefix(name);
  }
  last_category_text_ = text;
  last_category_ = &category;
  return category;
}

SpanRow ChromeRows::ReadSpan(const ChromeEvent& event, ChromePythonCall* call) {
  SpanRow row;
  row.start = ReadTime(event);
  const bool may_end_in_duration = conventions_.dialects->names_end_in_duration();
  if (event.name.plain && event.name.is_string()) {
    const std::string_view name = event.name.text;
    row.name = part_->InternView(may_end_in_duration ? WithoutDurationSuffix(name) : name);
  } else {
    row.name = ReadName(event);
    const std::string_view name = part_->text(row.name);
    const std::string_view bare = may_end_in_duration ? WithoutDurationSuffix(name) : name;
    if (bare.size() != name.size()) row.name = part_->InternView(bare);
  }
  const Category& category = ReadCategory(event);
  row.category = category.today;
  row.track = part_->tracks.TrackOf(event, category.role);
  if (row.category == StringId::kEmpty) conventions_.dialects->AddEvidence(event, &part_->evidence);
  args_.ReadSpan(event.args, &row, call);
  return row;
}

// The step number of the range that was read last, or -1.
int64_t ChromeRows::StepNumber(const SpanRow& row) const {
  if (const auto number = args_.step_number()) return *number;
  const std::string_view prefix = last_category_->step_prefix, name = part_->text(row.name);
  if (prefix.empty() || !name.starts_with(prefix)) return -1;
  const auto number = ParseInteger(name.substr(prefix.size()));
  return number && *number >= 0 ? *number : -1;
}

void ChromeRows::AddComplete(const ChromeEvent& event) {
  ChromePythonCall call;
  SpanRow row = ReadSpan(event, &call);
  row.duration = ReadDuration(event);
  const int64_t step = StepNumber(row);
  if (step >= 0) row.flags |= span_flags::kStep;
  part_->tracks.ExtendTo(row.track, (row.start + row.duration).ns);
  if (part_->last_complete == AddedSpan::kNone) part_->flows_before_complete = part_->flow_points.size();
  const auto span = static_cast<AddedSpan>(part_->spans.size());
  part_->spans.push_back(row);
  part_->last_complete = span;
  last_span_track_ = row.track;
  last_span_start_ = row.start;
  if (step >= 0) part_->steps.push_back({step, row.name, span});
  if (call.present) {
    call.row.span = span;
    part_->python_calls.push_back(call.row);
  }
}

void ChromeRows::AddHalf(const ChromeEvent& event, bool begin) {
  const SpanRow row = ReadSpan(event);
  part_->tracks.ExtendTo(row.track, row.start.ns);
  ChromePairs::Half half{.row = row, .offset = static_cast<int64_t>(event.offset), .begin = begin};
  if (begin) {
    half.step = StepNumber(row);
    if (half.step >= 0) half.row.flags |= span_flags::kStep;
    half.span = static_cast<AddedSpan>(part_->spans.size());
    part_->spans.push_back({.start = row.start, .name = row.name, .category = row.category, .track = row.track});
  }
  part_->halves.push_back(half);
}

void ChromeRows::AddInstant(const ChromeEvent& event) {
  InstantRow row;
  row.time = ReadTime(event);
  row.name = ReadName(event);
  row.category = ReadCategory(event).today;
  const bool process_wide = event.scope.text == "p" || event.scope.text == "g";
  if (process_wide) row.scope = static_cast<uint8_t>(event.scope.text[0]);
  row.track = part_->tracks.TrackOf(event, process_wide ? Role::kNothing : Role::kHost);
  part_->tracks.ExtendTo(row.track, row.time.ns);
  const bool is_memory = event.name.text == "[memory]";
  const std::string_view category = is_memory ? part_->text(row.category) : std::string_view();
  ChromeAllocation allocation;
  if (is_memory) allocation = ReadAllocation(event, category, &row);
  if (allocation.whole) {
    allocation.row.time = row.time;
    allocation.row.track = row.track;
    part_->allocations.push_back(allocation.row);
  } else {
    row.extra = args_.ReadExtra(event.args);
  }
  part_->instants.push_back(row);
}

// Changes `row` only if the event has an address and a size.
ChromeAllocation ChromeRows::ReadAllocation(const ChromeEvent& event, std::string_view category, InstantRow* row) {
  if (category == kMemoryCategory) return args_.ReadAllocation(event.args, &row->extra);
  if (conventions_.declared->read_allocation == nullptr) return {};
  const ChromeAllocation allocation = args_.ReadDialectAllocation(event.args, category, &row->extra);
  if (allocation.whole) row->category = part_->InternView(kMemoryCategory);
  return allocation;
}

// Moments of something with an id: of an asynchronous range, or of objects that are created, shown and destroyed. They
// become instants with the phase and the id as members.
void ChromeRows::AddIdInstant(const ChromeEvent& event) {
  InstantRow row;
  row.time = ReadTime(event);
  row.name = ReadName(event);
  row.category = ReadCategory(event).today;
  row.track = part_->tracks.TrackOf(event, Role::kHost);
  part_->tracks.ExtendTo(row.track, row.time.ns);
  std::string first;
  JsonMemberWriter members(&first, JsonMemberWriter::kSpaced);
  const auto keep = [&members](std::string_view key, const JsonValue& value) {
    if (value.present()) AppendCleanJson(&members.Key(key), value);
  };
  keep("ph", event.phase);
  keep("id", event.id), keep("id2", event.Other("id2")), keep("scope", event.Other("scope"));
  row.extra = args_.ReadExtra(event.args, first);
  part_->instants.push_back(row);
}

void ChromeRows::AddCounter(const ChromeEvent& event) {
  CounterRow row;
  row.time = ReadTime(event);
  row.name = ReadName(event);
  if (const ChromeId id = IdOf(event); id.present()) {
    // The format makes the id part of the counter's name. It is shown as in about:tracing.
    counter_name_.assign(part_->text(row.name)).append("[").append(id.ValueText()).append("]");
    row.name = part_->Intern(counter_name_);
  }
  row.track = part_->tracks.TrackOf(event, Role::kNothing);
  conventions_.dialects->AddEvidence(event, &part_->evidence);
  for (const JsonMember& member : event.args) {
    const auto value = ParseDouble(member.value);
    if (!value) {
      Problem("bad_value", event);
      continue;
    }
    row.series = args_.Text(member.key);
    row.value = *value;
    part_->counters.push_back(row);
  }
}

void ChromeRows::Add(const ChromeEvent& event) {
  if (event.empty) return;  // some writers end the list with an empty object
  const uint64_t dropped_before = args_.dropped_values();
  bool known = true;
  bool kept = true;
  switch (event.phase_letter()) {
    case 'X':
      AddComplete(event);
      break;
    case 'B':
      AddHalf(event, true);
      break;
    case 'E':
      AddHalf(event, false);
      break;
    case 'i':
    case 'I':
      AddInstant(event);
      break;
    case 'n':
    case 'N':
    case 'O':
    case 'D':
      AddIdInstant(event);
      break;
    case 'C':
      AddCounter(event);
      break;
    case 's':
      kept = AddFlow(event, true);
      break;
    case 't':
    case 'f':
      kept = AddFlow(event, false);
      break;
    case 'b':
      AddAsync(event, true);
      break;
    case 'e':
      AddAsync(event, false);
      break;
    case 'M':
      known = part_->tracks.AddMetadata(event);
      kept = false;
      break;
    default:
      known = kept = false;
      break;
  }
  if (!event.others.empty() && known) AddOthers(event);
  if (!known) Problem("unknown_event", event);
  if (kept) ++part_->recorded;
  if (args_.dropped_values() != dropped_before) Problem("bad_value", event);
}

}  // namespace opscope
