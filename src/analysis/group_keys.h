// Rows of a grouped summary: which row a span belongs to, and the texts of its further keys.
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
#include <span>
#include <string>
#include <vector>

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
  // join_steps: names of steps count as one name.
  SpanGrouper(const Trace& trace, const std::vector<GroupKey>& keys, bool join_steps);

  bool has_name() const { return has_name_; }
  std::span<const GroupKey> keys() const { return keys_; }
  // Below Values(key).
  uint32_t Value(GroupKey key, size_t span) const {
    switch (key) {
      case GroupKey::kName: {
        const uint32_t name = std::min(Row(spans_.name[span]), texts_);
        return name < first_name_.size() ? first_name_[name] : name;
      }
      case GroupKey::kShape:
        return spans_.args[span] == ArgsId::kNone ? static_cast<uint32_t>(shape_of_args_.size())
                                                  : shape_of_args_[Row(spans_.args[span])];
      case GroupKey::kCategory:
        return std::min(Row(spans_.category[span]), texts_);
      case GroupKey::kThread:
        return Row(spans_.track[span]);
      case GroupKey::kDevice:
        return device_of_track_[Row(spans_.track[span])];
      case GroupKey::kStack:
        return std::min(Row(spans_.stack[span]), stacks_);
      case GroupKey::kModule:
        return modules_.node_of[span];
      case GroupKey::kKind:
        return static_cast<uint32_t>(spans_.kind[span]);
    }
    return 0;
  }
  size_t Values(GroupKey key) const;
  // Names and texts of the keys other than kName, in their order.
  std::vector<std::string> TextNames() const;
  std::vector<std::string> Texts(size_t span) const;

 private:
  void JoinSteps();
  void NumberShapes();
  void NumberDevices();

  const Trace& trace_;
  const SpanColumns& spans_;
  const uint32_t texts_, stacks_;  // how many; a value for "none" is above them
  std::vector<GroupKey> keys_;
  bool has_name_ = false;
  std::vector<uint32_t> first_name_;       // by name: the first that counts as the same; empty: itself
  std::vector<uint32_t> shape_of_args_;    // when kShape is a key; different argument lists can have the same shapes
  std::vector<uint32_t> device_of_track_;  // when kDevice is a key
  ModulesOfSpans modules_;                 // when kModule is a key
};

// Numbers groups in the order of their first spans. One key, which is the usual case, takes no hashing.
class GroupRows {
 public:
  explicit GroupRows(const SpanGrouper& grouper);

  // The row of a span's group; a new one equals the number of rows so far.
  uint32_t Find(size_t span) {
    const uint32_t value = grouper_.keys().empty() ? 0 : grouper_.Value(grouper_.keys().front(), span);
    return further_.empty() ? RowOf(value) : FindPair(value, span);
  }
  void Clear();

 private:
  uint32_t RowOf(uint32_t value) {
    uint32_t& row = by_value_[value];
    if (row == 0) {
      used_.push_back(value);
      row = static_cast<uint32_t>(used_.size());
    }
    return row - 1;
  }
  uint32_t FindPair(uint32_t value, size_t span);

  const SpanGrouper& grouper_;
  NumberTable by_value_;        // of the first key, when it is the only one: its row + 1
  std::vector<uint32_t> used_;  // numbers in by_value_
  // For each further key: the number of (number by the keys before, value of this key).
  std::vector<tsl::robin_map<uint64_t, uint32_t, MixedHash>> further_;
};

// The label of a track for people: its name, else its number.
std::string TrackLabel(const Trace& trace, TrackId track);

}  // namespace opscope
