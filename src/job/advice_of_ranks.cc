// Advice about all ranks of a job, whose traces need not be in memory together. Evidence of a rank that was read refers
// to a trace that has texts, processes and tracks alone.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/advise/advice_of_traces.h"
#include "opscope/analysis/advise.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/report/advise.h"
#include "opscope/report/job_report.h"
#include "trace/builder.h"

namespace opscope {
namespace {

class AdviceOfRanks {
 public:
  explicit AdviceOfRanks(std::optional<SpanFilter> filter) : filter_(std::move(filter)) {}

  void Add(const Trace& trace) {
    std::map<TrackId, TrackId> tracks;
    std::map<ProcessId, ProcessId> processes;
    const auto text = [&](StringId id) { return id == StringId::kNone ? id : names_.Intern(trace.text(id)); };
    const auto process = [&](ProcessId id) {
      if (id == ProcessId::kNone) return id;
      const auto [found, is_new] = processes.try_emplace(id, ProcessId::kNone);
      const ProcessColumns& rows = trace.processes();
      if (is_new)
        found->second = names_.AddProcess({.pid = rows.pid[Row(id)], .pid_text = text(rows.pid_text[Row(id)])});
      return found->second;
    };
    const auto track = [&](TrackId id) {
      if (id == TrackId::kNone) return id;
      const auto [found, is_new] = tracks.try_emplace(id, TrackId::kNone);
      const TrackColumns& rows = trace.tracks();
      if (is_new) {
        found->second = names_.AddTrack({.process = process(rows.process[Row(id)]),
                                         .tid = rows.tid[Row(id)],
                                         .tid_text = text(rows.tid_text[Row(id)])});
      }
      return found->second;
    };
    const SelectedSpans selected(filter_, trace);
    all_.Add(trace, selected.get(), [&](const Evidence& evidence) {
      Evidence translated = evidence;
      translated.track = track(evidence.track);
      translated.name = text(evidence.name);
      return translated;
    });
  }

  VerbResult Finish(Verdict verdict) {
    Advice advice = std::move(all_).Conclude();
    advise::LimitConfidence(verdict, &advice);
    return AdviseVerbResult(names_.Build(), advice);
  }

 private:
  const std::optional<SpanFilter> filter_;
  advise::AdviceOfTraces all_{advise::AdviceOfTraces::Traces::kSeveral};
  TraceBuilder names_;
};

}  // namespace

RankByRank AdviseByRank(std::optional<SpanFilter> filter) {
  const auto advice = std::make_shared<AdviceOfRanks>(std::move(filter));
  RankByRank question;
  question.add = [advice](const Trace& trace, int32_t) { advice->Add(trace); };
  question.finish = [advice](Verdict verdict) { return advice->Finish(verdict); };
  question.needs_steps = true;
  return question;
}

}  // namespace opscope
