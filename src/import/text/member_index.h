// Finds the members of an object by name while they are read: among few members by comparing names, among many by a
// hash table. Comparison alone would take 8,000,000 steps for an object of 4096 members, which is 40 KB of text.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "import/text/json_scan.h"

namespace opscope {

class MemberIndex {
 public:
  // The position of the name in members[0, count), or `count`. REQUIRES: the same vector for all calls, whose names
  // stay valid while it grows.
  size_t Find(const std::vector<JsonMember>& members, size_t count, std::string_view key) {
    if (count <= kFew) {
      size_t at = 0;
      while (at < count && members[at].key.text != key)
        ++at;
      return at;
    }
    if (positions_ == nullptr) positions_ = std::make_unique<Positions>();
    for (; indexed_ < count; ++indexed_)
      positions_->try_emplace(members[indexed_].key.text, indexed_);
    const auto found = positions_->find(key);
    return found == positions_->end() ? count : found->second;
  }

 private:
  static constexpr size_t kFew = 64;
  struct TextHash {
    size_t operator()(std::string_view text) const {
      return static_cast<size_t>(HashBytes(std::as_bytes(std::span(text))));
    }
  };

  using Positions = tsl::robin_map<std::string_view, size_t, TextHash>;

  std::unique_ptr<Positions> positions_;  // null while there are few
  size_t indexed_ = 0;                    // members[0, indexed_) are in positions_
};

}  // namespace opscope
