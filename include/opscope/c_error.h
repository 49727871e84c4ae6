// Errors and versions of the C interface. opscope/c.h includes this header.
//
// A function that can fail returns an opscope_code and fills the caller's opscope_error:
//
//   opscope_error error = OPSCOPE_ERROR_INIT;
//   opscope_trace* trace = NULL;
//   if (opscope_trace_open("run.json", NULL, &trace, &error) != OPSCOPE_OK) {
//     fprintf(stderr, "%s: %s\n", opscope_code_text(error.code), error.message);
//   }
//
// No function throws, prints, or needs an allocation to report an error.
//
// Thread rule: pure functions. An opscope_error belongs to the thread that passes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Version of the linked library, "0.1.0". Static text.
const char* opscope_version(void);

// Why a call failed. Later versions keep these numbers.
typedef enum opscope_code {
  OPSCOPE_OK = 0,
  // The caller asked for something that does not exist or cannot be.
  OPSCOPE_INVALID_ARGUMENT = 1,
  // A file or its folder does not exist.
  OPSCOPE_NOT_FOUND = 2,
  // The system refused: permission, full disk, a directory instead of a file; see system_errno.
  OPSCOPE_IO = 3,
  // The input violates its format.
  OPSCOPE_MALFORMED = 4,
  // Valid, but this build or version cannot do it. Also for a struct that sets members which this library
  // does not know, or whose size is not set.
  OPSCOPE_UNSUPPORTED = 5,
  // An allocation failed; the call changed nothing.
  OPSCOPE_OUT_OF_MEMORY = 6
} opscope_code;

// "invalid argument", ...; "unknown code" for other numbers. Static text.
const char* opscope_code_text(int32_t code);

// Set by a function that returns a code other than OPSCOPE_OK, else unchanged. The functions without a
// parameter `error` report the code alone.
typedef struct opscope_error {
  size_t size;
  // An opscope_code.
  int32_t code;
  // errno of the call that the system refused; 0 if the system is not the cause.
  int32_t system_errno;
  // One sentence, "FILE: at byte N: what is wrong", ended by a 0 byte. Longer messages are cut.
  char message[1008];
} opscope_error;
#define OPSCOPE_ERROR_INIT {sizeof(opscope_error), 0, 0, {0}}

#ifdef __cplusplus
}  // extern "C"
#endif
