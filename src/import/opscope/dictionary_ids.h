// Maps the numbers of texts in a column file to ids of the Trace. If the dictionary comes first and has no text twice,
// as in files that opscope writes, numbers and ids are equal, and no memory is needed.
//
// Thread rule: one thread at a time while it grows, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "import/opscope/place_row.h"
#include "opscope/types.h"

namespace opscope {

class DictionaryIds {
 public:
  // A copy for fast lookups. Valid until the next Add.
  struct View {
    const StringId* ids;  // nullptr: ids equal the numbers
    uint64_t size;

    // stored: the number plus one; 0 and unknown numbers give kNone.
    StringId operator()(uint64_t stored) const {
      const uint64_t number = stored - 1;
      if (number >= size) return StringId::kNone;
      return ids == nullptr ? static_cast<StringId>(number) : ids[number];
    }
  };
  View view() const { return {are_numbers_ ? nullptr : ids_.data(), are_numbers_ ? count_ : ids_.size()}; }
  StringId operator()(uint64_t stored) const { return view()(stored); }

  // The number of texts, of so many, that were not added.
  uint64_t MissingOf(uint64_t all) const {
    if (are_numbers_) return all - std::min<uint64_t>(all, count_);
    all = std::max<uint64_t>(all, ids_.size());
    const auto here = std::count_if(ids_.begin(), ids_.end(), [](StringId id) { return id != StringId::kNone; });
    return all - static_cast<uint64_t>(here);
  }

  // ids: of the texts first, first + 1, ... False: numbers of texts cannot be so large.
  [[nodiscard]] bool Add(uint64_t first, std::span<const StringId> ids) {
    if (are_numbers_ && first == count_ && StandAt(first, ids)) {
      count_ += ids.size();
      return true;
    }
    for (size_t number = 0; are_numbers_ && number < count_; ++number)
      ids_.push_back(static_cast<StringId>(number));
    are_numbers_ = false;
    for (const StringId id : ids) {
      if (!PlaceRow(first++, id, StringId::kNone, &ids_)) return false;
    }
    return true;
  }

 private:
  static bool StandAt(uint64_t first, std::span<const StringId> ids) {
    for (const StringId id : ids) {
      if (uint64_t{Row(id)} != first++) return false;
    }
    return true;
  }

  bool are_numbers_ = true;
  size_t count_ = 0;
  std::vector<StringId> ids_;
};

}  // namespace opscope
