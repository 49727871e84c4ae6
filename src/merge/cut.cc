// A cut is a copy of the chosen spans with unchanged times and ids, so that it reuses the copy of merge with an
// identity clock map and no id bases. Metadata, operators and problems describe the whole recording and are kept as
// they are. The member "opscope_cut" records how many spans there were before, and the condition.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/cut.h"

#include <string>

#include "base/catch_bad_alloc.h"
#include "base/json_object.h"
#include "merge/copy_trace.h"
#include "trace/builder.h"

namespace opscope {
namespace {

std::vector<ProcessId> CopyProcesses(const Trace& trace, const RowSelection& kept, TraceBuilder* builder) {
  const ProcessColumns& rows = trace.processes();
  std::vector<uint8_t> used(rows.size(), 0);
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    if (kept.HasTrack(track)) used[Row(trace.tracks().process[track])] = 1;
  }
  std::vector<ProcessId> ids;
  for (size_t row = 0; row < rows.size(); ++row)
    ids.push_back(used[row] == 0 ? ProcessId::kNone : builder->AddProcess(CopyProcess(trace, row, builder)));
  return ids;
}

void CopyFacts(const Trace& trace, TraceBuilder* builder) {
  builder->info() = trace.info();
  const OperatorColumns& operators = trace.operators();
  for (size_t row = 0; row < operators.size(); ++row) {
    builder->AddOperator(builder->Intern(trace.text(operators.name[row])),
                         builder->Intern(trace.text(operators.arguments[row])));
  }
  const MetadataColumns& metadata = trace.metadata();
  for (size_t row = 0; row < metadata.size(); ++row)
    builder->AddMetadata(trace.text(metadata.key[row]), trace.text(metadata.json[row]));
  const ProblemColumns& problems = trace.problems();
  for (size_t row = 0; row < problems.size(); ++row) {
    builder->RestoreProblem(trace.text(problems.kind[row]), problems.severity[row], problems.count[row],
                            problems.first_offset[row], trace.text(problems.message[row]),
                            trace.text(problems.ranks[row]));
  }
}

Trace Cut(const Trace& trace, const std::vector<uint8_t>& spans, std::string_view condition) {
  TraceBuilder builder;
  const RowSelection kept(trace, spans);
  const TimeShift same;
  const IdBases bases;
  CopyFacts(trace, &builder);
  TraceCopy(trace, same, bases, kept, &builder).CopyTables(CopyProcesses(trace, kept, &builder));
  std::string cut;
  JsonObject object(&cut);
  object.Uint("spans", builder.span_count());
  object.Uint("spans_before", trace.spans().size());
  if (!condition.empty()) object.Text("condition", condition);
  object.Close();
  builder.AddMetadata("opscope_cut", cut);
  return builder.Build();
}

}  // namespace

Result<Trace> CutTrace(const Trace& trace, const std::vector<uint8_t>& spans, std::string_view condition) {
  if (spans.size() != trace.spans().size()) {
    return Error{ErrorCode::kInvalidArgument, "a cut needs one entry for each of the " +
                                                  std::to_string(trace.spans().size()) + " spans, not " +
                                                  std::to_string(spans.size())};
  }
  return CatchBadAlloc("the cut", [&]() -> Result<Trace> { return Cut(trace, spans, condition); });
}

}  // namespace opscope
