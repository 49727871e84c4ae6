// Field numbers and values of Perfetto's trace protobufs that the exporter writes.
// Published: https://perfetto.dev/docs/reference/trace-packet-proto
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope::perfetto {

struct TraceFile {
  enum : uint32_t { kPacket = 1 };
};
struct TracePacket {
  enum : uint32_t {
    kClockSnapshot = 6,
    kTimestamp = 8,
    kSequenceId = 10,
    kTrackEvent = 11,
    kInternedData = 12,
    kSequenceFlags = 13,
    kTrackDescriptor = 60
  };
  enum : uint32_t { kStateCleared = 1, kNeedsState = 2 };  // of kSequenceFlags
};
struct ClockSnapshot {
  enum : uint32_t { kClocks = 1 };
};
struct Clock {
  enum : uint32_t { kId = 1, kTimestamp = 2 };
  enum : uint32_t { kRealtime = 1, kBoottime = 6 };  // of kId; packets without a clock field count in boottime
};
struct TrackDescriptor {
  enum : uint32_t {
    kUuid = 1,
    kName = 2,
    kProcess = 3,
    kThread = 4,
    kParentUuid = 5,
    kCounter = 8,
    kChildOrdering = 11,
    kSiblingRank = 12
  };
  enum : uint32_t { kExplicit = 3 };  // of kChildOrdering
};
struct ProcessDescriptor {
  enum : uint32_t { kPid = 1, kSortIndex = 3, kName = 6, kLabels = 8 };
};
struct ThreadDescriptor {
  enum : uint32_t { kPid = 1, kTid = 2, kSortIndex = 3, kName = 5 };
};
struct TrackEvent {
  enum : uint32_t {
    kCategoryIids = 3,
    kAnnotations = 4,
    kType = 9,
    kNameIid = 10,
    kTrackUuid = 11,
    kDoubleCounterValue = 44,
    kFlowIds = 47,
    kTerminatingFlowIds = 48
  };
  enum : uint32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };  // of kType
};
struct DebugAnnotation {
  enum : uint32_t {
    kNameIid = 1,
    kBool = 2,
    kUint = 3,
    kInt = 4,
    kDouble = 5,
    kString = 6,
    kJson = 9,
    kStringIid = 17
  };
};
struct InternedData {
  enum : uint32_t { kCategories = 1, kEventNames = 2, kAnnotationNames = 3, kAnnotationStrings = 29 };
};
struct Interned {  // the messages of all four
  enum : uint32_t { kIid = 1, kText = 2 };
};

}  // namespace opscope::perfetto
