// Hands a table of a Trace to other programs through the Arrow C data interface, so that pyarrow,
// Polars, DuckDB and pandas read it where it lies. Number columns are not copied. Text columns leave
// as dictionaries: int32 codes and the distinct texts, made when the stream is read. Handles and texts
// that are kNone are nulls. Arrow's text must be UTF-8: a byte of a text that is not becomes the six
// characters \udcHH, as in JSON.
//
// Thread rule: a stream is read by one thread at a time; arrays that it gave may be released on any
// thread and outlive it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "opscope/result.h"
#include "opscope/table.h"
#include "opscope/trace.h"

// The structures of the Arrow project's ABI, as its documentation asks every user to declare them.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
extern "C" {
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
}
#endif

namespace opscope {

// Fills *stream, which the reader releases. The stream and its arrays share the Trace: a reader on
// another thread may be the last to need it, which is why the owner here is shared.
// kInvalidArgument: there is no table of that name.
[[nodiscard]] Status OpenArrowStream(std::shared_ptr<const Trace> trace, std::string_view table,
                                     ArrowArrayStream* stream);

// The same for a table that is made of a Trace, as FunctionEventTable. `trace` keeps alive what the columns lie in too:
// a pointer that shares ownership with it.
void OpenArrowStream(std::shared_ptr<const Trace> trace, TableView table, ArrowArrayStream* stream);

}  // namespace opscope
