// Causes that show in the calls of a rank without device work. A call is outermost if no other call encloses it; ranges
// of the program and functions of Python do not count. Between the outermost calls of a thread runs Python:
//
//   Optimizer.step#Adam.step |-------------------------------|
//     aten::lerp_, aten::mul_    |--| |-|      |--| |-|          unfused_optimizer: 2 + 2 of both names' 6 + 4
//   aten::eq, aten::is_nonzero        |-| |--|   |-| |--|  ...   scalar_reads: from the first read to the last one
//
// A rank with device work is left out: there the same faults cost time of the device.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/advise/causes.h"
#include "analysis/host_spans.h"
#include "analysis/name_predicate.h"
#include "analysis/track_spans.h"
#include "base/metadata_keys.h"
#include "base/parse_whole.h"
#include "base/saturating.h"

namespace opscope::advise {
namespace {

constexpr uint64_t kFewestReads = 10, kMaxCallsBetweenReads = 3;
constexpr int64_t kShortestCopyNs = 10'000;  // a scalar that is converted takes less

bool ReadsAValue(std::string_view name) {
  return name == "aten::item" || name == "aten::is_nonzero" || name == "aten::_local_scalar_dense";
}

bool CopiesATensor(std::string_view name) {
  return name == "aten::copy_";
}

bool IsOptimizerStep(std::string_view name) {
  return name.starts_with("Optimizer.step#");
}

// An entry of the metadata; 0 if it is missing or not a number.
int64_t NumberInMetadata(const Trace& trace, std::string_view key) {
  const MetadataColumns& rows = trace.metadata();
  for (size_t row = 0; row < rows.size(); ++row) {
    if (trace.text(rows.key[row]) != key) continue;
    return ParseWhole<int64_t>(trace.text(rows.json[row])).value_or(0);
  }
  return 0;
}

// Reads of single values on one thread, with few other calls between.
struct ReadRun {
  NamedSpan first;  // with the time of the whole run
  size_t step = 0;  // of the rank
  uint64_t reads = 0, calls_since = 0;
};

// The update of weights that is open on a thread.
struct OpenUpdate {
  NamedSpan span;
  std::map<StringId, int64_t> times;  // of the outermost calls in it, by name

  // One pass over the weights remains.
  int64_t saving_ns() const {
    int64_t sum = 0, longest = 0;
    for (const auto& [name, time] : times) {
      sum = SaturatingAdd(sum, time);
      longest = std::max(longest, time);
    }
    return sum - longest;
  }
};

class CallReader {
 public:
  explicit CallReader(const Job& job)
      : job_(job),
        host_(job.trace),
        reads_a_value_(job.trace, &ReadsAValue),
        copies_a_tensor_(job.trace, &CopiesATensor),
        is_optimizer_step_(job.trace, &IsOptimizerStep),
        threads_(NumberInMetadata(job.trace, kThreadsKey)),
        processors_(NumberInMetadata(job.trace, kProcessorsKey)) {}

  std::vector<Cause> Read() {
    for (const RankActivity& rank : job_.ranks)
      if (rank.works.empty()) ReadRank(rank);
    return {reads_, copies_, updates_, oversubscription_};
  }

 private:
  bool IsOversubscribed() const { return processors_ > 0 && threads_ > processors_ && threads_ <= INT32_MAX; }

  void ReadRank(const RankActivity& rank) {
    rank_ = &rank;
    copy_times_.clear();
    call_times_.clear();
    for (const uint32_t track : rank.threads)
      ReadThread(track);
    copies_.AddSavings(rank, IntervalSet(std::move(copy_times_)));
    if (!IsOversubscribed()) return;
    const IntervalSet calls(std::move(call_times_));
    for (size_t step = 0; step < rank.steps.size(); ++step) {
      const RankStep& of = rank.steps[step];
      const int64_t length = calls.LengthIn(of.time.begin, of.time.end);
      oversubscription_.AddSaving(rank.first_step + step, WaitIn(length));
    }
  }

  // How long a thread waits for a processor during calls of this length: 1 - processors / threads of it, rounded down.
  int64_t WaitIn(int64_t length) const {
    const int64_t waiting = threads_ - processors_;
    return length / threads_ * waiting + length % threads_ * waiting / threads_;
  }

  void ReadThread(uint32_t track) {
    const SpanColumns& spans = job_.trace.spans();
    outermost_ = {.span = 0, .time = {INT64_MIN, INT64_MIN}};
    run_ = {};
    update_ = {.span = outermost_, .times = {}};
    bool has_copied = false;  // the outermost call is evidence already
    host_.ForEach(track, [&](uint32_t span) {
      if (!IsSelected(job_.selected, span)) return;
      const NamedSpan named{span, TimeOfSpan(spans, span)};
      const StringId name = spans.name[span];
      if (is_optimizer_step_(name)) return BeginUpdate(named);
      if (!host_.IsCall(span)) return;
      if (named.time.begin >= outermost_.time.end) {
        outermost_ = named;
        has_copied = false;
        AddOutermost(name);
      }
      if (!copies_a_tensor_(name) || spans.duration[span].ns < kShortestCopyNs) return;
      AppendOrExtend(named.time, &copy_times_);
      if (!has_copied && rank_->StepAt(named.time.begin)) copies_.AddEvidence(job_.trace, rank_->rank, outermost_);
      has_copied = true;
    });
    EndRun();
    EndUpdate();
  }

  void AddOutermost(StringId name) {
    const Interval& time = outermost_.time;
    if (time.begin < update_.span.time.end) {
      int64_t& total = update_.times[name];
      total = SaturatingAdd(total, SaturatingSubtract(time.end, time.begin));
    }
    if (reads_a_value_(name)) {
      AddRead();
    } else {
      ++run_.calls_since;
    }
    if (!IsOversubscribed()) return;
    AppendOrExtend(time, &call_times_);
    if (rank_->StepAt(time.begin)) oversubscription_.AddEvidence(job_.trace, rank_->rank, outermost_);
  }

  void AddRead() {
    const std::optional<size_t> step = rank_->StepAt(outermost_.time.begin);
    if (!step || run_.step != *step || run_.calls_since > kMaxCallsBetweenReads) EndRun();
    if (!step) return;
    if (run_.reads == 0) run_ = {.first = outermost_, .step = *step};
    ++run_.reads;
    run_.calls_since = 0;
    run_.first.time.end = outermost_.time.end;
  }

  void EndRun() {
    if (run_.reads >= kFewestReads) {
      reads_.AddSaving(rank_->first_step + run_.step, SaturatingSubtract(run_.first.time.end, run_.first.time.begin));
      reads_.AddEvidence(job_.trace, rank_->rank, run_.first);
    }
    run_ = {};
  }

  // An optimizer may run inside another one: the outer span counts.
  void BeginUpdate(const NamedSpan& span) {
    if (span.time.begin < update_.span.time.end) return;
    EndUpdate();
    update_.span = span;
  }

  void EndUpdate() {
    const int64_t saving = update_.saving_ns();
    update_.times.clear();
    const std::optional<size_t> step = rank_->StepAt(update_.span.time.begin);
    if (saving == 0 || !step) return;
    updates_.AddSaving(rank_->first_step + *step, saving);
    updates_.AddEvidence(job_.trace, rank_->rank, update_.span);
  }

  const Job& job_;
  HostSpans host_;
  NamePredicate reads_a_value_, copies_a_tensor_, is_optimizer_step_;
  const int64_t threads_, processors_;  // 0: unknown
  Cause reads_{FindingKind::kScalarReads, Confidence::kMedium, job_.steps};
  Cause copies_{FindingKind::kTensorCopies, Confidence::kMedium, job_.steps};
  Cause updates_{FindingKind::kUnfusedOptimizer, Confidence::kMedium, job_.steps};
  Cause oversubscription_{FindingKind::kCpuOversubscription, Confidence::kMedium, job_.steps};

  const RankActivity* rank_ = nullptr;
  std::vector<Interval> copy_times_, call_times_;
  // State of the current thread.
  NamedSpan outermost_;  // the last outermost call
  ReadRun run_;
  OpenUpdate update_;
};

}  // namespace

std::vector<Cause> FindOperatorCauses(const Job& job) {
  return CallReader(job).Read();
}

}  // namespace opscope::advise
