// Content -> offset for the names of one chunk, so that a name stands once in each chunk that uses it.
// If the table cannot grow it drops the entry: the chunk then has the name twice, which is no error.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "recorder/growing_array.h"

namespace opscope {

class NameTable {
 public:
  // Offset of the NameEntry with this text in the chunk at `base`, 0: not there.
  uint32_t Find(const char* base, std::string_view text) const;
  void Insert(std::string_view text, uint32_t offset);
  void Clear();
  void Free();

 private:
  struct Entry {
    uint32_t hash = 0;
    uint32_t offset = 0;  // 0: empty
  };
  static uint32_t Hash(std::string_view text);
  bool Grow();
  void Place(Entry entry);

  GrowingArray<Entry> entries_;  // a power of two, at most three quarters full
  uint32_t used_ = 0;
};

}  // namespace opscope
