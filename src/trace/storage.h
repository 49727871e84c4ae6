// Everything that a Trace owns: the columns of all tables, strings, argument lists and, once frozen, the
// public views.
//
// Thread rule: one thread at a time until Freeze, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "trace/argument_lists.h"
#include "trace/span_table.h"
#include "trace/stack_index.h"
#include "trace/string_pool.h"
#include "trace/tables.h"

namespace opscope {

class TraceStorage {
 public:
  TraceInfo info;
  StringPool strings;
#define OPSCOPE_TABLE(Name, name, number, documentation) Name##Table name;
#define OPSCOPE_DERIVED_TABLE(Name, name, documentation)
#include "opscope/trace_tables.def"
  StackIndex stack_index;  // of frames and stacks
  ArgumentLists argument_lists;
  bool has_explicit_kinds = false;

  Timestamp FillMissingTimes(Timestamp first_elsewhere);  // as TraceBuilder::FillMissingTimes
  // Gives back spare capacity and makes the views; the columns must not change afterwards.
  void Freeze();
  uint64_t memory_bytes();

  struct Views {
#define OPSCOPE_TABLE(Name, name, number, documentation) Name##Columns name;
#define OPSCOPE_DERIVED_TABLE(Name, name, documentation)
#include "opscope/trace_tables.def"
    uint64_t memory_bytes = 0;
    bool is_partial = false;
  };
  const Views& views() const { return views_; }
  // The table of all argument lists. O(arguments) at the first call. REQUIRES: frozen; then any thread.
  const ArgumentValueColumns& arguments() const;

 private:
  template <typename Visit>
  void ForEachColumn(Visit visit);
  template <typename Visit>
  void ForEachTime(Visit visit);

  struct FlatArguments {
    std::once_flag made;
    ArgumentValueTable table;
    ArgumentValueColumns view;
  };

  Views views_;
  mutable FlatArguments flat_arguments_;
};

}  // namespace opscope
