// Unique frames and stacks. A stack is a frame and the stack of its caller, so equal prefixes are
// stored once.
//
// Thread rule: one thread at a time while it grows, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include "base/column.h"
#include "base/hash.h"
#include "opscope/trace.h"

namespace opscope {

class StackTable {
 public:
  FrameId AddFrame(StringId text) {
    const auto [found, added] = frames_by_text_.try_emplace(Row(text), Row(FrameId{0}));
    if (added) {
      found.value() = static_cast<uint32_t>(text_.size());
      text_.push_back(text);
    }
    return static_cast<FrameId>(found->second);
  }

  StackId AddStack(FrameId frame, StackId caller) {
    const uint64_t key = static_cast<uint64_t>(Row(frame)) << 32 | Row(caller);
    const auto [found, added] = stacks_by_key_.try_emplace(key, 0u);
    if (added) {
      found.value() = static_cast<uint32_t>(frame_.size());
      frame_.push_back(frame);
      caller_.push_back(caller);
    }
    return static_cast<StackId>(found->second);
  }

  FrameColumns frames() const { return {text_.view()}; }
  StackColumns stacks() const { return {frame_.view(), caller_.view()}; }
  size_t memory_bytes() const {
    return text_.memory_bytes() + frame_.memory_bytes() + caller_.memory_bytes() + frames_by_text_.bucket_count() * 16 +
           stacks_by_key_.bucket_count() * 24;
  }
  void DropIndex() {
    frames_by_text_ = {};
    stacks_by_key_ = {};
  }

 private:
  Column<StringId> text_;
  Column<FrameId> frame_;
  Column<StackId> caller_;
  tsl::robin_map<uint32_t, uint32_t> frames_by_text_;
  tsl::robin_map<uint64_t, uint32_t, MixedHash> stacks_by_key_;
};

}  // namespace opscope
