// Unique argument lists. Equal lists get one id; each is stored as the Argument values that
// Trace::arguments returns, so reading allocates nothing.
//
// Thread rule: one thread at a time while it grows, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <span>

#include "base/arena.h"
#include "base/column.h"
#include "opscope/trace.h"
#include "trace/rows.h"

namespace opscope {

class ArgumentLists {
 public:
  ArgsId Add(std::span<const ArgumentRow> arguments);
  std::span<const Argument> list(ArgsId id) const {
    return Row(id) < lists_.size() ? lists_[Row(id)] : std::span<const Argument>();
  }
  size_t size() const { return lists_.size(); }
  size_t memory_bytes() const;
  void DropIndex();  // after the last Add

 private:
  std::span<const Argument> Copy(std::span<const ArgumentRow> arguments);

  Arena arena_;
  Column<std::span<const Argument>> lists_;
  Column<uint32_t> same_hash_;  // by list: the next list with an equal hash, or kNoList
  tsl::robin_map<uint64_t, uint32_t> by_hash_;
};

}  // namespace opscope
