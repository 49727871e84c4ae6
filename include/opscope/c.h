// The C interface: profiler.h without dumps and sources, scope.h, and of the reading side what opens, inspects
// and converts recordings. C99 and later, C++11 and later. This header has the recording half and includes the
// other two: c_error.h (codes, messages, version) and c_trace.h (reading).
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

#include "opscope/c_error.h"
#include "opscope/c_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- recording: when, how much, which threads -------------------------------------------------------

// Decides when to record, how much, and which threads (opscope::Profiler). It holds the running recording
// and the last complete one. The caller passes it once to opscope_profiler_free.
typedef struct opscope_profiler opscope_profiler;

// What to do with one step.
typedef enum opscope_action {
  OPSCOPE_ACTION_NONE = 0,
  // Allocate and touch memory; keep no event.
  OPSCOPE_ACTION_WARMUP = 1,
  // Record, and go on recording in the next step.
  OPSCOPE_ACTION_RECORD = 2,
  // Record; at the end of the step the recording is complete and on_ready runs.
  OPSCOPE_ACTION_RECORD_AND_SAVE = 3
} opscope_action;

// `skip_first` steps of no action, then cycles of `wait`, `warmup` and `active` steps. The last active step of
// a cycle is OPSCOPE_ACTION_RECORD_AND_SAVE. All numbers count steps and must not be negative.
//
//   wait 1, warmup 1, active 2, repeat 1:   none, warmup, record, record and save, none, none, ...
typedef struct opscope_schedule {
  size_t size;
  int64_t wait;
  int64_t warmup;
  // At least 1.
  int64_t active;
  // Number of cycles; 0: without end.
  int64_t repeat;
  int64_t skip_first;
  // Other than 0: the first cycle has no `wait`.
  int64_t skip_first_wait;
} opscope_schedule;
#define OPSCOPE_SCHEDULE_INIT {sizeof(opscope_schedule), 0, 0, 1, 0, 0, 0}

// At the cap: STOP keeps the beginning and drops new events, KEEP_NEWEST recycles a thread's oldest events.
// Both count every dropped event.
enum { OPSCOPE_AT_CAP_STOP = 0, OPSCOPE_AT_CAP_KEEP_NEWEST = 1 };
// Whose scopes a recording takes: those of every thread; of the thread that calls opscope_profiler_start and of
// threads that a framework's source has attached; of no thread (a source's own events alone).
enum { OPSCOPE_THREADS_ALL = 0, OPSCOPE_THREADS_ATTACHED = 1, OPSCOPE_THREADS_NONE = 2 };

// Options of a profiler. The defaults record everything of every thread from start to stop, up to 1 GiB.
typedef struct opscope_options {
  size_t size;
  // Cap in bytes for records, names and arguments together.
  uint64_t max_bytes;
  // OPSCOPE_AT_CAP_*.
  int32_t at_cap;
  // OPSCOPE_THREADS_*.
  int32_t threads;
  // Which steps to record; copied. NULL, and no action_of: everything from start to stop.
  const opscope_schedule* schedule;
  // The action of each step, instead of a schedule (both are INVALID_ARGUMENT). A number that is no
  // opscope_action counts as none. May be NULL.
  int32_t (*action_of)(int64_t step, void* context);
  // Called from step or stop when a recording is complete. It may save it; it must not free the profiler.
  // May be NULL.
  void (*on_ready)(opscope_profiler* profiler, void* context);
  // Called with a sentence about a schedule that makes no sense, or about record_to. The text is valid
  // during the call; sentences longer than 255 bytes are cut. May be NULL: the library itself prints nothing.
  void (*on_warning)(const char* sentence, void* context);
  // Passed to the three callbacks.
  void* context;
  // Members of a JSON object that the recording carries, "\"model\":\"resnet18\""; copied, may be NULL.
  const char* metadata_json;
  // Path of a file in which the recording lies while it is made, so that it survives a killed process;
  // copied. The second recording goes to NAME.2.EXTENSION. What the file cannot take stays in memory, with a
  // warning. NULL: the environment variable OPSCOPE_RECORD_TO decides (docs/how-to/record_into_a_file.md).
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

// Makes a profiler that does not record yet. options: NULL for the defaults. INVALID_ARGUMENT: an unknown
// enumerator, or both a schedule and action_of.
opscope_code opscope_profiler_new(const opscope_options* options, opscope_profiler** profiler, opscope_error* error);
// Stops without calling on_ready, and frees the recording. Accepts NULL.
void opscope_profiler_free(opscope_profiler* profiler);

// Begins with the action of the current step (0 at first). May be called again after a stop and then
// continues with the same step. INVALID_ARGUMENT: running already, or the schedule or metadata_json is not valid.
// UNSUPPORTED: too many recordings are open.
opscope_code opscope_profiler_start(opscope_profiler* profiler, opscope_error* error);
// Ends the current step and begins the next one; call it once per step of the program. With a schedule every
// recorded step is also a range "ProfilerStep#N". INVALID_ARGUMENT: not running.
opscope_code opscope_profiler_step(opscope_profiler* profiler, opscope_error* error);
// Takes milliseconds, however much was recorded. A second call does nothing. INVALID_ARGUMENT: never started.
opscope_code opscope_profiler_stop(opscope_profiler* profiler, opscope_error* error);
// Writes the last complete recording atomically. INVALID_ARGUMENT: no recording is complete. IO, NOT_FOUND: the system
// refused.
opscope_code opscope_profiler_save(const opscope_profiler* profiler, const char* path, opscope_error* error);

// IDLE: never started.
enum { OPSCOPE_STATE_IDLE = 0, OPSCOPE_STATE_RUNNING = 1, OPSCOPE_STATE_STOPPED = 2 };

// State and counts of a profiler at one moment.
typedef struct opscope_profiler_status {
  size_t size;
  // OPSCOPE_STATE_*.
  int32_t state;
  // opscope_action of the current step.
  int32_t action;
  // Number of the current step; the first is 0.
  int64_t step;
  // Events of the running recording, else of the last complete one; 0 without either. recorded + dropped is
  // the number of issued events.
  uint64_t recorded;
  uint64_t dropped;
} opscope_profiler_status;
#define OPSCOPE_PROFILER_STATUS_INIT {sizeof(opscope_profiler_status), 0, 0, 0, 0, 0}
// Fills *status. INVALID_ARGUMENT: NULL, or a struct without a size.
opscope_code opscope_profiler_get_status(const opscope_profiler* profiler, opscope_profiler_status* status);

// ---- what a program says about itself ---------------------------------------------------------------
//
// Every recording that takes the calling thread gets the event. While no profiler records, each of the
// following functions is a call, a load and a branch. A NULL name counts as "". None of them fails: an event
// that cannot be kept counts as dropped.

// A scope that has begun and not ended. It belongs to the thread that began it.
typedef struct opscope_scope opscope_scope;

// Begins a scope. `literal` must stay unchanged for the life of the process: its address identifies the
// text. NULL: nothing records; every function below accepts it.
opscope_scope* opscope_scope_begin(const char* literal);
// The same for any text, which is copied.
opscope_scope* opscope_scope_begin_copy(const char* name);
// Ends it: once per scope, also after the recording has ended. On another thread the scope becomes
// asynchronous.
void opscope_scope_end(opscope_scope* scope);

// Add an argument, shown with the scope. Only on the thread that began it; keys and texts are copied. NaN and
// infinities become the texts "NaN", "Infinity" and "-Infinity". If an allocation fails, the scope gets the
// member "opscope.arguments_lost" instead.
void opscope_scope_text(opscope_scope* scope, const char* key, const char* text);
void opscope_scope_int(opscope_scope* scope, const char* key, int64_t value);
void opscope_scope_uint(opscope_scope* scope, const char* key, uint64_t value);
void opscope_scope_double(opscope_scope* scope, const char* key, double value);
void opscope_scope_bool(opscope_scope* scope, const char* key, int value);
// `json`: any JSON value, which is not checked; NULL counts as null.
void opscope_scope_json(opscope_scope* scope, const char* key, const char* json);

// Records the value of a counter now; viewers draw one curve per name. The functions below copy names.
void opscope_counter(const char* name, double value);
// Records a point in time.
void opscope_instant(const char* name);
// Begin an arrow, and end it: an arrow leads from a begin to every end with the same name and id, on any
// thread.
void opscope_flow_begin(const char* name, uint64_t id);
void opscope_flow_end(const char* name, uint64_t id);
// Names the calling thread in recordings from now on; 31 bytes at most. The system's name stays.
void opscope_set_thread_name(const char* name);
// Not 0 if some profiler records the calling thread's scopes. Guards work that only computes arguments.
int opscope_is_recording(void);

// Reads the last complete recording of a profiler, without a file. The trace is independent of the profiler.
// INVALID_ARGUMENT: no recording is complete.
opscope_code opscope_trace_of_profiler(const opscope_profiler* profiler, opscope_trace** trace, opscope_error* error);

#ifdef __cplusplus
}  // extern "C"
#endif
