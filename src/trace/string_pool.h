// Interned strings: the same text always has the same StringId, id 0 is "". Texts never move.
//
// Thread rule: one thread at a time while it grows, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <optional>
#include <string_view>

#include "base/arena.h"
#include "base/column.h"
#include "opscope/types.h"

namespace opscope {

class StringPool {
 public:
  StringPool() { Intern({}); }

  StringId Intern(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const std::string_view kept = arena_.Copy(text);
    const auto id = static_cast<StringId>(texts_.size());
    texts_.push_back(kept);
    ids_.emplace(kept, id);
    return id;
  }

  std::optional<StringId> Find(std::string_view text) const {
    const auto found = ids_.find(text);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }

  // kNone, and an id that is not of this pool, give "".
  std::string_view text(StringId id) const { return Row(id) < texts_.size() ? texts_[Row(id)] : std::string_view(); }
  size_t size() const { return texts_.size(); }
  size_t memory_bytes() const {
    return arena_.memory_bytes() + texts_.memory_bytes() + ids_.bucket_count() * (sizeof(*ids_.begin()) + 8);
  }

 private:
  Arena arena_;
  Column<std::string_view> texts_;
  tsl::robin_map<std::string_view, StringId> ids_;
};

}  // namespace opscope
