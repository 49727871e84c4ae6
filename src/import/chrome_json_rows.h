// Turns the events of a Chrome trace into rows of a Trace: one case per phase.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "import/chrome_json_args.h"
#include "import/chrome_json_event.h"
#include "import/chrome_json_pairs.h"
#include "import/chrome_json_tracks.h"
#include "trace/builder.h"

namespace opscope {

class ChromeRows {
 public:
  explicit ChromeRows(TraceBuilder* builder)
      : builder_(builder), tracks_(builder), args_(builder), pairs_(builder, &args_) {}

  // Names of categories that older torch versions used ("Operator") become today's; other tools mean
  // something else by them. Before the first event.
  void KeepCategories() { keeps_categories_ = true; }
  void Add(const ChromeEvent& event);
  // Joins what comes in pairs and names the tracks. Call once.
  void Finish();

 private:
  void AddComplete(const ChromeEvent& event);
  void AddHalf(const ChromeEvent& event, bool begin);
  void AddInstant(const ChromeEvent& event);
  void AddCounter(const ChromeEvent& event);
  bool AddFlow(const ChromeEvent& event, bool start);
  void AddAsync(const ChromeEvent& event, bool begin);

  Timestamp ReadTime(const ChromeEvent& event);
  Duration ReadDuration(const ChromeEvent& event);
  SpanRow ReadSpan(const ChromeEvent& event, ChromePythonCall* call = nullptr);
  StringId ReadName(const ChromeEvent& event);
  StringId ReadCategory(const ChromeEvent& event);
  StringId ReadId(const ChromeEvent& event);
  ChromeTracks::Role RoleOf(StringId category, std::string_view text);
  void Problem(std::string_view kind, const ChromeEvent& event);

  TraceBuilder* builder_;
  ChromeTracks tracks_;
  ChromeArgs args_;
  ChromePairs pairs_;
  std::vector<int8_t> role_of_category_;  // by StringId, -1: not looked at yet
  std::string_view last_category_text_;   // neighbours mostly share it
  StringId last_category_ = StringId::kEmpty;
  bool keeps_categories_ = false;
  // The event before a flow is mostly the one that the flow belongs to.
  AddedSpan last_span_ = AddedSpan::kNone;
  TrackId last_span_track_ = TrackId::kNone;
  Timestamp last_span_start_;
};

}  // namespace opscope
