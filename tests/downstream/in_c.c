/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <opscope/c.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "in_c.opscope";
  opscope_error error = OPSCOPE_ERROR_INIT;
  opscope_trace_info info = OPSCOPE_TRACE_INFO_INIT;
  opscope_profiler* profiler = NULL;
  opscope_trace* trace = NULL;
  opscope_scope* scope;
  if (opscope_profiler_new(NULL, &profiler, &error) || opscope_profiler_start(profiler, &error)) goto failed;
  scope = opscope_scope_begin("work");
  opscope_scope_int(scope, "batch", 32);
  opscope_scope_end(scope);
  if (opscope_profiler_stop(profiler, &error) || opscope_profiler_save(profiler, path, &error)) goto failed;
  if (opscope_trace_open(path, NULL, &trace, &error)) goto failed;
  opscope_trace_get_info(trace, &info);
  printf("opscope %s: %" PRIu64 " span in %s\n", opscope_version(), info.spans, path);
  opscope_trace_free(trace);
  opscope_profiler_free(profiler);
  return info.spans == 1 ? 0 : 1;
failed:
  fprintf(stderr, "in_c: %s\n", error.message);
  opscope_profiler_free(profiler);
  return 1;
}
