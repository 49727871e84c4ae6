// Traces of random content for round-trip tests: every table, every column, edges of every range.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {

class RandomTables {
 public:
  explicit RandomTables(uint64_t seed) : random_(seed) {}

  Trace Make(size_t spans) {
    TraceInfo& info = builder_.info();
    info.format = "opscope";
    info.format_version = "1.0";
    info.recorded = Any(), info.dropped = Any(), info.epoch_ns = static_cast<int64_t>(Any());
    info.options_json = "{\"a\":\"\\u00e9\"}";
    MakeTracks();
    MakeStacks();
    MakeArguments();
    MakeSpans(spans);
    MakeOthers();
    return builder_.Build();
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  // Small numbers, large numbers, the ends.
  uint64_t Any() {
    switch (Below(6)) {
      case 0:
        return 0;
      case 1:
        return UINT64_MAX;
      case 2:
        return uint64_t{1} << 63;
      default:
        return random_() >> Below(64);
    }
  }
  int64_t AnySigned() { return static_cast<int64_t>(Any()); }
  uint32_t Any32() { return static_cast<uint32_t>(Any()); }
  Timestamp Time() { return {Below(20) == 0 ? AnySigned() : static_cast<int64_t>(Below(5'000'000'000))}; }
  StringId Text() { return builder_.Intern("text " + std::to_string(Below(40))); }
  StringId MaybeText() { return Below(3) == 0 ? Text() : StringId::kNone; }
  TrackId Track() { return static_cast<TrackId>(Below(builder_.track_count())); }

  void MakeTracks() {
    for (int i = 0; i < 3; ++i) {
      const ProcessId process =
          builder_.AddProcess({AnySigned(), MaybeText(), MaybeText(), MaybeText(), AnySigned(), -1, MaybeText()});
      for (int j = 0; j < 2; ++j) {
        builder_.AddTrack({process, static_cast<TrackKind>(Below(4)), AnySigned(), MaybeText(), MaybeText(),
                           AnySigned(), Any(), static_cast<int32_t>(Any32())});
      }
    }
  }

  void MakeStacks() {
    StackId stack = StackId::kNone;
    for (int i = 0; i < 30; ++i) {
      stack = builder_.AddStack(builder_.AddFrame(Text()), Below(5) == 0 ? StackId::kNone : stack);
      stacks_.push_back(stack);
    }
  }

  ArgumentRow RandomArgument() {
    ArgumentRow row;
    row.kind = static_cast<ArgumentKind>(Below(6));
    row.dtype = Below(2) == 0 ? Text() : StringId::kEmpty;
    row.value = Below(3) == 0 ? Text() : StringId::kEmpty;
    row.has_strides = Below(2) == 0;
    if (!row.has_strides) row.layout = TensorLayoutFromNumber(Below(12));
    row.sizes = std::span(integers_).subspan(Below(10), Below(6));
    if (row.has_strides) row.strides = std::span(integers_).subspan(Below(10), row.sizes.size());
    return row;
  }

  void MakeArguments() {
    for (int i = 0; i < 20; ++i)
      integers_.push_back(AnySigned());
    for (int i = 0; i < 40; ++i) {
      std::vector<ArgumentRow> list, tensors;
      for (uint64_t n = Below(4); n > 0; --n)
        tensors.push_back(RandomArgument());
      for (uint64_t n = Below(5); n > 0; --n)
        list.push_back(RandomArgument());
      if (!list.empty()) list.back().tensors = tensors;
      arguments_.push_back(builder_.AddArguments(list));
    }
  }

  void MakeSpans(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      SpanRow row;
      row.start = Time();
      row.duration = {Below(30) == 0 ? static_cast<int64_t>(Any() >> 1) : static_cast<int64_t>(Below(50'000'000))};
      row.name = Text(), row.overload = MaybeText(), row.category = Text(), row.track = Track();
      row.flags = static_cast<uint8_t>(Below(16));
      row.scope = static_cast<ScopeType>(Below(2) == 0 ? 255 : Below(10));
      row.sequence = Below(2) == 0 ? -1 : AnySigned();
      row.forward_thread = Any(), row.correlation = Any32(), row.external_id = Any32();
      row.args = arguments_[Below(arguments_.size())], row.stack = stacks_[Below(stacks_.size())];
      row.extra = MaybeText();
      spans_.push_back(builder_.AddSpan(row));
    }
  }

  AddedSpan MaybeSpan() { return Below(3) == 0 || spans_.empty() ? AddedSpan::kNone : spans_[Below(spans_.size())]; }

  void MakeOthers() {
    for (int i = 0; i < 20; ++i) {
      builder_.AddAsyncSpan({Time(), {AnySigned()}, Text(), Text(), Track(), Text(), MaybeText()});
      builder_.AddInstant({Time(), Text(), Text(), Track(), static_cast<uint8_t>("tpg"[Below(3)]), MaybeText()});
      builder_.AddCounter({Time(), Text(), Text(), Track(), static_cast<double>(AnySigned()) / 7});
      builder_.AddAllocation({Time(), Track(), Any(), AnySigned(), AnySigned(), AnySigned(),
                              static_cast<int32_t>(Any32()), static_cast<int32_t>(Any32()),
                              stacks_[Below(stacks_.size())]});
      builder_.AddFlow(
          {Any(), Text(), Text(), Time(), Track(), MaybeSpan(), Time(), Track(), MaybeSpan(), MaybeText()});
      builder_.AddHeldTensor({Time(), Track(), Any(), static_cast<StoredAs>(Below(3)), Any(), Any(),
                              static_cast<int32_t>(Any32()), static_cast<int32_t>(Any32()), AnySigned(), MaybeText()});
      builder_.AddTensorLife({Time(),
                              {AnySigned()},
                              Track(),
                              Any(),
                              Any(),
                              Any(),
                              Any(),
                              Any32(),
                              arguments_[Below(arguments_.size())],
                              MaybeText()});
      builder_.AddOperator(Text(), Text());
      builder_.AddStep(AnySigned(), Text(), MaybeSpan());
      builder_.AddMetadata("key " + std::to_string(i % 15), std::to_string(AnySigned()));
    }
    for (size_t i = 0; i < spans_.size(); i += 1 + Below(9)) {
      builder_.AddPythonCall(
          {spans_[i], Any32(), Any32(), static_cast<int32_t>(Any32()), static_cast<int32_t>(Any32())});
    }
    for (const AddedSpan span : spans_) {
      for (uint64_t n = Below(3); n > 0; --n)
        builder_.AddTensor({span, Any(), Any(), static_cast<int32_t>(Any32()), static_cast<int32_t>(Any32())});
    }
    builder_.SetProblemRanks("bad_value", "[0,3]");
    builder_.AddProblem("bad_value", AnySigned(), 1 + Below(9), "detail");
  }

  std::mt19937_64 random_;
  TraceBuilder builder_;
  std::vector<int64_t> integers_;
  std::vector<StackId> stacks_;
  std::vector<ArgsId> arguments_;
  std::vector<AddedSpan> spans_;
};

}  // namespace opscope
