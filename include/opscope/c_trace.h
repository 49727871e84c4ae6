// The reading half of the C interface: opens recordings and other profilers' files, inspects them,
// summarizes them and converts them. opscope/c.h includes this header.
//
//   opscope_trace* trace = NULL;
//   if (opscope_trace_open("train.opscope", NULL, &trace, &error) != OPSCOPE_OK) ...
//
//   opscope_summary_options by_shape = OPSCOPE_SUMMARY_OPTIONS_INIT;
//   by_shape.group_by = "name,shape";
//   opscope_summary* summary = NULL;
//   if (opscope_summarize(trace, &by_shape, &summary, &error) != OPSCOPE_OK) ...
//   for (uint64_t i = 0; i < opscope_summary_row_count(summary); ++i) {
//     opscope_summary_row row = OPSCOPE_SUMMARY_ROW_INIT;
//     opscope_summary_get_row(summary, i, &row);
//     printf("%s %lld\n", row.name, (long long)row.self_ns);
//   }
//   opscope_summary_free(summary);
//
//   opscope_export(trace, "perfetto", "train.pftrace", NULL, NULL, &error);
//   opscope_trace_free(trace);
//
// Ownership, struct sizes and NULL arguments: as opscope/c.h says. A function without a parameter `error`
// returns OPSCOPE_INVALID_ARGUMENT for a NULL argument and for a struct whose size is not set.
//
// Cost: opening is O(bytes), a summary O(spans), an export O(rows); the rest is O(1).
//
// Thread rule: a trace is immutable and any number of threads may read it; one thread at a time uses a
// summary.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "opscope/c_error.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- reading a trace --------------------------------------------------------------------------------

// An open trace: immutable columns in memory. The caller passes it once to opscope_trace_free.
typedef struct opscope_trace opscope_trace;

// How to read an input.
typedef struct opscope_import_options {
  size_t size;
  // Bytes that columns and input buffers may hold together; 0: no limit. At the limit the trace ends, with
  // the problem over_memory_limit.
  uint64_t max_memory;
} opscope_import_options;
#define OPSCOPE_IMPORT_OPTIONS_INIT {sizeof(opscope_import_options), 0}

// Reads `.opscope`, Kineto's and Chrome's JSON, and the other formats of docs/reference/formats.md, also in gzip or
// zstd; the content decides. Damage after the first whole event is no error but a problem of the trace.
// options: may be NULL. NOT_FOUND, IO: the system refused. MALFORMED: damaged before the first whole event.
// UNSUPPORTED: a format or version that this build cannot read.
opscope_code opscope_trace_open(const char* path, const opscope_import_options* options, opscope_trace** trace,
                                opscope_error* error);
// Reads bytes, which are not needed after the call. `name` names them in messages; NULL: "bytes".
opscope_code opscope_trace_open_bytes(const void* bytes, size_t size, const char* name,
                                      const opscope_import_options* options, opscope_trace** trace,
                                      opscope_error* error);
// Also frees every text, column and problem that the trace has returned. REQUIRES: no summary of the trace
// is in use.
void opscope_trace_free(opscope_trace* trace);

// Facts about the input, and the number of rows of each table. Texts live as long as the trace.
typedef struct opscope_trace_info {
  size_t size;
  // "opscope", "chrome-json", ...: the names of docs/reference/formats.md.
  const char* format;
  const char* format_version;
  // "none", "gzip", "zstd".
  const char* compressed;
  // Options of the recording, a JSON object; "{}": the input does not say them.
  const char* options_json;
  // Events of the input that the trace keeps.
  uint64_t recorded;
  // Events that the recorder dropped.
  uint64_t dropped;
  // Unix time of time 0 in nanoseconds; 0: the input has no absolute time.
  int64_t epoch_ns;
  // Bytes that the trace's columns and strings hold.
  uint64_t memory_bytes;
  // Rows of the tables of these names (docs/reference/tables.md). strings: distinct texts.
  uint64_t processes;
  uint64_t tracks;
  uint64_t spans;
  uint64_t async_spans;
  uint64_t instants;
  uint64_t counters;
  uint64_t flows;
  uint64_t allocations;
  uint64_t steps;
  uint64_t strings;
  uint64_t problems;
  // Not 0: input was lost, and a problem says what. The command line then exits with 3.
  int32_t is_partial;
  int32_t reserved;
} opscope_trace_info;
#define OPSCOPE_TRACE_INFO_INIT \
  {sizeof(opscope_trace_info), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
// Fills *info. The caller sets info->size, as OPSCOPE_TRACE_INFO_INIT does.
opscope_code opscope_trace_get_info(const opscope_trace* trace, opscope_trace_info* info);

// How bad a problem is. INFO: a repair or a guess that lost no event. The others make the trace partial.
enum { OPSCOPE_SEVERITY_INFO = 0, OPSCOPE_SEVERITY_DATA_LOSS = 1, OPSCOPE_SEVERITY_ERROR = 2 };

// Something that the reader repaired, dropped or guessed. Texts live as long as the trace.
typedef struct opscope_problem {
  size_t size;
  // Identifier for programs: "truncated", "dropped_at_cap", ...
  const char* kind;
  // One sentence for people.
  const char* message;
  // How often it occurred.
  uint64_t count;
  // Where it occurred first: a byte of the uncompressed input (of the file for .opscope); -1: nowhere in
  // particular.
  int64_t first_offset;
  // OPSCOPE_SEVERITY_*.
  int32_t severity;
  int32_t reserved;
} opscope_problem;
#define OPSCOPE_PROBLEM_INIT {sizeof(opscope_problem), NULL, NULL, 0, 0, 0, 0}
// INVALID_ARGUMENT: index is not below opscope_trace_info.problems.
opscope_code opscope_trace_get_problem(const opscope_trace* trace, uint64_t index, opscope_problem* problem);

// The columns of the spans, in place: nothing is copied. They live as long as the trace. Every column has
// `count` values. The spans of a track are contiguous, a parent before its children.
typedef struct opscope_spans {
  size_t size;
  uint64_t count;
  // Begin, in nanoseconds since epoch_ns; may be negative.
  const int64_t* start_ns;
  // Nanoseconds, never negative.
  const int64_t* duration_ns;
  // A string, see opscope_trace_string.
  const uint32_t* name;
  // Row of the track (thread or device stream).
  const uint32_t* track;
  // Row of the enclosing span of the same track; 0xffffffff: none.
  const uint32_t* parent;
  // Number of enclosing spans.
  const uint16_t* depth;
} opscope_spans;
#define OPSCOPE_SPANS_INIT {sizeof(opscope_spans), 0, NULL, NULL, NULL, NULL, NULL, NULL}
// Fills *spans with pointers to the columns. A column of no spans may be NULL.
opscope_code opscope_trace_get_spans(const opscope_trace* trace, opscope_spans* spans);

// The text of a string. It lives as long as the trace, is NOT terminated and may hold any bytes. NULL:
// there is no such string. text_size: required.
const char* opscope_trace_string(const opscope_trace* trace, uint32_t string, size_t* text_size);

// ---- the operator summary ---------------------------------------------------------------------------

// Spans grouped by name and other keys, with counts and times. The caller passes it once to
// opscope_summary_free.
typedef struct opscope_summary opscope_summary;

// What to summarize, and how. The functions copy the texts.
typedef struct opscope_summary_options {
  size_t size;
  // Keys separated by commas, "name", "name,shape", ...: as `opscope summary --group-by`. NULL: "name".
  const char* group_by;
  // Orders the rows by this key, "total_ns", "self_ns", "count", ..., largest first. NULL: the order of
  // first appearance.
  const char* sort_by;
  // Not 0: subtract the overhead of recording from the times. UNSUPPORTED if the input does not say it.
  int corrected;
  // Condition that selects spans, "name ~ conv and duration > 10us" (docs/how-to/choose_spans.md). NULL:
  // all spans.
  const char* where;
} opscope_summary_options;
#define OPSCOPE_SUMMARY_OPTIONS_INIT {sizeof(opscope_summary_options), "name", "total_ns", 0, NULL}

// options: may be NULL. The trace must outlive the summary. INVALID_ARGUMENT: an unknown key or condition.
opscope_code opscope_summarize(const opscope_trace* trace, const opscope_summary_options* options,
                               opscope_summary** summary, opscope_error* error);
void opscope_summary_free(opscope_summary* summary);

// One group. docs/reference/analyses.md defines the numbers. Texts live as long as the summary and end at a
// 0 byte, also within a name. Times are in nanoseconds.
typedef struct opscope_summary_row {
  size_t size;
  // "" if group_by has no name.
  const char* name;
  // Texts of the further group keys, in the order of group_by without name; `key_count` of them.
  const char* const* keys;
  uint64_t key_count;
  // Number of spans, at least 1.
  uint64_t count;
  // Sum of the durations, without spans inside of a span of the same row and track (recursion).
  int64_t total_ns;
  // Sum of all durations, as torch's table shows it.
  int64_t total_with_recursion_ns;
  // Sum of the durations without direct children.
  int64_t self_ns;
  int64_t min_ns;
  int64_t max_ns;
  // Rounded down.
  int64_t mean_ns;
  // Device time launched beneath the spans; of a device row total_ns.
  int64_t device_total_ns;
  // Device time launched by the spans themselves; of a device row self_ns.
  int64_t device_self_ns;
  // Bytes allocated minus bytes freed, without direct children.
  int64_t self_memory_bytes;
  // Floating-point operations; 0: unknown.
  int64_t flops;
  // Median, 99th percentile and standard deviation of the durations.
  int64_t p50_ns;
  int64_t p99_ns;
  int64_t stddev_ns;
  // 1: spans of devices, 0: of hosts. No row has both, so one name can have two rows.
  int on_device;
} opscope_summary_row;
#define OPSCOPE_SUMMARY_ROW_INIT \
  {sizeof(opscope_summary_row), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
// Number of rows; 0 for NULL.
uint64_t opscope_summary_row_count(const opscope_summary* summary);
// INVALID_ARGUMENT: index is not below the count.
opscope_code opscope_summary_get_row(const opscope_summary* summary, uint64_t index, opscope_summary_row* row);

// ---- texts and files --------------------------------------------------------------------------------

// Form of a text.
enum { OPSCOPE_TEXT_TABLE = 0, OPSCOPE_TEXT_JSON = 1, OPSCOPE_TEXT_CSV = 2 };

// The next three functions set *text to a text that ends with a 0 byte. The caller passes it to
// opscope_text_free. INVALID_ARGUMENT: an unknown style or sort key.
//
// The output of `opscope summary`. limit: rows, 0: all. JSON and CSV have every column.
opscope_code opscope_summary_text(const opscope_summary* summary, int style, size_t limit, char** text,
                                  opscope_error* error);
// The output of `opscope info`, as a table or as JSON.
opscope_code opscope_trace_info_text(const opscope_trace* trace, int style, char** text, opscope_error* error);
// The output of `opscope summary --style torch`. sort_by: torch's names ("cpu_time_total"), NULL: the order
// of appearance. row_limit -1: all rows.
opscope_code opscope_torch_table(const opscope_trace* trace, const char* sort_by, int64_t row_limit, char** text,
                                 opscope_error* error);
// Accepts NULL.
void opscope_text_free(char* text);

// Compression of a written file.
enum {
  OPSCOPE_COMPRESSION_FROM_NAME = -1,  // ".gz" and ".zst" compress
  OPSCOPE_COMPRESSION_NONE = 0,
  OPSCOPE_COMPRESSION_GZIP = 1,
  OPSCOPE_COMPRESSION_ZSTD = 2
};

// Options of opscope_export_chrome.
typedef struct opscope_chrome_options {
  size_t size;
  // OPSCOPE_COMPRESSION_*.
  int32_t compression;
  // 0: fast deflate; else as small as gzip -9.
  int32_t small_gzip;
  // Kineto's "traceName"; NULL: the path.
  const char* trace_name;
} opscope_chrome_options;
#define OPSCOPE_CHROME_OPTIONS_INIT {sizeof(opscope_chrome_options), OPSCOPE_COMPRESSION_FROM_NAME, 0, NULL}

// Write the trace in Kineto's Chrome JSON, and as an .opscope file. Each writes a file beside `path` and
// renames it, so after an error `path` is the old file, or absent. options: may be NULL. NOT_FOUND, IO: the
// system refused.
opscope_code opscope_export_chrome(const opscope_trace* trace, const char* path, const opscope_chrome_options* options,
                                   opscope_error* error);
opscope_code opscope_export_opscope(const opscope_trace* trace, const char* path, opscope_error* error);

// Options of opscope_export; a format ignores those that do not apply to it.
typedef struct opscope_export_options {
  size_t size;
  // OPSCOPE_COMPRESSION_*.
  int32_t compression;
  // 0: fast deflate; else as small as gzip -9.
  int32_t small_gzip;
  // csv: name of the table; NULL: "spans".
  const char* table;
  // collapsed, pprof: not 0 makes equal paths of several threads one path.
  int32_t merge_threads;
} opscope_export_options;
#define OPSCOPE_EXPORT_OPTIONS_INIT {sizeof(opscope_export_options), OPSCOPE_COMPRESSION_FROM_NAME, 0, NULL, 0}

// Writes the trace in another format, as safely as opscope_export_chrome.
//
// format: "chrome", "perfetto", "speedscope", "collapsed", "pprof", "csv", "opscope", "paddle-protobuf",
// "paddle-chrome", "megengine-chrome", "megengine-svg" or "html" (docs/reference/export_formats.md). options: may be
// NULL.
// *left_out, unless left_out is NULL: a sentence about what the format could not hold, "" if it holds everything.
// The caller passes it to opscope_text_free. INVALID_ARGUMENT: an unknown format, table or compression.
opscope_code opscope_export(const opscope_trace* trace, const char* format, const char* path,
                            const opscope_export_options* options, char** left_out, opscope_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif
