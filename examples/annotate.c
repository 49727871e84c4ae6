/* A C program that profiles itself: scopes with arguments, a counter, an arrow from the thread that queues work to
 * the thread that does it, a schedule, and the summary of what was recorded.
 *
 *   annotate_c [FOLDER]    writes FOLDER/annotate_c.opscope and FOLDER/annotate_c.json.gz
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <math.h>
#include <opscope/c.h>
#include <pthread.h>
#include <stdio.h>

enum { kValues = 10000 };

typedef struct Batch {
  uint64_t number;
  float values[kValues];
  float loss;
} Batch;

static void* Compute(void* argument) {
  Batch* batch = (Batch*)argument;
  opscope_scope* scope;
  int i;
  opscope_set_thread_name("worker");
  scope = opscope_scope_begin("compute");
  opscope_flow_end("queued", batch->number);
  opscope_scope_uint(scope, "batch", batch->number);
  opscope_scope_text(scope, "precision", "fp32");
  for (i = 0; i < kValues; ++i)
    batch->loss += sqrtf(batch->values[i]) / kValues;
  opscope_scope_end(scope);
  return NULL;
}

static int TrainStep(uint64_t number) {
  static Batch batch;
  char name[32];
  pthread_t worker;
  opscope_scope* step;
  opscope_scope* load;
  int i;
  snprintf(name, sizeof(name), "step %" PRIu64, number);
  step = opscope_scope_begin_copy(name); /* a name made at run time is copied */
  load = opscope_scope_begin("load batch");
  batch.number = number;
  batch.loss = 0;
  for (i = 0; i < kValues; ++i)
    batch.values[i] = 0.5f;
  opscope_scope_end(load);
  opscope_flow_begin("queued", number);
  if (pthread_create(&worker, NULL, Compute, &batch) != 0) return -1;
  pthread_join(worker, NULL);
  opscope_counter("loss", batch.loss);
  opscope_scope_end(step);
  return 0;
}

/* Called when a recording is complete: by the step that ends it, or by the stop. */
static void Save(opscope_profiler* profiler, void* path) {
  opscope_error error = OPSCOPE_ERROR_INIT;
  opscope_profiler_status status = OPSCOPE_PROFILER_STATUS_INIT;
  if (opscope_profiler_save(profiler, (const char*)path, &error) != OPSCOPE_OK) {
    fprintf(stderr, "annotate: %s\n", error.message);
    return;
  }
  opscope_profiler_get_status(profiler, &status);
  printf("%s: %" PRIu64 " recorded, %" PRIu64 " dropped\n", (const char*)path, status.recorded, status.dropped);
}

/* Skips a step, warms up in one, records three. */
static opscope_code Record(char* path, opscope_error* error) {
  opscope_schedule schedule = OPSCOPE_SCHEDULE_INIT;
  opscope_options options = OPSCOPE_OPTIONS_INIT;
  opscope_profiler* profiler;
  opscope_code code;
  uint64_t number;
  schedule.wait = 1;
  schedule.warmup = 1;
  schedule.active = 3;
  schedule.repeat = 1;
  options.schedule = &schedule;
  options.max_bytes = UINT64_C(64) << 20;
  options.at_cap = OPSCOPE_AT_CAP_KEEP_NEWEST;
  options.on_ready = Save;
  options.context = path;
  code = opscope_profiler_new(&options, &profiler, error);
  if (code == OPSCOPE_OK) code = opscope_profiler_start(profiler, error);
  for (number = 1; code == OPSCOPE_OK && number <= 6; ++number) {
    if (TrainStep(number) != 0) break;
    code = opscope_profiler_step(profiler, error);
  }
  if (code == OPSCOPE_OK) code = opscope_profiler_stop(profiler, error);
  opscope_profiler_free(profiler);
  return code;
}

static opscope_code Show(const char* path, const char* chrome_path, opscope_error* error) {
  opscope_trace* trace = NULL;
  opscope_summary* summary = NULL;
  opscope_code code = opscope_trace_open(path, NULL, &trace, error);
  uint64_t i;
  if (code == OPSCOPE_OK) code = opscope_summarize(trace, NULL, &summary, error);
  for (i = 0; i < opscope_summary_row_count(summary); ++i) {
    opscope_summary_row row = OPSCOPE_SUMMARY_ROW_INIT;
    opscope_summary_get_row(summary, i, &row);
    printf("%-20s %4" PRIu64 " times %10" PRId64 " ns\n", row.name, row.count, row.total_ns);
  }
  if (code == OPSCOPE_OK) code = opscope_export_chrome(trace, chrome_path, NULL, error);
  opscope_summary_free(summary);
  opscope_trace_free(trace);
  return code;
}

int main(int argc, char** argv) {
  const char* folder = argc > 1 ? argv[1] : ".";
  char path[4096], chrome_path[4096];
  opscope_error error = OPSCOPE_ERROR_INIT;
  opscope_code code;
  snprintf(path, sizeof(path), "%s/annotate_c.opscope", folder);
  snprintf(chrome_path, sizeof(chrome_path), "%s/annotate_c.json.gz", folder);
  opscope_set_thread_name("main");
  code = Record(path, &error);
  if (code == OPSCOPE_OK) code = Show(path, chrome_path, &error);
  if (code != OPSCOPE_OK) fprintf(stderr, "annotate: %s\n", error.message);
  return code == OPSCOPE_OK ? 0 : 1;
}
