// Turns the events of a Chrome trace into rows of a part: one case per phase.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/chrome/args.h"
#include "import/chrome/dialect.h"
#include "import/chrome/event.h"
#include "import/chrome/ids.h"
#include "import/chrome/part.h"
#include "trace/builder.h"

namespace opscope {

class ChromeRows {
 public:
  void Begin(ChromePart* part, const ChromeConventions& conventions);
  void Add(const ChromeEvent& event);

 private:
  using Role = ChromePartTracks::Role;
  struct Category {
    StringId today = StringId::kNone;  // kNone: not looked at yet
    Role role = Role::kNothing;
    std::string_view step_prefix;  // of ranges that are steps, else ""
  };

  void AddComplete(const ChromeEvent& event);
  void AddHalf(const ChromeEvent& event, bool begin);
  void AddInstant(const ChromeEvent& event);
  void AddIdInstant(const ChromeEvent& event);
  void AddCounter(const ChromeEvent& event);
  bool AddFlow(const ChromeEvent& event, bool start);
  StringId FlowScope(const ChromeId& id);
  // What its `others` say beside the row that it has. REQUIRES: a range has been added.
  void AddOthers(const ChromeEvent& event);
  void AddBinding(const ChromeEvent& event, const ChromeBinding& binding);
  void LoseMember(const ChromeEvent& event, std::string_view name);
  void AddAsync(const ChromeEvent& event, bool begin);

  Timestamp ReadTime(const ChromeEvent& event);
  Duration ReadDuration(const ChromeEvent& event);
  SpanRow ReadSpan(const ChromeEvent& event, ChromePythonCall* call = nullptr);
  int64_t StepNumber(const SpanRow& row) const;
  ChromeAllocation ReadAllocation(const ChromeEvent& event, std::string_view category, InstantRow* row);
  StringId ReadName(const ChromeEvent& event);
  const Category& ReadCategory(const ChromeEvent& event);
  void Problem(const char* kind, const ChromeEvent& event) { part_->AddProblem(kind, event.offset); }

  ChromePart* part_ = nullptr;
  ChromeArgs args_;
  ChromeConventions conventions_;
  std::string counter_name_;
  std::vector<Category> categories_;     // by StringId of the spelling
  std::string_view last_category_text_;  // neighbours mostly share it
  const Category* last_category_ = nullptr;
  // Of flows, likewise.
  std::string last_flow_scope_;  // of its own: the text of its block may be gone
  ScopedId::Kind last_flow_kind_ = ScopedId::Kind::kId;
  StringId last_id_scope_ = StringId::kEmpty;
  // The event before a flow is mostly the one that the flow belongs to.
  TrackId last_span_track_ = TrackId::kNone;
  Timestamp last_span_start_;
};

}  // namespace opscope
