// The ids of a part count from 0, so joining a part is a translation: string_of_[id of the part] is the id of the
// Trace, and likewise for tracks, lists and stacks. New texts get their ids in the order of the part, and parts are
// joined in the order of the file; so the ids are the same as if one thread had read the file.
//
// Work that needs the complete file waits until Finish: argument lists and call stacks, of which each distinct text is
// parsed once, and everything that comes in pairs (pairs.h).
// SPDX-License-Identifier: Apache-2.0
#include "import/chrome/join.h"

#include <algorithm>

#include "base/scoped_id.h"
#include "import/chrome/args.h"
#include "import/text/argument_lists.h"

namespace opscope {
namespace {

void NumberIn(TextInterner* all, const TextInterner& of_part, std::vector<uint32_t>* tags,
              std::vector<uint32_t>* number_of) {
  number_of->clear();
  all->AddAll(of_part.Tagged(tags), number_of);
}

}  // namespace

void ChromeJoin::NumberTexts(const ChromePart& part) {
  string_of_.clear();
  builder_->InternAll(part.texts.Tagged(&tags_), &string_of_);
  NumberIn(&lists_, part.lists, &tags_, &list_of_);
  NumberIn(&stacks_, part.stacks, &tags_, &stack_of_);
  track_of_.clear();
  tracks_.Join(part.tracks, string_of_, &track_of_);
}

SpanRow ChromeJoin::RowOf(const SpanRow& of_part) const {
  SpanRow row = of_part;
  row.name = Text(row.name);
  row.overload = Text(row.overload);
  row.category = Text(row.category);
  row.extra = Text(row.extra);
  row.track = track_of_[Row(row.track)];
  if (row.args != ArgsId::kNone) row.args = static_cast<ArgsId>(list_of_[Row(row.args)]);
  if (row.stack != StackId::kNone) row.stack = static_cast<StackId>(stack_of_[Row(row.stack)]);
  return row;
}

AddedSpan ChromeJoin::Added(const ChromePart& part, AddedSpan of_part) const {
  const auto first = static_cast<uint32_t>(builder_->span_count() - part.spans.size());
  return static_cast<AddedSpan>(first + static_cast<uint32_t>(of_part));
}

void ChromeJoin::AddSpans(const ChromePart& part) {
  builder_->AppendSpans(part.spans.size());
  for (size_t i = 0; i < part.spans.size(); ++i) {
    builder_->SetSpan(Added(part, static_cast<AddedSpan>(i)), RowOf(part.spans[i]));
  }
  for (const ChromeStep& step : part.steps)
    builder_->AddStep(step.number, Text(step.name), Added(part, step.span));
  for (PythonCallRow call : part.python_calls) {
    call.span = Added(part, call.span);
    builder_->AddPythonCall(call);
  }
}

// `point`: its track is the Trace's; its scope is the part's, and not 0.
void ChromeJoin::SetDomain(ChromePairs::FlowPoint* point) {
  const StringId id_scope = Text(static_cast<StringId>(point->domain));
  const ProcessId process = builder_->track(point->track).process;
  const auto [seen, is_new] = scopes_seen_.try_emplace({id_scope, process});
  auto& [domain, is_global] = seen->second;
  if (is_new) {
    const ScopedId scope = ParseScopedId(builder_->text(id_scope));
    const bool is_local = scope.kind == ScopedId::Kind::kLocal;
    is_global = scope.kind == ScopedId::Kind::kGlobal;
    const uint64_t next = std::min(flow_domains_.size() + 1, ChromePairs::kMaxDomains);
    const bool is_plain = !is_local && scope.json_scope.empty();
    const auto key = std::pair(scope.json_scope, is_local ? process : ProcessId::kNone);
    domain = is_plain ? 0 : flow_domains_.try_emplace(key, next).first->second;
    pairs_.SetFlowScope(domain, is_global, id_scope);
  }
  point->domain = domain & ChromePairs::kMaxDomains;
  point->is_global = is_global ? 1 : 0;
}

void ChromeJoin::AddFlows(const ChromePart& part) {
  const bool has_complete = part.last_complete != AddedSpan::kNone;
  const size_t before_complete = has_complete ? part.flows_before_complete : part.flow_points.size();
  for (size_t i = 0; i < part.flow_points.size(); ++i) {
    ChromePairs::FlowPoint point = part.flow_points[i];
    point.category = Text(point.category);
    point.name = Text(point.name);
    point.track = track_of_[Row(point.track)];
    if (point.domain != 0) SetDomain(&point);
    if (point.span != AddedSpan::kNone) {
      point.span = Added(part, point.span);
    } else if (i < before_complete && last_span_track_ == point.track && last_span_start_ == point.time) {
      point.span = last_span_;
    }
    pairs_.Add(point);
  }
  if (!has_complete) return;
  const SpanRow& last = part.spans[static_cast<size_t>(part.last_complete)];
  last_span_ = Added(part, part.last_complete);
  last_span_track_ = track_of_[Row(last.track)];
  last_span_start_ = last.start;
}

void ChromeJoin::AddPoints(const ChromePart& part) {
  for (InstantRow row : part.instants) {
    row.name = Text(row.name);
    row.category = Text(row.category);
    row.extra = Text(row.extra);
    row.track = track_of_[Row(row.track)];
    builder_->AddInstant(row);
  }
  for (CounterRow row : part.counters) {
    row.name = Text(row.name);
    row.series = Text(row.series);
    row.track = track_of_[Row(row.track)];
    builder_->AddCounter(row);
  }
  for (AllocationRow row : part.allocations) {
    row.track = track_of_[Row(row.track)];
    if (row.stack != StackId::kNone) row.stack = static_cast<StackId>(stack_of_[Row(row.stack)]);
    builder_->AddAllocation(row);
  }
}

void ChromeJoin::AddHalves(const ChromePart& part) {
  for (ChromePairs::Half half : part.halves) {
    half.row = RowOf(half.row);
    if (half.begin) half.span = Added(part, half.span);
    pairs_.Add(half);
  }
  for (ChromePairs::AsyncHalf half : part.async_halves) {
    half.row.name = Text(half.row.name);
    half.row.category = Text(half.row.category);
    half.row.id = Text(half.row.id);
    half.pairing_id = Text(half.pairing_id);
    half.row.extra = Text(half.row.extra);
    half.row.track = track_of_[Row(half.row.track)];
    pairs_.Add(half);
  }
}

void ChromeJoin::Add(const ChromePart& part) {
  NumberTexts(part);
  AddSpans(part);
  AddFlows(part);
  AddPoints(part);
  AddHalves(part);
  builder_->info().recorded += part.recorded;
  for (size_t i = 0; i < evidence_.size(); ++i)
    evidence_[i] = std::max(evidence_[i], part.evidence[i]);
  lost_members_.Add(part.lost_members);
  for (const ChromeProblem& problem : part.problems)
    Count(problem);
}

void ChromeJoin::AddProblems() {
  for (const ChromeProblem& problem : problems_) {
    const bool is_of_members = std::string_view(problem.kind) == kLostMember;
    builder_->AddProblem(problem.kind, problem.first_offset, problem.count,
                         is_of_members ? lost_members_.Text() : std::string());
  }
}

void ChromeJoin::ReadListsOfSpans() {
  std::vector<ArgsId> args_of;
  bool all_known = true;
  for (uint32_t i = 0; i < lists_.size(); ++i) {
    std::string_view texts[4];
    ReadListTexts(lists_.text(i), texts);
    args_of.push_back(AddChromeArguments({texts[0], texts[1], texts[2], texts[3]}, builder_));
    all_known &= args_of.back() != ArgsId::kNone;
  }
  const std::span<ArgsId> args = builder_->added_args();
  const std::span<const StringId> extra = builder_->added_spans().extra;
  for (size_t row = 0; row < args.size(); ++row) {
    if (args[row] == ArgsId::kNone) continue;
    const uint32_t list = Row(args[row]);
    args[row] = args_of[list];
    if (all_known || args[row] != ArgsId::kNone) continue;
    builder_->SetExtra(static_cast<AddedSpan>(row), ExtraWithLists(extra[row], lists_.text(list), builder_));
  }
  for (ChromePairs::Half& half : pairs_.halves()) {
    if (half.row.args == ArgsId::kNone) continue;
    const uint32_t list = Row(half.row.args);
    half.row.args = args_of[list];
    if (half.row.args == ArgsId::kNone) half.row.extra = ExtraWithLists(half.row.extra, lists_.text(list), builder_);
  }
}

void ChromeJoin::ReadStacksOfSpans() {
  if (stacks_.empty()) return;
  std::vector<StackId> stack_of;
  for (uint32_t i = 0; i < stacks_.size(); ++i)
    stack_of.push_back(AddCallStack(stacks_.text(i), builder_));
  const std::span<const StackId> stacks = builder_->added_spans().stack;
  for (size_t row = 0; row < stacks.size(); ++row) {
    if (stacks[row] != StackId::kNone) builder_->SetStack(static_cast<AddedSpan>(row), stack_of[Row(stacks[row])]);
  }
  for (StackId& stack : builder_->allocation_stacks()) {
    if (stack != StackId::kNone) stack = stack_of[Row(stack)];
  }
  for (ChromePairs::Half& half : pairs_.halves()) {
    if (half.row.stack != StackId::kNone) half.row.stack = stack_of[Row(half.row.stack)];
  }
}

bool ChromeJoin::Finish(std::string_view own_tracks) {
  if (builder_->HasProblem("missing_time")) pairs_.FillMissingTimes();
  if (!lists_.empty()) ReadListsOfSpans();
  ReadStacksOfSpans();
  const uint64_t lost = pairs_.Finish();
  builder_->info().recorded -= std::min(lost, builder_->info().recorded);
  return tracks_.Finish(own_tracks);
}

uint64_t ChromeJoin::memory_bytes() const {
  return lists_.memory_bytes() + stacks_.memory_bytes() + pairs_.memory_bytes();
}

}  // namespace opscope
