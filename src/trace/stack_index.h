// Deduplicates frames and stacks while they are added. A stack is a frame and the stack of its caller, so equal
// prefixes are stored once.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include "base/hash.h"
#include "trace/tables.h"

namespace opscope {

class StackIndex {
 public:
  FrameId AddFrame(StringId text, FrameTable* frames) {
    const auto [found, added] = frames_.try_emplace(Row(text), static_cast<uint32_t>(frames->size()));
    if (added) frames->Add({.text = text});
    return static_cast<FrameId>(found->second);
  }
  StackId AddStack(FrameId frame, StackId caller, StackTable* stacks) {
    const uint64_t key = static_cast<uint64_t>(Row(frame)) << 32 | Row(caller);
    const auto [found, added] = stacks_.try_emplace(key, static_cast<uint32_t>(stacks->size()));
    if (added) stacks->Add({.frame = frame, .caller = caller});
    return static_cast<StackId>(found->second);
  }
  size_t memory_bytes() const { return frames_.bucket_count() * 16 + stacks_.bucket_count() * 24; }
  void Clear() {
    frames_ = {};
    stacks_ = {};
  }

 private:
  tsl::robin_map<uint32_t, uint32_t> frames_;             // row by text
  tsl::robin_map<uint64_t, uint32_t, MixedHash> stacks_;  // row by frame and caller
};

}  // namespace opscope
