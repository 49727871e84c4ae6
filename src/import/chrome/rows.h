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
    StringId today = StringId::kNone;  // present name of a category of old versions of torch; kNone: not looked up yet
    Role role = Role::kNothing;
    std::string_view step_prefix;  // text before the number in names of steps; "": the category has no steps
  };

  void AddComplete(const ChromeEvent& event);
  void AddHalf(const ChromeEvent& event, bool begin);
  void AddInstant(const ChromeEvent& event);
  void AddIdInstant(const ChromeEvent& event);
  void AddCounter(const ChromeEvent& event);
  bool AddFlow(const ChromeEvent& event, bool start);
  StringId FlowScope(const ChromeId& id);
  // Reads the `others` of a range, after its row. REQUIRES: the range was added.
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
  std::vector<Category> categories_;     // by StringId of the category in the file
  std::string_view last_category_text_;  // a cache: neighbouring events mostly share the category
  const Category* last_category_ = nullptr;
  // The same cache for scopes of flows.
  std::string last_flow_scope_;  // a copy, because the block's text may be gone
  ScopedId::Kind last_flow_kind_ = ScopedId::Kind::kId;
  StringId last_id_scope_ = StringId::kEmpty;
  // The last range: a flow usually belongs to the event before it.
  TrackId last_span_track_ = TrackId::kNone;
  Timestamp last_span_start_;
};

}  // namespace opscope
