// Exports tables of a Trace through the Arrow C stream interface: pyarrow, Polars,
// DuckDB and pandas read them in place.
//
//   auto trace = std::make_shared<const opscope::Trace>(opscope::ImportFile("run.json").value());
//   ArrowArrayStream stream;
//   OPSCOPE_TRY(opscope::OpenArrowStream(trace, "spans", &stream));
//   ...                                      // hand it to the reader, which calls stream.release
//
// Number columns are not copied. Text columns are dictionaries: int32 codes and the
// distinct texts, computed when the stream is read. Unknown values are nulls.
// Arrow's texts must be UTF-8: a byte that is not becomes the six characters
// \udcHH, as in JSON.
//
// Ownership: streams and arrays share the Trace and outlive the caller's pointer to
// it.
//
// Thread rule: one thread at a time reads a stream; arrays may be released on any
// thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "opscope/result.h"
#include "opscope/table.h"
#include "opscope/trace.h"

// The structures of the Arrow project's ABI, declared here as its documentation
// asks every user to do.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
extern "C" {
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

// Type and name of a column or a table. `format` is Arrow's code of the type, "l"
// for int64. `release` frees the struct's content; null: it was released.
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

// The buffers of a column or a table. `release` frees them; a reader may move the
// struct by copying it and setting the `release` of the source to null.
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
// A sequence of tables; ours yields one, and after it an array whose `release` is
// null. get_schema and get_next return 0 or an errno; get_last_error explains the
// latter, or returns null. None of ours fails.
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

// Fills *stream with a stream of the table; the reader releases it.
// kInvalidArgument: no table has this name. O(columns); reading is O(rows) for text
// columns.
[[nodiscard]] Status OpenArrowStream(std::shared_ptr<const Trace> trace, std::string_view table,
                                     ArrowArrayStream* stream);

// The same for a table derived from a Trace, such as FunctionEventTable. `trace`
// must also keep alive the memory of the columns: a pointer that shares ownership
// with it.
void OpenArrowStream(std::shared_ptr<const Trace> trace, TableView table, ArrowArrayStream* stream);

}  // namespace opscope
