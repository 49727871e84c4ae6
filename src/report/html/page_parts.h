// The parts of a page's data. Each function appends one value to `out` and takes its texts' numbers from `strings`.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json_object.h"
#include "opscope/analysis/timeline_marks.h"
#include "opscope/report/html.h"
#include "report/html/page_strings.h"

namespace opscope {

// {"steps": {...}, ...}; at most about max_bytes, rows that do not fit are folded.
void AppendPageTables(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out);

// The object "ranks". REQUIRES: results.job is not null
void AppendPageRanks(const PageResults& results, size_t max_bytes, std::string* out);

// The ranks that have spans in the trace, ascending.
[[nodiscard]] std::vector<int32_t> PageRanksWithSpans(const Trace& trace);

// The list "trees"; the lightest nodes are left out beyond about max_bytes.
void AppendPageTrees(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out);

// The list "tree_diffs", likewise.
void AppendPageTreeDiffs(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out);

// The object "memory", curves with fewer points beyond about max_bytes.
void AppendPageMemory(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out);

// The members of the object "memory" about blocks: as many as fit, the largest first.
void AppendPageBlocks(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out);

// The parts of the timeline that do not depend on which spans are kept: the members "counters" and "names".
void AppendPageCounters(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out);
void AppendPageNames(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out);

// The object of "about" with entries of the metadata, at most about max_bytes.
void AppendPageMetadata(const Trace& trace, size_t max_bytes, std::string* out);

// How much of each kind the rest of the timeline has.
struct TimelineLimits {
  TimelineBudget levels;
  // Most bytes of the texts of arguments, and of call stacks.
  size_t argument_bytes = 0, stack_bytes = 0;
  size_t flows = 0;
  // Asynchronous ranges, and points in time.
  MarkBudget ranges, points;
};
// The members "tracks", "kept", "folded", "arguments", "stacks", "flows", "ranges", "instants" and "left_out".
void AppendPageSpans(const PageResults& results, const TimelineLimits& limits, PageStrings* strings, std::string* out);

// The members "track", its row in trace.tracks(), "id", "title", "group", "kind", "rank" and "spans" of a track. `id`
// is its one of DistinctTrackIds.
void AppendTrackMembers(const Trace& trace, uint32_t track, const ListedThread& listed, const std::string& id,
                        JsonObject* object);

// The title, cut if it is very long.
[[nodiscard]] std::string PageTitle(const PageResults& results);

struct PageMarks {
  TimelineMarks ranges, points;
};
// The members "ranges" and "instants". `numbers`: by track of the trace its number in the page; UINT32_MAX: it has
// none.
void AppendPageMarks(const Trace& trace, const PageMarks& marks, const std::vector<uint32_t>& numbers,
                     PageStrings* strings, std::string* out);

// By track of ListTracks "PID/TID"; of several with one of these, the second has "#2" at its end, and so on.
[[nodiscard]] std::vector<std::string> DistinctTrackIds(const std::vector<ListedThread>& tracks);

// An integer; beyond 2^53 a text of digits, because JavaScript reads numbers as doubles.
void AppendPageInteger(int64_t value, std::string* out);

// The name of a process for people, with its number: "python (1234)".
[[nodiscard]] std::string ProcessText(const Trace& trace, ProcessId process);

// The name of a device for people, with its rank if it has one: "rank 3, cuda:0".
[[nodiscard]] std::string PagePlaceName(const MemoryPlace& place);
// The same of blocks and curves. `track`: the stream that names the device; kNone: none does.
[[nodiscard]] std::string PageDeviceName(const Trace& trace, const MemoryPlace& place, TrackId track);

// The frames of a call stack, a line each, outermost first.
[[nodiscard]] std::string PageStackText(const Trace& trace, StackId stack);

// Escapes in out, from `begin` on, what a script element or a script must not contain: "<", U+2028, U+2029. JSON has them
// only in texts, where escapes are allowed.
void EscapeForScript(size_t begin, std::string* out);

}  // namespace opscope
