// Finds what blocking calls and streams wait for. The runtime reports a wait as a span of category cuda_sync with the
// correlation of the call; its members name streams and the call that recorded an event:
//
//   Event Sync    "wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 32
//
// So the call waits for the last work of stream 20 that was launched before call 32. Without such a span a call waits
// for all works. Every question is a binary search or a walk up and down a tree (LaunchedWorks), since a program may
// block in a million calls.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/critical_path_waits.h"

#include <algorithm>

#include "analysis/steps_of_ranks.h"
#include "base/json_members.h"
#include "base/parse_whole.h"

namespace opscope {

std::vector<SyncSpan> FindSyncSpans(const Trace& trace) {
  std::vector<SyncSpan> syncs;
  const std::optional<StringId> category = trace.FindString("cuda_sync");
  if (!category) return syncs;
  const SpanColumns& spans = trace.spans();
  for (uint32_t span = 0; span < spans.size(); ++span) {
    if (spans.category[span] != *category) continue;
    syncs.push_back({RankOfTrack(trace, spans.track[span]), spans.correlation[span], spans.start[span].ns, span});
  }
  std::sort(syncs.begin(), syncs.end());
  return syncs;
}

PathWaits::PathWaits(const Trace& trace, int32_t rank, std::span<const SyncSpan> syncs,
                     const std::vector<uint32_t>& streams, const PathWorks& works, LaunchCalls* calls)
    : trace_(trace), rank_(rank), syncs_(syncs), streams_(streams), works_(works), calls_(calls) {
}

std::optional<int64_t> PathWaits::NumberIn(uint32_t span, std::string_view member) const {
  return ParseWhole<int64_t>(Unquoted(FindJsonMember(trace_.text(trace_.spans().extra[span]), member)));
}

void PathWaits::GroupByStream() {
  if (!of_streams_.empty()) return;
  const TrackColumns& tracks = trace_.tracks();
  of_streams_.assign(streams_.size(), LaunchedWorks(&works_));
  for (size_t i = 0; i < streams_.size(); ++i) {
    const uint32_t track = streams_[i];
    streams_by_number_.try_emplace({tracks.device[track], tracks.tid[track], tracks.process[track]}, i);
  }
  for (uint32_t work = 0; work < works_.size(); ++work) {
    if (works_.Launch(work) == kNoPathNode) continue;
    const uint32_t track = Row(trace_.spans().track[works_.Span(work)]);
    const auto stream = std::lower_bound(streams_.begin(), streams_.end(), track);
    of_streams_[static_cast<size_t>(stream - streams_.begin())].Add(work);
  }
}

// The stream whose number is a member of `sync`, on the same device; of several, that of its own process.
LaunchedWorks* PathWaits::StreamOf(uint32_t sync, std::string_view member) {
  GroupByStream();
  const std::optional<int64_t> number = NumberIn(sync, member);
  if (!number) return nullptr;
  const uint32_t track = Row(trace_.spans().track[sync]);
  const int64_t device = NumberIn(sync, "device").value_or(trace_.tracks().device[track]);
  if (device < INT32_MIN || device > INT32_MAX) return nullptr;
  const auto its_device = static_cast<int32_t>(device);
  auto found = streams_by_number_.find({its_device, *number, trace_.tracks().process[track]});
  if (found == streams_by_number_.end()) {
    found = streams_by_number_.lower_bound({its_device, *number, ProcessId{0}});
    if (found == streams_by_number_.end() || std::get<0>(found->first) != its_device ||
        std::get<1>(found->first) != *number)
      return nullptr;
  }
  return &of_streams_[found->second];
}

std::optional<int64_t> PathWaits::BeginOfRecordCall(uint32_t sync) {
  const std::optional<int64_t> correlation = NumberIn(sync, "wait_on_cuda_event_record_corr_id");
  if (!correlation || *correlation < 0 || *correlation > UINT32_MAX) return std::nullopt;
  const SpanId call = calls_->CallOf(rank_, static_cast<uint32_t>(*correlation));
  if (call == SpanId::kNone) return std::nullopt;
  return trace_.spans().start[Row(call)].ns;
}

// The last work that the event covers.
uint32_t PathWaits::LastRecorded(uint32_t sync) {
  LaunchedWorks* stream = StreamOf(sync, "wait_on_stream");
  const std::optional<int64_t> recorded = BeginOfRecordCall(sync);
  return stream == nullptr || !recorded ? kNoPathNode : stream->LastLaunchedBefore(*recorded);
}

bool PathWaits::EndsIn(uint32_t work, const BlockingCall& call) const {
  return works_.End(work) > call.begin && works_.End(work) <= call.end;
}

uint32_t PathWaits::AwaitedCopy(const BlockingCall& call) {
  const SpanColumns& spans = trace_.spans();
  if (!copies_) {
    copies_.emplace();
    for (uint32_t work = 0; work < works_.size(); ++work) {
      const uint32_t span = works_.Span(work);
      if (spans.kind[span] == SpanKind::kKernel || spans.correlation[span] == 0) continue;
      copies_->push_back({spans.correlation[span], works_.End(work), work});
    }
    std::sort(copies_->begin(), copies_->end());
  }
  const uint32_t correlation = spans.correlation[call.span];
  const auto behind = std::upper_bound(copies_->begin(), copies_->end(), Copy{correlation, call.end, kNoPathNode});
  if (behind == copies_->begin() || std::prev(behind)->correlation != correlation) return kNoPathNode;
  // The first to begin among those that end together.
  const uint32_t work = std::lower_bound(copies_->begin(), behind, Copy{correlation, std::prev(behind)->end, 0})->work;
  return EndsIn(work, call) ? work : kNoPathNode;
}

// What a call waits for that has a span of synchronization.
uint32_t PathWaits::AwaitedOf(uint32_t sync, const BlockingCall& call) {
  if (NameOf(sync) == "Stream Sync") {
    LaunchedWorks* stream = StreamOf(sync, "stream");
    return stream == nullptr ? kNoPathNode : stream->LastEnded(call.begin, call.end);
  }
  const uint32_t work = LastRecorded(sync);
  return work != kNoPathNode && works_.LaunchBegin(work) < call.begin && EndsIn(work, call) ? work : kNoPathNode;
}

void PathWaits::FindAwaitedWork(BlockingCall* call) {
  if (works_.size() == 0) return;
  if (NameOf(call->span).ends_with("Memcpy")) {
    call->work = AwaitedCopy(*call);
    return;
  }
  const uint32_t correlation = trace_.spans().correlation[call->span];
  const auto sync = std::lower_bound(syncs_.begin(), syncs_.end(), SyncSpan{rank_, correlation, INT64_MIN, 0});
  if (correlation != 0 && sync != syncs_.end() && sync->correlation == correlation) {
    if (const std::string_view name = NameOf(sync->span); name == "Stream Sync" || name == "Event Sync") {
      call->work = AwaitedOf(sync->span, *call);
      return;
    }
  }
  if (!all_) {
    all_.emplace(&works_);
    for (uint32_t work = 0; work < works_.size(); ++work)
      if (works_.Launch(work) != kNoPathNode) all_->Add(work);
  }
  call->work = all_->LastEnded(call->begin, call->end);
}

std::vector<std::pair<uint32_t, uint32_t>> PathWaits::FindStreamWaits() {
  std::vector<std::pair<uint32_t, uint32_t>> waits;
  for (const SyncSpan& sync : syncs_) {
    if (NameOf(sync.span) != "Stream Wait Event") continue;
    const SpanId call = calls_->CallOf(rank_, sync.correlation);
    LaunchedWorks* stream = StreamOf(sync.span, "stream");
    const uint32_t awaited = LastRecorded(sync.span);
    if (call == SpanId::kNone || stream == nullptr || awaited == kNoPathNode) continue;
    const uint32_t work = stream->FirstLaunchedAfter(trace_.spans().start[Row(call)].ns);
    if (work != kNoPathNode && work != awaited) waits.emplace_back(work, awaited);
  }
  return waits;
}

}  // namespace opscope
