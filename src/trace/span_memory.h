// The memory of the columns of added spans, for one who fills in many rows at once: column by column, by several
// threads where each has rows of its own.
//
// Thread rule: as plain arrays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/trace.h"

namespace opscope {

// Columns that an input may say nothing of. Those that are wanted must be written in every row; in the others every
// row holds its default.
struct SpanFields {
  bool overload = false, flags = false, scope = false, kind = false, sequence = false, forward_thread = false,
       correlation = false, external_id = false, args = false, stack = false, extra = false;
};

// Each points at the first of the rows, nullptr when it is not wanted.
struct SpanMemory {
  Timestamp* start = nullptr;
  Duration* duration = nullptr;  // not negative
  StringId *name = nullptr, *category = nullptr;
  TrackId* track = nullptr;
  SpanId* parent = nullptr;  // kNone: left to Build
  uint16_t* depth = nullptr;
  StringId* overload = nullptr;
  uint8_t* flags = nullptr;
  ScopeType* scope = nullptr;
  SpanKind* kind = nullptr;  // or kSurelyOther
  int64_t* sequence = nullptr;
  uint64_t* forward_thread = nullptr;
  uint32_t *correlation = nullptr, *external_id = nullptr;
  ArgsId* args = nullptr;
  StackId* stack = nullptr;
  StringId* extra = nullptr;
};

}  // namespace opscope
