// Asynchronous ranges and arrows: begins, ends and points that are joined by ids (pairs.h).
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/ids.h"
#include "import/chrome/rows.h"

namespace opscope {

bool ChromeRows::AddFlow(const ChromeEvent& event, bool start) {
  const ChromeId id = IdOf(event);
  if (!id.present()) {
    Problem("bad_value", event);
    return false;
  }
  ChromePairs::FlowPoint point;
  point.id = id.FlowNumber();
  if (id.has_flow_scope()) point.domain = Row(FlowScope(id)) & ChromePairs::kMaxDomains;
  point.category = ReadCategory(event).today;
  point.name = ReadName(event);
  conventions_.dialects->AddEvidence(event, &part_->evidence);
  point.time = ReadTime(event);
  point.track = part_->tracks.TrackOf(event, Role::kNothing);
  point.order = start ? ChromePairs::kFlowStart : ChromePairs::kFlowEnd;
  point.offset = event.offset & ((uint64_t{1} << 40) - 1);
  const bool is_at_last_span = last_span_track_ == point.track && last_span_start_ == point.time;
  if (part_->last_complete != AddedSpan::kNone && is_at_last_span) point.span = part_->last_complete;
  part_->flow_points.push_back(point);
  if (!event.args.empty()) LoseMember(event, "args");
  return true;
}

StringId ChromeRows::FlowScope(const ChromeId& id) {
  const bool is_last = id.kind == last_flow_kind_ && id.scope.text == last_flow_scope_;
  if (last_id_scope_ != StringId::kEmpty && is_last) return last_id_scope_;
  last_flow_kind_ = id.kind, last_flow_scope_ = id.scope.text;
  return last_id_scope_ = part_->Intern(id.FlowScopeText());
}

void ChromeRows::AddBinding(const ChromeEvent& event, const ChromeBinding& binding) {
  const SpanRow& row = part_->spans.back();
  ChromePairs::FlowPoint point{.id = ChromeId{.value = binding.bind_id, .scope = {}}.FlowNumber(),
                               .category = row.category,
                               .name = row.name,
                               .time = row.start,
                               .track = row.track,
                               .span = static_cast<AddedSpan>(part_->spans.size() - 1),
                               .is_binding = 1,
                               .offset = event.offset & ((uint64_t{1} << 40) - 1)};
  if (binding.in) {
    point.order = binding.out ? ChromePairs::kFlowStepEnd : ChromePairs::kFlowEnd;
    part_->flow_points.push_back(point);
  }
  if (binding.out) {
    point.order = binding.in ? ChromePairs::kFlowStepStart : ChromePairs::kFlowStart;
    part_->flow_points.push_back(point);
  }
}

void ChromeRows::LoseMember(const ChromeEvent& event, std::string_view name) {
  part_->lost_members.Add(name);
  Problem(kLostMember, event);
}

void ChromeRows::AddOthers(const ChromeEvent& event) {
  const char phase = event.phase_letter();
  const bool has_id = std::string_view("stfbenNODC").find(phase) != std::string_view::npos;
  const ChromeBinding binding = phase == 'X' || phase == 'B' ? BindingOf(event) : ChromeBinding{};
  const bool is_bound = binding.bind_id.present();
  if (is_bound) AddBinding(event, binding);
  for (const JsonMember& member : event.others) {
    const std::string_view key = member.key.text;
    const bool is_read = (has_id && (key == "id2" || key == "scope")) ||
                         (is_bound && (key == "bind_id" || key == "flow_in" || key == "flow_out")) ||
                         (!key.empty() && key == conventions_.declared->derived_member);
    if (!is_read && member.value.kind != JsonValue::Kind::kNull) LoseMember(event, key);
  }
}

void ChromeRows::AddAsync(const ChromeEvent& event, bool begin) {
  const ChromeId id = IdOf(event);
  if (!id.present()) Problem("bad_value", event);
  ChromePairs::AsyncHalf half{.row = {}, .offset = static_cast<int64_t>(event.offset), .begin = begin};
  half.row.start = ReadTime(event);
  half.row.name = ReadName(event);
  half.row.category = ReadCategory(event).today;
  half.row.track = part_->tracks.TrackOf(event, Role::kHost);
  half.row.id = id.is_plain() ? args_.Text(id.value) : part_->Intern(id.Text());
  half.pairing_id = id.is_plain() ? half.row.id : part_->Intern(id.PairingText());
  half.is_local = id.is_local();
  half.row.extra = args_.ReadExtra(event.args);
  part_->async_halves.push_back(half);
}

}  // namespace opscope
