/* Compiled as C99, C11, C++11 and C++20 with every warning an error; one source, so that the header means the
 * same in each. Also says that the sizes of public structs do not depend on the language. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <opscope/c.h>
#include <opscope/c.h> /* twice is once */

typedef char options_keep_their_size[sizeof(opscope_options) == 80 ? 1 : -1];
typedef char errors_are_one_kibibyte[sizeof(opscope_error) == 1024 ? 1 : -1];

int uses_c_header(void);
int uses_c_header(void) {
  opscope_error error = OPSCOPE_ERROR_INIT;
  opscope_schedule schedule = OPSCOPE_SCHEDULE_INIT;
  opscope_options options = OPSCOPE_OPTIONS_INIT;
  opscope_profiler_status status = OPSCOPE_PROFILER_STATUS_INIT;
  opscope_import_options import_options = OPSCOPE_IMPORT_OPTIONS_INIT;
  opscope_trace_info info = OPSCOPE_TRACE_INFO_INIT;
  opscope_problem problem = OPSCOPE_PROBLEM_INIT;
  opscope_spans spans = OPSCOPE_SPANS_INIT;
  opscope_summary_options summary_options = OPSCOPE_SUMMARY_OPTIONS_INIT;
  opscope_summary_row row = OPSCOPE_SUMMARY_ROW_INIT;
  opscope_chrome_options chrome = OPSCOPE_CHROME_OPTIONS_INIT;
  opscope_export_options exported = OPSCOPE_EXPORT_OPTIONS_INIT;
  options.schedule = &schedule;
  return (int)(error.size + schedule.size + options.size + status.size + import_options.size + info.size +
               problem.size + spans.size + summary_options.size + row.size + chrome.size + exported.size);
}
