// Joins the parts of a Chrome trace, in the order of the file, to one Trace. It gives every text, track and argument
// list its id in the order of first use, and adds the rows. Work that would depend on the division into parts is done
// in Finish.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_interner.h"
#include "import/chrome/dialect.h"
#include "import/chrome/pairs.h"
#include "import/chrome/part.h"
#include "import/chrome/tracks.h"
#include "trace/builder.h"

namespace opscope {

class ChromeJoin {
 public:
  ChromeJoin(const ChromeDialects& dialects, TraceBuilder* builder)
      : builder_(builder), tracks_(dialects, builder), pairs_(dialects, &tracks_, builder) {}

  // `own_tracks`: the document's "opscope.tracks". Call before the first Add.
  void ReadRows(std::string_view own_tracks) { tracks_.ReadRows(own_tracks); }
  void Add(const ChromePart& part);
  void Count(const ChromeProblem& problem) { CountProblem(problem, &problems_); }
  // Adds the problems of Count and of the parts.
  void AddProblems();
  // Reads argument lists and call stacks, pairs begins with ends, and names the tracks. Call once, after AddProblems.
  // `own_tracks`: the document's "opscope.tracks". False: opscope did not write it.
  bool Finish(std::string_view own_tracks);

  const ChromePairs::Replaced& replaced() const { return pairs_.replaced(); }
  // The strongest evidence of all parts, by dialect.
  const ChromeDialects::EvidenceOfEach& evidence() const { return evidence_; }
  uint64_t memory_bytes() const;

 private:
  void NumberTexts(const ChromePart& part);
  void AddSpans(const ChromePart& part);
  void AddPoints(const ChromePart& part);
  void AddHalves(const ChromePart& part);
  // The span of the Trace for a span of the part that was added last.
  AddedSpan Added(const ChromePart& part, AddedSpan of_part) const;
  void AddFlows(const ChromePart& part);
  void SetDomain(ChromePairs::FlowPoint* point);
  void ReadListsOfSpans();
  void ReadStacksOfSpans();
  StringId Text(StringId of_part) const { return of_part == StringId::kNone ? of_part : string_of_[Row(of_part)]; }
  SpanRow RowOf(const SpanRow& of_part) const;

  TraceBuilder* builder_;
  ChromeTracks tracks_;
  ChromePairs pairs_;
  std::map<std::pair<std::string, ProcessId>, uint64_t> flow_domains_;  // numbers from 1, by scope and process
  std::map<std::pair<StringId, ProcessId>, std::pair<uint64_t, bool>> scopes_seen_;  // domain, is_global
  TextInterner lists_, stacks_;  // of the file; ids of spans refer to these until Finish
  std::vector<ChromeProblem> problems_;
  LostMembers lost_members_;
  ChromeDialects::EvidenceOfEach evidence_{};
  // Ids of the part that is being added -> ids of the file.
  std::vector<StringId> string_of_;
  std::vector<TrackId> track_of_;
  std::vector<uint32_t> list_of_, stack_of_, tags_;
  // The newest complete span so far, for flows at the beginning of a part.
  AddedSpan last_span_ = AddedSpan::kNone;
  TrackId last_span_track_ = TrackId::kNone;
  Timestamp last_span_start_;
};

}  // namespace opscope
