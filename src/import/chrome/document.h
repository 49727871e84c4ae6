// The document around the events: {"key": ..., "traceEvents": [...], ...} or just [...]. It is read through a window
// that holds one member, or some events, at a time.
//
// Thread rule: one thread at a time; helpers live within Read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "import/chrome/block.h"
#include "import/chrome/dialect.h"
#include "import/chrome/importer.h"
#include "import/chrome/join.h"
#include "import/chrome/pipeline.h"
#include "import/text/json_scan.h"
#include "import/text/text_source.h"

namespace opscope {

class ChromeDocument {
 public:
  ChromeDocument(TextSource* source, const ImportOptions& options, const ChromeDialects& dialects,
                 const ChromeBlockSizes& sizes, TraceBuilder* builder);

  // False: the text is damaged, see failure().
  bool Read();
  void AddProblems();
  void Finish();

  struct Failure {
    uint64_t offset = 0;
    bool truncated = false;  // the text ends too early
    const char* complaint = "";
  };
  const Failure& failure() const { return failure_; }
  bool found_events() const { return found_events_; }
  bool read_whole_event() const { return events_ != 0; }
  // The first skipped fault; an empty complaint: nothing was skipped.
  const ChromeBlockEnd::Fault& first_fault() const { return first_fault_; }
  bool holds_only_other_values() const { return events_ == 0 && other_values_ != 0; }
  bool is_over_limit() const { return stopped_; }

 private:
  template <typename ReadPiece>
  bool Read(const ReadPiece& read);
  bool GrowWindow();
  bool Fail(uint64_t offset, bool truncated, const char* complaint);

  bool ReadObject();
  bool ReadMember();
  bool PassToEvents();
  void AddMetadata(const JsonValue& key, const JsonValue& value, uint64_t end_offset);
  bool ReadEnd();
  bool ReadEvents();
  bool ReadEventsHere(bool* comma_due, bool* ended);
  void ReadEventsByBlocks(bool* comma_due);
  void Join(const ChromePart& part, const ChromeBlockEnd& end);
  bool IsOverLimit(uint64_t more_bytes);
  bool IsTooLong(size_t window);
  size_t WantedThreads() const;
  const ChromeDialect& FindWriter();
  bool IsShownByEvents(ChromeEvidence evidence) const;

  TextSource* source_;
  const ImportOptions& options_;
  const ChromeBlockSizes sizes_;
  TraceBuilder* builder_;
  ChromeConventions conventions_;
  ChromeJoin join_;
  ChromeBlockReader reader_;
  ChromePart part_;
  std::unique_ptr<ChromePipeline> pipeline_;  // null until the text is long enough for threads
  Failure failure_;
  ChromeBlockEnd::Fault first_fault_;
  std::string own_tracks_;  // "opscope.tracks" of an export by opscope
  uint64_t events_ = 0;
  uint64_t other_values_ = 0;  // elements of the array that are not objects
  bool has_members_ = false;   // the document has members other than the events
  bool array_form_ = false;
  bool found_events_ = false;
  bool stopped_ = false;  // reading stopped at the memory limit
  uint64_t stopped_at_ = 0;
};

}  // namespace opscope
