// Paddle constructs a range inside memory that is filled with a pattern. The range must have the assumed layout, and
// the bytes around it must keep the pattern.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/probe.h"

#include <cstring>
#include <ctime>
#include <string>

#include "base/mutex.h"
#include "sources/got/got_entries.h"
#include "sources/paddle/paddle_library.h"

namespace opscope {
namespace {

using paddle_layout::RecordEvent;

constexpr unsigned char kPattern = 0xa5;
constexpr uint32_t kType = 14, kDefaultType = 7;
constexpr const char* kName = "opscope.trial";
constexpr const char* kOtherLayout = "phi::RecordEvent has another layout";

struct Field {
  alignas(16) unsigned char bytes[3 * sizeof(RecordEvent)];
  Field() { std::memset(bytes, kPattern, sizeof(bytes)); }
  RecordEvent* range() { return reinterpret_cast<RecordEvent*>(bytes + sizeof(RecordEvent)); }
  bool IsUntouchedAround() const {
    for (size_t i = 0; i < sizeof(bytes); ++i) {
      const bool is_inside = i >= sizeof(RecordEvent) && i < 2 * sizeof(RecordEvent);
      if (!is_inside && bytes[i] != kPattern) return false;
    }
    return true;
  }
};

// For a range that Paddle's profiler does not record: Paddle stores a default type instead of the one passed.
bool IsAsAssumed(Field* field) {
  const RecordEvent& range = *field->range();
  return field->IsUntouchedAround() && (range.head & 0xffff) == 0 && range.name == nullptr &&
         range.static_name == nullptr && range.role == 0 && range.type == kDefaultType && range.attributes == nullptr &&
         range.is_finished == 0;
}

uint64_t UnixNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

const char* ProbeUnwantedRanges() {
  Field one, other;
  paddle.begin_static(one.range(), kName, kType, kLevelOfPython, 0);
  const std::string name = kName;
  paddle.begin_copied(other.range(), name, kType, kLevelOfPython, 0);
  if (!IsAsAssumed(&one) || !IsAsAssumed(&other)) return kOtherLayout;
  paddle.end(one.range());
  paddle.end(other.range());
  return IsAsAssumed(&one) && IsAsAssumed(&other) ? nullptr : kOtherLayout;
}

// For a range that Paddle's profiler records: the constructor begins the range and `End` records it.
const char* ProbeWantedRange() {
  Field field;
  const uint64_t before = UnixNs();
  *paddle.level = 1;
  paddle.enable_recorder();
  paddle.begin_static(field.range(), kName, kType, kLevelOfPython, 0);
  const RecordEvent& range = *field.range();
  const bool has_begun = (range.head & 0xffff) == 1 && range.static_name == kName && range.start_ns >= before &&
                         range.start_ns <= UnixNs() && range.role == 0 && range.type == kType;
  paddle.end(field.range());
  const bool has_ended = (range.head & 0xffff) == 0 && field.IsUntouchedAround();
  paddle.disable_recorder();
  *paddle.level = -1;
  return has_begun && has_ended ? nullptr : kOtherLayout;
}

}  // namespace

const char* ProbePart(PaddlePart part) {
  const MutexLock lock(GotLock());
  if (const char* missing = FindPaddle(part)) return missing;
  if (part != PaddlePart::kHooks && part != PaddlePart::kDrain) return nullptr;
  if (PaddleProfilerRuns()) return "Paddle's own profiler runs";
  if (const char* wrong = ProbeUnwantedRanges()) return wrong;
  return FindPaddle(PaddlePart::kDrain) == nullptr ? ProbeWantedRange() : nullptr;
}

}  // namespace opscope
