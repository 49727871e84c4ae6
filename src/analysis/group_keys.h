// Rows of a grouped summary: which row a span belongs to, and the texts of its further keys.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "opscope/analysis/modules.h"
#include "opscope/analysis/op_summary.h"

namespace opscope {

class SpanGrouper {
 public:
  SpanGrouper(const Trace& trace, const std::vector<GroupKey>& keys);

  bool has_name() const { return has_name_; }
  // The row of a span; a new one equals the number of rows so far.
  uint32_t Find(size_t span);
  // Names and texts of the keys other than kName, in their order.
  std::vector<std::string> TextNames() const;
  std::vector<std::string> Texts(size_t span) const;

 private:
  static constexpr size_t kMaxKeys = 7;
  using Key = std::array<uint32_t, kMaxKeys>;
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  uint32_t Value(GroupKey key, size_t span);
  uint32_t ShapeValue(ArgsId args);

  const Trace& trace_;
  std::vector<GroupKey> keys_;
  bool has_name_ = false;
  std::vector<uint32_t> shape_of_args_;
  std::unordered_map<std::string, uint32_t> shapes_;
  ModulesOfSpans modules_;  // when kModule is a key
  tsl::robin_map<Key, uint32_t, KeyHash> rows_;
};

// The label of a track for people: its name, else its number.
std::string TrackLabel(const Trace& trace, TrackId track);

}  // namespace opscope
