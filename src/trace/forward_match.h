// Joins backward functions to forward operators by torch's rule (that of Kineto's fwdbwd arrows).
//
// Every operator that may make an autograd node records the sequence number that the next node of its thread will get,
// and a node's backward function repeats the number. Several operators record the same number, because only making a
// node increments it:
//
//   aten::item       7   makes no node (the end of step 1)
//   aten::div        7   no input needs a gradient
//   aten::conv2d     7
//     aten::convolution  7   makes node 7
//   aten::relu       8
//
// So the operator that starts last made the node; the first one may be of another module or step. Spans are visited in
// the order of their ends, so that a reuse of the number later does no harm.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>

#include "base/column.h"
#include "base/hash.h"
#include "base/natural_sort.h"
#include "opscope/types.h"

namespace opscope {

// A span with a sequence number.
struct SequencedSpan {
  Timestamp end;
  uint32_t span;
  uint32_t thread;  // the caller's number of the thread that the span ran on
};

// A child that ends with its parent was closed before it. REQUIRES: spans of a thread are numbered in pre-order.
inline void SortByEnd(Column<SequencedSpan>* spans) {
  NaturalSort(spans, [](const SequencedSpan& a, const SequencedSpan& b) {
    return a.end != b.end ? a.end < b.end : a.span > b.span;
  });
}

class ForwardMatch {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Found {
    uint32_t span = kNone;  // the forward operator
    bool is_first = false;  // the first backward function of it; only this one gets the arrow
  };

  // Kineto's key: 16 bits of the forward pass's thread and 48 bits of the sequence number.
  static uint64_t KeyOf(uint64_t thread, int64_t sequence) {
    return thread << 48 | (static_cast<uint64_t>(sequence) & ((uint64_t{1} << 48) - 1));
  }

  void AddForward(uint64_t key, Timestamp start, uint32_t span) {
    const auto [known, is_new] = candidates_.try_emplace(key, Candidate{start, span, false});
    if (!is_new && (known->second.is_matched || start >= known->second.start)) known.value() = {start, span, false};
  }

  Found Take(uint64_t key) {
    const auto known = candidates_.find(key);
    if (known == candidates_.end()) return {};
    const bool is_first = !known->second.is_matched;
    known.value().is_matched = true;
    return {known->second.span, is_first};
  }

 private:
  struct Candidate {
    Timestamp start;
    uint32_t span;
    bool is_matched;
  };
  tsl::robin_map<uint64_t, Candidate, MixedHash> candidates_;
};

}  // namespace opscope
