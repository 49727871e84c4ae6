// Which of the records that a thread wrote around a moment belong to it (src/recorder/dump.cc).
//
// Thread rule: any; the records are the caller's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "opscope/record.h"

namespace opscope {

// Reduces the records [before, after), which are in the order of their ends, to those that began before `until`
// and whose outer scopes are kept or still open. open_depths: number of open scopes. Returns the new number of
// records.
inline uint32_t ClampToSnapshot(uint32_t open_depths, uint64_t until, Record* records, uint32_t before,
                                uint32_t after) {
  // Backward, an outer scope comes before its inner ones. A scope up to depth `reach` has its outer scope.
  uint32_t reach = open_depths;
  uint32_t begin = after;
  for (uint32_t i = after; i-- > before;) {
    const Record& record = records[i];
    const bool nests = record.kind == RecordKind::kScope;
    if (record.start >= until || (nests && record.depth > reach)) continue;
    if (nests || record.kind == RecordKind::kAsync) reach = uint32_t{record.depth} + 1;
    records[--begin] = record;
  }
  if (begin == after) return before;
  std::memmove(static_cast<void*>(records + before), records + begin, (after - begin) * sizeof(Record));
  return before + (after - begin);
}

}  // namespace opscope
