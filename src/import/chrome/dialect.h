// A dialect of Chrome JSON: the spelling of one writer where it differs. This folder implements the format and Kineto's
// members; every other writer is a ChromeDialect, a table of constants and a few functions in the writer's own folder.
// To add a writer, add such a table and its row in import/dialects/all_dialects.cc.
//
// Often the writer is unknown until the last event was read, because it writes its metadata behind the events. So there
// are three groups of facts, by the time from which they apply:
//
//   in every file        no other writer uses the name for anything else: args "step_num": "3" is a step
//   in a declared file   a member before the events names the writer: "schemaVersion": "1.0.2"
//   at the end           the file is read and its writer known: what kind of work a span is, whose clock is off
//
// Each event is interpreted independently, so the result does not depend on where a block of the file begins.
//
// Cost: constants are compared with each event. Functions are called once per list, track or file, unless the comment
// says otherwise.
//
// Thread rule: immutable; functions of a dialect are pure, or change the builder that they get.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/chrome/event.h"
#include "import/text/json_scan.h"
#include "trace/builder.h"

namespace opscope {

// How strongly an event indicates the writer of the file.
enum class ChromeEvidence : uint8_t {
  kNone,
  kPossible,  // other programs may write such events, too
  kCertain,
};

// An argument list in the spelling of Kineto's "Input Dims" and "Input type".
struct ChromeLists {
  std::string dims, types;
};

// A member of "args" with a meaning that Kineto writes under another name.
struct ChromeMember {
  enum class Meaning : uint8_t {
    kCorrelation,  // the number that Kineto calls "correlation"
    kStep,         // a range without category is the step of this number. The member also stays in `extra`
    kLists,        // an argument list. The member also stays in `extra`: it has more, such as names of inputs
    kListsAlone,   // an argument list and nothing else
  };
  std::string_view key;
  Meaning meaning = Meaning::kCorrelation;
  // Set for lists only. Appends the items of `value`; `members`: all of "args". False: `value` is not such a list.
  bool (*read)(const JsonValue& value, const std::vector<JsonMember>& members, ChromeLists* lists) = nullptr;
};

// One track of the file, by its names; "" if the file has none.
struct ChromeTrackFacts {
  std::string_view process_name, name;
  uint32_t process = 0;  // equal for tracks of one process
  TrackKind kind = TrackKind::kOther;
  int32_t device = -1;
};

// A file after reading, for ChromeDialect::is_writer.
struct ChromeFile {
  TraceBuilder* builder = nullptr;
  bool shown_by_events = false;  // by the evidence of the dialect whose is_writer is called

  bool MetadataHas(std::string_view key, std::string_view member) const;  // "key": {"member": ...}
  bool FirstCategoryIs(std::string_view category) const;                  // category of the first span
};

// All members but `format` may be left out.
struct ChromeDialect {
  std::string_view format;  // TraceInfo::format

  // Whether this is the writer, called at the end of the file. The first dialect in the list that returns true is the
  // writer.
  bool (*is_writer)(const ChromeFile& file) = nullptr;
  // Called for each range without a category, counter and end of an arrow. Null: events show nothing.
  ChromeEvidence (*evidence_in)(const ChromeEvent& event) = nullptr;
  // Whether a member of the document before the events identifies this writer.
  bool (*is_declared_by)(std::string_view key, const JsonValue& value) = nullptr;

  // --- In every file.
  std::span<const ChromeMember> members = {};
  // "base_time_key": {"base_time_member": NANOSECONDS}, a member of the document, is the base time.
  std::string_view base_time_key = {}, base_time_member = {};
  // Ranges "step_prefix<N>" of the category are steps.
  std::string_view step_category = {}, step_prefix = {};
  // The duration is part of the name: "matmul[12.345 us]".
  bool names_end_in_duration = false;
  // All starts of this category before an end are joined to it; starts of other categories are joined to the first end.
  std::string_view shared_end_category = {};
  // Whether a range is an input of the range around it (argument_ranges.h). Called for ranges with begin and end that
  // have a list of one argument.
  bool (*is_argument_range)(std::string_view name, const Argument& input) = nullptr;
  // Corrects the kinds and devices of tracks with the writer's names. A device of -1 is derived from the pid.
  void (*classify_tracks)(std::span<ChromeTrackFacts> tracks) = nullptr;

  // --- In a declared file.
  // Categories "Operator", "Kernel", ... have this writer's meaning, not that of old versions of torch.
  bool keeps_categories = false;
  // A member of events that is redundant ("cname"): dropped without a problem. "": the dialect has no such member.
  std::string_view derived_member = {};
  // Reads an instant "[memory]" of this category; `others`: members of "args" that the row does not hold. False: it is
  // not such an instant, or has no address or no bytes.
  bool (*read_allocation)(std::string_view category, const std::vector<JsonMember>& members, AllocationRow* row,
                          std::vector<JsonMember>* others) = nullptr;

  // --- At the end.
  // The kind of a span that has no category and is not a step; `members`: SpanColumns::extra, or "".
  SpanKind (*kind_of)(TrackKind track, std::string_view name, std::string_view members) = nullptr;
  // An end repeats the members of its begin; a different value is a problem "bad_value".
  bool ends_repeat_begins = false;
  void (*finish)(TraceBuilder* builder) = nullptr;
};

// The format itself, with Kineto's members: any file whose writer no dialect recognises.
inline constexpr ChromeDialect kPlainChrome{.format = "chrome-json"};

// The dialects that a reader knows, and the facts of all of them that hold in every file.
class ChromeDialects {
 public:
  static constexpr size_t kMaxDialects = 16;
  using EvidenceOfEach = std::array<ChromeEvidence, kMaxDialects>;  // by index in list()

  ChromeDialects() = default;
  // REQUIRES: at most kMaxDialects dialects, which outlive this object.
  explicit ChromeDialects(std::span<const ChromeDialect* const> list);

  std::span<const ChromeDialect* const> list() const { return list_; }
  const ChromeDialect& Named(std::string_view format) const;  // kPlainChrome if no dialect has the name

  // The meaning of the member of "args" in some dialect; null: it has no meaning.
  const ChromeMember* MeaningOf(std::string_view key) const {
    const bool may_be = key.size() < 64 && (member_sizes_ >> key.size() & 1) != 0;
    return may_be ? Search(key) : nullptr;
  }
  // For ranges of this category: the text before the number of a step; "": they are not steps.
  std::string_view StepPrefix(std::string_view category) const;
  bool names_end_in_duration() const { return names_end_in_duration_; }
  bool SharesEnds(std::string_view arrow_category) const;
  bool IsArgumentRange(std::string_view name, const Argument& input) const;
  void ClassifyTracks(std::span<ChromeTrackFacts> tracks) const;
  // Records the evidence of the event if it is stronger than that so far.
  void AddEvidence(const ChromeEvent& event, EvidenceOfEach* evidence) const {
    for (const auto& [index, evidence_in] : evidence_functions_)
      (*evidence)[index] = std::max((*evidence)[index], evidence_in(event));
  }
  // Reads the base time if this member of the document has it.
  bool ReadBaseTime(std::string_view key, const JsonValue& value, int64_t* base_time_ns) const;

 private:
  const ChromeMember* Search(std::string_view key) const;

  std::span<const ChromeDialect* const> list_;
  std::vector<ChromeMember> members_;
  uint64_t member_sizes_ = 0;  // a bit for each size of a key
  bool names_end_in_duration_ = false;
  std::vector<std::pair<size_t, ChromeEvidence (*)(const ChromeEvent&)>> evidence_functions_;
};

// The dialects that apply while a file is read.
struct ChromeConventions {
  const ChromeDialects* dialects = nullptr;
  const ChromeDialect* declared = &kPlainChrome;
};

// Reads the argument list of the members. False: they have no list, or an unreadable one.
bool ReadChromeLists(const ChromeDialects& dialects, const std::vector<JsonMember>& members, ChromeLists* lists);

// --- For dialects.
const JsonMember* FindMember(const std::vector<JsonMember>& members, std::string_view key);  // null: not found
void AppendListItem(std::string* list, std::string_view item);  // with ", " before it unless it is the first item

}  // namespace opscope
