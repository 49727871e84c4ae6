// The C interface: everything of profiler.h and scope.h, and of the reading side what opens, inspects and
// converts recordings. C99 and later, C++11 and later.
//
//   opscope_error error = OPSCOPE_ERROR_INIT;
//   opscope_profiler* profiler = NULL;
//   if (opscope_profiler_new(NULL, &profiler, &error) != OPSCOPE_OK) ...  // error.message is one sentence
//   opscope_profiler_start(profiler, &error);
//   opscope_scope* scope = opscope_scope_begin("train");
//   Train();
//   opscope_scope_end(scope);
//   opscope_profiler_stop(profiler, &error);
//   opscope_profiler_save(profiler, "train.opscope", &error);
//   opscope_profiler_free(profiler);
//
//   opscope_trace* trace = NULL;
//   if (opscope_trace_open("train.opscope", NULL, &trace, &error) == OPSCOPE_OK) ...
//   opscope_trace_free(trace);
//
// Structs begin with their size, which the *_INIT macros set, so that later versions can append members.
// The library accepts an older struct (missing members have their defaults), and a newer one unless it sets
// unknown members.
//
// Ownership: the caller owns what a *_new, *_open or opscope_summarize function returns, and passes it once
// to the *_free function of its kind; those accept NULL. Functions copy paths, names and texts unless they
// say otherwise. Every `error` may be NULL. NULL for any other required argument is
// OPSCOPE_INVALID_ARGUMENT. Functions throw nothing; callbacks must not throw or longjmp.
//
// Thread rule: scopes, counters and the like on any thread; each handle on one thread at a time, different
// handles concurrently; a trace is immutable and may be read by any number of threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- versions and errors --------------------------------------------------------------------------

// Version of the linked library, "0.1.0". Static text.
const char* opscope_version(void);

typedef enum opscope_code {
  OPSCOPE_OK = 0,
  // The caller asked for something that does not exist or cannot be.
  OPSCOPE_INVALID_ARGUMENT = 1,
  // A file or its folder does not exist.
  OPSCOPE_NOT_FOUND = 2,
  // The system refused; see system_errno.
  OPSCOPE_IO = 3,
  // The input violates its format.
  OPSCOPE_MALFORMED = 4,
  // Valid, but this build or version cannot do it.
  OPSCOPE_UNSUPPORTED = 5,
  // An allocation failed; the call changed nothing.
  OPSCOPE_OUT_OF_MEMORY = 6
} opscope_code;

// "invalid argument", ...; "unknown code" for other numbers. Static text.
const char* opscope_code_text(int32_t code);

// Set by a function that returns a code other than OPSCOPE_OK, else unchanged. Longer messages are cut.
typedef struct opscope_error {
  size_t size;
  int32_t code;          // opscope_code
  int32_t system_errno;  // errno of the call that the system refused, else 0
  char message[1008];    // one sentence: "FILE: at byte N: what is wrong"
} opscope_error;
#define OPSCOPE_ERROR_INIT {sizeof(opscope_error), 0, 0, {0}}

// ---- recording: when, how much, which threads -------------------------------------------------------

typedef struct opscope_profiler opscope_profiler;

// What to do with one step.
typedef enum opscope_action {
  OPSCOPE_ACTION_NONE = 0,
  OPSCOPE_ACTION_WARMUP = 1,          // get ready: nothing is kept
  OPSCOPE_ACTION_RECORD = 2,          // record, and go on recording in the next step
  OPSCOPE_ACTION_RECORD_AND_SAVE = 3  // record; at the end of the step the recording is complete
} opscope_action;

// `skip_first` steps of no action, then cycles of `wait`, `warmup` and `active` steps; `repeat` cycles, 0:
// without end. skip_first_wait other than 0: the first cycle has no `wait`.
typedef struct opscope_schedule {
  size_t size;
  int64_t wait;
  int64_t warmup;
  int64_t active;
  int64_t repeat;
  int64_t skip_first;
  int64_t skip_first_wait;
} opscope_schedule;
#define OPSCOPE_SCHEDULE_INIT {sizeof(opscope_schedule), 0, 0, 1, 0, 0, 0}

enum { OPSCOPE_AT_CAP_STOP = 0, OPSCOPE_AT_CAP_KEEP_NEWEST = 1 };
enum { OPSCOPE_THREADS_ALL = 0, OPSCOPE_THREADS_ATTACHED = 1, OPSCOPE_THREADS_NONE = 2 };

typedef struct opscope_options {
  size_t size;
  uint64_t max_bytes;                // of records, names and arguments
  int32_t at_cap;                    // OPSCOPE_AT_CAP_*
  int32_t threads;                   // OPSCOPE_THREADS_*: whose scopes are taken
  const opscope_schedule* schedule;  // copied. NULL, and no action_of: everything from start to stop
  // The action of each step, instead of a schedule. A number that is no opscope_action counts as none.
  int32_t (*action_of)(int64_t step, void* context);
  // Called from step or stop when a recording is complete. It may save it; it must not free the profiler.
  void (*on_ready)(opscope_profiler* profiler, void* context);
  // Called with a sentence about a schedule that makes no sense, or about record_to. The text is valid
  // during the call.
  void (*on_warning)(const char* sentence, void* context);
  // Passed to the three callbacks.
  void* context;
  // Members of a JSON object that the recording carries; may be NULL.
  const char* metadata_json;
  // Path of a file in which the recording lies while it is made, so that it survives a killed process;
  // copied, may be NULL. The second recording goes to NAME.2.EXTENSION. What the file cannot take stays in
  // memory, with a warning.
  const char* record_to;
} opscope_options;
#define OPSCOPE_OPTIONS_INIT \
  {sizeof(opscope_options),  \
   UINT64_C(1) << 30,        \
   OPSCOPE_AT_CAP_STOP,      \
   OPSCOPE_THREADS_ALL,      \
   NULL,                     \
   NULL,                     \
   NULL,                     \
   NULL,                     \
   NULL,                     \
   NULL,                     \
   NULL}

// Makes a profiler. options: NULL for the defaults.
opscope_code opscope_profiler_new(const opscope_options* options, opscope_profiler** profiler, opscope_error* error);
// Stops without calling on_ready, and frees the recording.
void opscope_profiler_free(opscope_profiler* profiler);

// Begins with the action of the current step (0 at first). May be called again after a stop and then
// continues with the same step. INVALID_ARGUMENT: running already, or the schedule is not valid.
// UNSUPPORTED: too many recordings are open.
opscope_code opscope_profiler_start(opscope_profiler* profiler, opscope_error* error);
// Ends the current step and begins the next one. INVALID_ARGUMENT: not running.
opscope_code opscope_profiler_step(opscope_profiler* profiler, opscope_error* error);
// Takes milliseconds. A second call does nothing. INVALID_ARGUMENT: never started.
opscope_code opscope_profiler_stop(opscope_profiler* profiler, opscope_error* error);
// Writes the last complete recording atomically. INVALID_ARGUMENT: there is none. IO, NOT_FOUND: the system
// refused.
opscope_code opscope_profiler_save(const opscope_profiler* profiler, const char* path, opscope_error* error);

enum { OPSCOPE_STATE_IDLE = 0, OPSCOPE_STATE_RUNNING = 1, OPSCOPE_STATE_STOPPED = 2 };

typedef struct opscope_profiler_status {
  size_t size;
  int32_t state;      // OPSCOPE_STATE_*
  int32_t action;     // opscope_action of the current step
  int64_t step;       // 0 at first
  uint64_t recorded;  // of the running recording, else of the last complete one
  uint64_t dropped;   // recorded + dropped = what was issued
} opscope_profiler_status;
#define OPSCOPE_PROFILER_STATUS_INIT {sizeof(opscope_profiler_status), 0, 0, 0, 0, 0}
// State and counts now. INVALID_ARGUMENT: NULL, or a struct without a size.
opscope_code opscope_profiler_get_status(const opscope_profiler* profiler, opscope_profiler_status* status);

// ---- what a program says about itself ---------------------------------------------------------------
// While nothing is recorded each of these is a call, a load and a branch. Names
// that are NULL count as "".

// While no profiler records, each of the following functions is a call, a load and a branch. A NULL name
// counts as "".
typedef struct opscope_scope opscope_scope;

// Begins a scope. `literal` must stay unchanged for the life of the process: its address identifies the
// text. NULL: nothing records; every function below accepts it.
opscope_scope* opscope_scope_begin(const char* literal);
// The same for any text, which is copied.
opscope_scope* opscope_scope_begin_copy(const char* name);
// Ends it: once per scope, also after the recording has ended. On another thread the scope becomes
// asynchronous.
void opscope_scope_end(opscope_scope* scope);

// Adds an argument, shown with the scope. Only on the thread that began it; keys and texts are copied.
void opscope_scope_text(opscope_scope* scope, const char* key, const char* text);
void opscope_scope_int(opscope_scope* scope, const char* key, int64_t value);
void opscope_scope_uint(opscope_scope* scope, const char* key, uint64_t value);
void opscope_scope_double(opscope_scope* scope, const char* key, double value);
void opscope_scope_bool(opscope_scope* scope, const char* key, int value);
void opscope_scope_json(opscope_scope* scope, const char* key, const char* json);  // a JSON value, not checked

// Records the value of a counter now; viewers draw one curve per name. The functions below copy names.
void opscope_counter(const char* name, double value);
// Records a point in time.
void opscope_instant(const char* name);
// Begins an arrow that leads to every end with the same name and id, on any thread.
void opscope_flow_begin(const char* name, uint64_t id);
void opscope_flow_end(const char* name, uint64_t id);
// Names the calling thread in recordings from now on; 31 bytes at most. The system's name stays.
void opscope_set_thread_name(const char* name);
// Not 0 if some profiler records the calling thread's scopes. Guards work that only computes arguments.
int opscope_is_recording(void);

// ---- reading a trace --------------------------------------------------------------------------------

typedef struct opscope_trace opscope_trace;

typedef struct opscope_import_options {
  size_t size;
  uint64_t max_memory;  // bytes that columns and input may hold together, 0: no limit
} opscope_import_options;
#define OPSCOPE_IMPORT_OPTIONS_INIT {sizeof(opscope_import_options), 0}

// Reads `.opscope`, Kineto's and Chrome's JSON, and the other formats of docs/reference/formats.md, also in gzip or
// zstd; the content decides. Damage after the first whole event is no error but a problem of the trace.
// options: may be NULL.
opscope_code opscope_trace_open(const char* path, const opscope_import_options* options, opscope_trace** trace,
                                opscope_error* error);
// Reads bytes, which are not needed after the call; `name` names them in messages.
opscope_code opscope_trace_open_bytes(const void* bytes, size_t size, const char* name,
                                      const opscope_import_options* options, opscope_trace** trace,
                                      opscope_error* error);
// Reads the last complete recording of a profiler. INVALID_ARGUMENT: there is none.
opscope_code opscope_trace_of_profiler(const opscope_profiler* profiler, opscope_trace** trace, opscope_error* error);
void opscope_trace_free(opscope_trace* trace);

// Facts about the input, and the number of rows of each table. Texts live as long as the trace.
typedef struct opscope_trace_info {
  size_t size;
  const char* format;  // "opscope", "chrome-json"
  const char* format_version;
  const char* compressed;    // "none", "gzip", "zstd"
  const char* options_json;  // recording options
  uint64_t recorded;         // events of the input that were kept
  uint64_t dropped;          // events that the recorder could not keep
  int64_t epoch_ns;          // unix time of time 0; 0: unknown
  uint64_t memory_bytes;     // that the trace holds
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
  int32_t is_partial;  // not 0: input was lost, see the problems
  int32_t reserved;
} opscope_trace_info;
#define OPSCOPE_TRACE_INFO_INIT \
  {sizeof(opscope_trace_info), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
opscope_code opscope_trace_get_info(const opscope_trace* trace, opscope_trace_info* info);

enum { OPSCOPE_SEVERITY_INFO = 0, OPSCOPE_SEVERITY_DATA_LOSS = 1, OPSCOPE_SEVERITY_ERROR = 2 };

// Something that the reader repaired, dropped or guessed. Texts live as long as the trace.
typedef struct opscope_problem {
  size_t size;
  const char* kind;  // "truncated", "dropped_at_cap", ...
  const char* message;
  uint64_t count;
  int64_t first_offset;  // byte of the uncompressed input (of the file for .opscope), -1: none
  int32_t severity;      // OPSCOPE_SEVERITY_*
  int32_t reserved;
} opscope_problem;
#define OPSCOPE_PROBLEM_INIT {sizeof(opscope_problem), NULL, NULL, 0, 0, 0, 0}
// INVALID_ARGUMENT: index is not below opscope_trace_info.problems.
opscope_code opscope_trace_get_problem(const opscope_trace* trace, uint64_t index, opscope_problem* problem);

// The columns of the spans, in place; they live as long as the trace. The spans of a track are contiguous,
// a parent before its children.
typedef struct opscope_spans {
  size_t size;
  uint64_t count;
  const int64_t* start_ns;  // relative to epoch_ns
  const int64_t* duration_ns;
  const uint32_t* name;  // a string, see opscope_trace_string
  const uint32_t* track;
  const uint32_t* parent;  // row of the parent, 0xffffffff: none
  const uint16_t* depth;
} opscope_spans;
#define OPSCOPE_SPANS_INIT {sizeof(opscope_spans), 0, NULL, NULL, NULL, NULL, NULL, NULL}
opscope_code opscope_trace_get_spans(const opscope_trace* trace, opscope_spans* spans);

// The text of a string. It lives as long as the trace, is NOT terminated and may hold any bytes. NULL:
// there is no such string. text_size: required.
const char* opscope_trace_string(const opscope_trace* trace, uint32_t string, size_t* text_size);

// ---- the operator summary ---------------------------------------------------------------------------

typedef struct opscope_summary opscope_summary;

typedef struct opscope_summary_options {
  size_t size;
  const char* group_by;  // "name", "name,shape", ...: what `opscope summary --group-by` takes
  const char* sort_by;   // descending by "total_ns", "self_ns", "count", ...; NULL: as they first appear
  int corrected;         // 1: times without what recording them took; UNSUPPORTED where the input does not say
  const char* where;     // which spans, "name ~ conv and duration > 10us" (docs/how-to/choose_spans.md); NULL: all
} opscope_summary_options;
#define OPSCOPE_SUMMARY_OPTIONS_INIT {sizeof(opscope_summary_options), "name", "total_ns", 0, NULL}

// options: may be NULL. The trace must outlive the summary. INVALID_ARGUMENT: an unknown key or condition.
opscope_code opscope_summarize(const opscope_trace* trace, const opscope_summary_options* options,
                               opscope_summary** summary, opscope_error* error);
void opscope_summary_free(opscope_summary* summary);

// docs/reference/analyses.md defines the numbers. Texts live as long as the summary and end at a 0 byte, also within
// a name.
typedef struct opscope_summary_row {
  size_t size;
  const char* name;
  const char* const* keys;  // texts of the further group keys, in the order of group_by without name
  uint64_t key_count;
  uint64_t count;
  int64_t total_ns;
  int64_t total_with_recursion_ns;
  int64_t self_ns;
  int64_t min_ns;
  int64_t max_ns;
  int64_t mean_ns;
  int64_t device_total_ns;
  int64_t device_self_ns;
  int64_t self_memory_bytes;
  int64_t flops;
  int64_t p50_ns;
  int64_t p99_ns;
  int64_t stddev_ns;
  int on_device;  // 1: spans of devices, 0: of hosts; no row has both, so one name can have two rows
} opscope_summary_row;
#define OPSCOPE_SUMMARY_ROW_INIT \
  {sizeof(opscope_summary_row), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
uint64_t opscope_summary_row_count(const opscope_summary* summary);
// INVALID_ARGUMENT: index is not below the count.
opscope_code opscope_summary_get_row(const opscope_summary* summary, uint64_t index, opscope_summary_row* row);

// ---- texts and files --------------------------------------------------------------------------------

enum { OPSCOPE_TEXT_TABLE = 0, OPSCOPE_TEXT_JSON = 1, OPSCOPE_TEXT_CSV = 2 };

// The output of `opscope summary`, `info` and `summary --style torch`, ended by a 0 byte. The caller passes
// *text to opscope_text_free. limit 0: all rows. JSON and CSV have every column.
opscope_code opscope_summary_text(const opscope_summary* summary, int style, size_t limit, char** text,
                                  opscope_error* error);
opscope_code opscope_trace_info_text(const opscope_trace* trace, int style, char** text, opscope_error* error);
// sort_by: torch's names ("cpu_time_total"), NULL: the order of appearance. row_limit -1: all rows.
opscope_code opscope_torch_table(const opscope_trace* trace, const char* sort_by, int64_t row_limit, char** text,
                                 opscope_error* error);
void opscope_text_free(char* text);

enum {
  OPSCOPE_COMPRESSION_FROM_NAME = -1,  // ".gz" and ".zst" compress
  OPSCOPE_COMPRESSION_NONE = 0,
  OPSCOPE_COMPRESSION_GZIP = 1,
  OPSCOPE_COMPRESSION_ZSTD = 2
};

typedef struct opscope_chrome_options {
  size_t size;
  int32_t compression;     // OPSCOPE_COMPRESSION_*
  int32_t small_gzip;      // 0: fast deflate; else as small as gzip -9
  const char* trace_name;  // Kineto's "traceName"; NULL: the path
} opscope_chrome_options;
#define OPSCOPE_CHROME_OPTIONS_INIT {sizeof(opscope_chrome_options), OPSCOPE_COMPRESSION_FROM_NAME, 0, NULL}

// Written beside `path` and renamed: after an error the old file, or none, is there. options: may be NULL.
opscope_code opscope_export_chrome(const opscope_trace* trace, const char* path, const opscope_chrome_options* options,
                                   opscope_error* error);
opscope_code opscope_export_opscope(const opscope_trace* trace, const char* path, opscope_error* error);

typedef struct opscope_export_options {
  size_t size;
  int32_t compression;    // OPSCOPE_COMPRESSION_*
  int32_t small_gzip;     // 0: fast deflate; else as small as gzip -9
  const char* table;      // csv: which table; NULL: "spans"
  int32_t merge_threads;  // collapsed, pprof: what several threads did alike is one path
} opscope_export_options;
#define OPSCOPE_EXPORT_OPTIONS_INIT {sizeof(opscope_export_options), OPSCOPE_COMPRESSION_FROM_NAME, 0, NULL, 0}

// format: "chrome", "perfetto", "speedscope", "collapsed", "pprof", "csv", "opscope", "paddle-protobuf",
// "paddle-chrome", "megengine-chrome" or "megengine-svg" (docs/reference/export_formats.md). options: may be NULL.
// *told, unless told is NULL: a sentence about what the format could not hold, "" for nothing; the caller passes it to
// opscope_text_free.
opscope_code opscope_export(const opscope_trace* trace, const char* format, const char* path,
                            const opscope_export_options* options, char** told, opscope_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif
