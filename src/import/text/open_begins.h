// Begins of ranges whose end is not yet read, for formats where an end names its range: it closes the newest open begin
// of that name.
//
//   Open(7, "load"), Open(8, "save"), Open(9, "load"):   CloseNewest("load") -> 9, then 7      CloseNewest() -> 8
//
// Most ends close one of the last few begins, which a scan from the newest one finds. A name further down is found in
// an index from name to its newest begin; begins enter the index only when a lookup needs it. A scan alone would take
// O(n) per end for n ranges that end in the order in which they began. Closed begins stay in the list until they are
// the last ones, so each begin is indexed, skipped and removed at most once: O(1) amortized for every call.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "opscope/types.h"

namespace opscope {

class OpenBegins {
 public:
  void Open(uint32_t row, StringId name) {
    begins_.push_back({.row = row, .name = name});
    ++open_count_;
  }
  bool empty() const { return open_count_ == 0; }
  size_t size() const { return open_count_; }

  // Closes the newest begin of the name and returns its row; nullopt if none is open.
  std::optional<uint32_t> CloseNewest(StringId name) {
    const size_t scanned = begins_.size() < kScanned ? begins_.size() : kScanned;
    for (size_t i = begins_.size(); i-- > begins_.size() - scanned;) {
      if (begins_[i].is_open && begins_[i].name == name) return Close(i);
    }
    if (scanned == begins_.size()) return std::nullopt;
    const uint32_t found = FindInIndex(name);
    if (found == kNoBegin) return std::nullopt;
    return Close(found);
  }

  // Closes the newest begin of any name. REQUIRES: !empty()
  uint32_t CloseNewest() { return Close(begins_.size() - 1); }

  // Calls use(row) for each open begin, the oldest first.
  template <typename Use>
  void ForEach(const Use& use) const {
    for (const Begin& begin : begins_) {
      if (begin.is_open) use(begin.row);
    }
  }

  // Removes all begins and frees the index: to clear a large one for each small group would take O(groups * largest).
  void Clear() {
    begins_.clear();
    open_count_ = 0;
    if (indexed_ > 0 || !newest_.empty()) newest_ = {};
    indexed_ = 0;
  }

 private:
  static constexpr size_t kScanned = 16;
  static constexpr uint32_t kNoBegin = UINT32_MAX;

  struct Begin {
    uint32_t row = 0;
    StringId name = StringId::kEmpty;
    uint32_t previous = kNoBegin;  // the previous begin of this name, in begins_; valid if it is indexed
    bool is_open = true;
  };

  uint32_t FindInIndex(StringId name) {
    for (; indexed_ < begins_.size(); ++indexed_) {
      const auto at = static_cast<uint32_t>(indexed_);
      const auto [newest, is_new] = newest_.try_emplace(Row(begins_[at].name), at);
      if (is_new) continue;
      begins_[at].previous = newest->second;
      newest.value() = at;
    }
    const auto newest = newest_.find(Row(name));
    if (newest == newest_.end()) return kNoBegin;
    uint32_t at = newest->second;
    while (at != kNoBegin && !begins_[at].is_open)
      at = begins_[at].previous;
    newest.value() = at;
    return at;
  }

  uint32_t Close(size_t at) {
    const uint32_t row = begins_[at].row;
    begins_[at].is_open = false;
    --open_count_;
    while (!begins_.empty() && !begins_.back().is_open)
      RemoveLast();
    return row;
  }

  // Removes the last begin from the index, because a later begin gets its position.
  void RemoveLast() {
    if (indexed_ == begins_.size()) {
      --indexed_;
      const auto newest = newest_.find(Row(begins_.back().name));
      if (newest != newest_.end() && newest->second == indexed_) newest.value() = begins_.back().previous;
    }
    begins_.pop_back();
  }

  std::vector<Begin> begins_;  // the last one is open
  size_t open_count_ = 0;
  size_t indexed_ = 0;                                    // begins_[0, indexed_) are in the index
  tsl::robin_map<uint32_t, uint32_t, MixedHash> newest_;  // by name; kNoBegin: no begin of this name is open
};

}  // namespace opscope
