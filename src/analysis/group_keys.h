// Rows of a grouped summary: which row a span belongs to, and the texts of its further keys. Spans of hosts and of
// devices never share a row, whatever they are grouped by.
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

// Zeros by number, of which only the pages that are used take memory.
class NumberTable {
 public:
  explicit NumberTable(size_t size);
  uint32_t& operator[](size_t number) { return values_.get()[number]; }

 private:
  struct Free {
    void operator()(uint32_t* values) const { std::free(values); }
  };
  std::unique_ptr<uint32_t, Free> values_;
};

// The keys that spans are grouped by. Each key of each span is a small number.
class SpanGrouper {
 public:
  // join_steps: names of numbered steps count as one name (analysis/step_names.h).
  SpanGrouper(const Trace& trace, const std::vector<GroupKey>& keys, bool join_steps);

  bool has_name() const { return has_name_; }
  std::span<const GroupKey> keys() const { return keys_; }
  // On a stream of a device, or one of its annotations.
  bool IsOnDevice(size_t span) const { return is_on_device_[Row(spans_.track[span])] != 0; }
  // Below Values(key). Names, the usual key, are read inline.
  uint32_t Value(GroupKey key, size_t span) const {
    return key == GroupKey::kName ? TextNumber(step_names_.Join(spans_.name[span])) : OtherValue(key, span);
  }
  size_t Values(GroupKey key) const;
  // Names and texts of the keys other than kName, in their order.
  std::vector<std::string> TextNames() const;
  std::vector<std::string> Texts(size_t span) const;

 private:
  // What tracks are grouped by: those of one text have one number.
  struct TrackNumbers {
    std::vector<uint32_t> of_track;
    std::vector<std::string> texts;  // by number
  };

  // No text and an empty one are the same.
  uint32_t TextNumber(StringId text) const { return Row(text) < texts_ ? Row(text) : Row(StringId::kEmpty); }
  template <typename TextOf>
  TrackNumbers NumberTracks(const TextOf& text_of) const;
  void NumberShapes();
  void NumberSteps();
  uint32_t OtherValue(GroupKey key, size_t span) const;
  uint32_t StepOf(size_t span) const;

  const Trace& trace_;
  const SpanColumns& spans_;
  const uint32_t texts_;  // how many
  std::vector<GroupKey> keys_;
  bool has_name_ = false;
  std::vector<uint8_t> is_on_device_;  // by track
  StepNames step_names_;
  // Each when it is a key:
  std::vector<uint32_t> shape_of_args_;  // different argument lists can have the same shapes; 0: none
  TrackNumbers threads_, processes_, ranks_, devices_;
  std::optional<StepsOfRanks> steps_;
  std::vector<int64_t> step_numbers_;  // in order
  StacksOfSpans stacks_;
  ModulesOfSpans modules_;
};

// Numbers groups in the order of their first spans. One key, which is the usual case, takes no hashing.
class GroupRows {
 public:
  explicit GroupRows(const SpanGrouper& grouper);
  // The row of a span's group; a new one equals the number of rows so far.
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
  NumberTable by_value_;      // of the first key, twice and one more on devices: its row + 1
  std::vector<size_t> used_;  // numbers in by_value_
  // For each further key: the number of (number by the keys before, value of this key).
  std::vector<tsl::robin_map<uint64_t, uint32_t, MixedHash>> further_;
};

}  // namespace opscope
