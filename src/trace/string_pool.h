// Interned strings: the same text always has the same StringId, id 0 is "". Texts never move.
//
// Thread rule: one thread at a time while it grows, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/text_interner.h"
#include "opscope/types.h"

namespace opscope {

class StringPool {
 public:
  StringPool() { Intern({}); }

  StringId Intern(std::string_view text) { return static_cast<StringId>(texts_.Add(text)); }

  void InternAll(const TaggedTexts& texts, std::vector<StringId>* ids) { texts_.AddAll(texts, ids); }

  std::optional<StringId> Find(std::string_view text) const {
    const uint32_t found = texts_.Find(text);
    if (found == TextInterner::kNone) return std::nullopt;
    return static_cast<StringId>(found);
  }

  // "" for kNone and for an id that is not of this pool.
  std::string_view text(StringId id) const {
    return Row(id) < texts_.size() ? texts_.text(Row(id)) : std::string_view();
  }
  size_t size() const { return texts_.size(); }
  size_t memory_bytes() const { return texts_.memory_bytes(); }

 private:
  TextInterner texts_;
};

}  // namespace opscope
