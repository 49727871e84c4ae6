// Rows of a grouped summary: the row that a span belongs to, and the texts of its keys. Host spans and device spans
// never share a row.
//
// Thread rule: SpanGrouper is immutable, GroupRows is for one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/call_stacks.h"
#include "analysis/step_names.h"
#include "analysis/steps_of_ranks.h"
#include "base/hash.h"
#include "opscope/analysis/modules.h"
#include "opscope/analysis/op_summary.h"

namespace opscope {

// A zero-initialized array. calloc maps it lazily, so only touched pages take memory.
class ZeroedArray {
 public:
  explicit ZeroedArray(size_t size);
  uint32_t& operator[](size_t number) { return values_.get()[number]; }

 private:
  struct Free {
    void operator()(uint32_t* values) const { std::free(values); }
  };
  std::unique_ptr<uint32_t, Free> values_;
};

// Gives each key of each span a small integer value.
class SpanGrouper {
 public:
  // join_steps: names of numbered steps count as one name (analysis/step_names.h).
  SpanGrouper(const Trace& trace, const std::vector<GroupKey>& keys, bool join_steps);

  bool has_name() const { return has_name_; }
  std::span<const GroupKey> keys() const { return keys_; }
  // True for spans on a device stream or its annotations.
  bool IsOnDevice(size_t span) const { return is_on_device_[Row(spans_.track[span])] != 0; }
  // The value of a key, less than Values(key). O(1), O(log steps) for kStep. Names, the usual key, are read inline.
  uint32_t Value(GroupKey key, size_t span) const {
    return key == GroupKey::kName ? TextNumber(step_names_.Join(spans_.name[span])) : OtherValue(key, span);
  }
  size_t Values(GroupKey key) const;
  // Names of the keys other than kName, and their texts for a span, in the same order.
  std::vector<std::string> TextNames() const;
  std::vector<std::string> Texts(size_t span) const;

 private:
  // Numbers of tracks by a text: equal texts have equal numbers.
  struct TrackNumbers {
    std::vector<uint32_t> of_track;
    std::vector<std::string> texts;  // by number
  };

  // An unknown text counts as the empty one.
  uint32_t TextNumber(StringId text) const { return Row(text) < texts_ ? Row(text) : Row(StringId::kEmpty); }
  template <typename TextOf>
  void NumberTracks(GroupKey key, const TextOf& text_of);
  void NumberShapes();
  void NumberSteps();
  uint32_t OtherValue(GroupKey key, size_t span) const;
  uint32_t StepOf(size_t span) const;

  const Trace& trace_;
  const SpanColumns& spans_;
  const uint32_t texts_;  // number of strings
  std::vector<GroupKey> keys_;
  bool has_name_ = false;
  std::vector<uint8_t> is_on_device_;  // by track
  StepNames step_names_;
  // Filled only if the key is in use:
  std::vector<uint32_t> shape_of_args_;  // several lists may have the same shapes; 0: no list
  TrackNumbers of_tracks_[static_cast<size_t>(GroupKey::kStep) + 1];  // by key: kThread, kProcess, kRank, kDevice
  std::optional<StepsOfRanks> steps_;
  std::vector<int64_t> step_numbers_;  // in order
  StacksOfSpans stacks_;
  ModulesOfSpans modules_;
};

// Numbers groups in the order of their first spans. A single key, the usual case, needs no hashing.
class GroupRows {
 public:
  explicit GroupRows(const SpanGrouper& grouper);
  // The row of a span's group; a new group gets the number of rows so far.
  uint32_t Find(size_t span) {
    const size_t value = grouper_.keys().empty() ? 0 : grouper_.Value(grouper_.keys().front(), span);
    const uint32_t row = RowOf(2 * value + (grouper_.IsOnDevice(span) ? 1 : 0));
    return further_.empty() ? row : FindFurther(row, span);
  }
  void Clear();

 private:
  uint32_t RowOf(size_t value) {
    const uint32_t row = by_value_[value];
    return row != 0 ? row - 1 : AddRow(value);
  }
  uint32_t AddRow(size_t value);
  uint32_t FindFurther(uint32_t row, size_t span);

  const SpanGrouper& grouper_;
  ZeroedArray by_value_;      // by 2 * first key + (1 on devices): row + 1, 0: no row yet
  std::vector<size_t> used_;  // indexes used in by_value_, for Clear
  // For each further key: number of the pair (number by the preceding keys, value of this key).
  std::vector<tsl::robin_map<uint64_t, uint32_t, MixedHash>> further_;
};

}  // namespace opscope
