// Advice about all ranks of a job, whose traces need not be in memory together. Evidence of a rank that was read refers
// to a trace that has texts, processes and tracks alone.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <utility>

#include "analysis/advise/advice_of_traces.h"
#include "opscope/analysis/advise.h"
#include "opscope/report/advise.h"
#include "opscope/report/job_report.h"
#include "trace/builder.h"

namespace opscope {
namespace {

class AdviceOfRanks {
 public:
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
    all_.Add(trace, nullptr, [&](const Evidence& evidence) {
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
  advise::AdviceOfTraces all_{advise::AdviceOfTraces::Traces::kSeveral};
  TraceBuilder names_;
};

}  // namespace

RankByRank AdviseByRank() {
  const auto advice = std::make_shared<AdviceOfRanks>();
  RankByRank question;
  question.add = [advice](const Trace& trace, int32_t) { advice->Add(trace); };
  question.finish = [advice](Verdict verdict) { return advice->Finish(verdict); };
  question.needs_steps = true;
  return question;
}

}  // namespace opscope
