// Numbers of tables and columns in kTable blocks. A number is never reused; a new column is a new
// number and a new minor version. FORMAT.md lists them with their meaning.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope::wire {

inline constexpr uint64_t kNone = 0xffffffff;  // absent id
inline constexpr uint64_t kMinusOne = ~uint64_t{0};
inline constexpr uint64_t kNoSortIndex = uint64_t{1} << 63;

inline constexpr uint32_t kProcesses = 1;
namespace process {
enum : uint32_t { kPid = 1, kPidText, kName, kLabels, kSortIndex };
}

inline constexpr uint32_t kTracks = 2;
namespace track {
enum : uint32_t { kProcess = 1, kKind, kTid, kTidText, kName, kSortIndex, kLogicalThread, kDevice };
}

// Rows of one slice of time. A segment is a run of rows of one track.
inline constexpr uint32_t kSpans = 3;
namespace span {
enum : uint32_t {
  kSegmentTrack = 1,
  kSegmentAsync,
  kSegmentRows,
  kSegmentBase,
  kSegmentFirstRow,
  kDepth,
  kStartAfterStart,
  kStartAfterEnd,
  kEndAfterStart,
  kEndAfterEnd,  // of nested segments
  kAsyncStart,
  kAsyncDuration,  // of async segments
  kName,
  kOverload,
  kCategory,
  kFlags,
  kScope,
  kSequence,
  kForwardThread,
  kCorrelation,
  kExternalId,
  kArgs,
  kStack,
  kExtra
};
}

inline constexpr uint32_t kAsyncSpans = 4;
namespace async_span {
enum : uint32_t { kStart = 1, kDuration, kName, kCategory, kTrack, kId, kExtra };
}

inline constexpr uint32_t kInstants = 5;
namespace instant {
enum : uint32_t { kTime = 1, kName, kCategory, kTrack, kScope, kExtra };
}

inline constexpr uint32_t kCounters = 6;
namespace counter {
enum : uint32_t { kTime = 1, kName, kSeries, kTrack, kValue };
}

inline constexpr uint32_t kFlows = 7;
namespace flow {
enum : uint32_t { kId = 1, kCategory, kName, kStartTime, kStartTrack, kStartSpan, kEndTime, kEndTrack, kEndSpan };
}

inline constexpr uint32_t kAllocations = 8;
namespace allocation {
enum : uint32_t { kTime = 1, kTrack, kAddress, kBytes, kTotalAllocated, kTotalReserved, kDeviceType, kDevice };
}

inline constexpr uint32_t kSteps = 9;
namespace step {
enum : uint32_t { kNumber = 1, kName, kSpan };
}

inline constexpr uint32_t kFrames = 10;
namespace frame {
enum : uint32_t { kText = 1 };
}

inline constexpr uint32_t kStacks = 11;
namespace stack {
enum : uint32_t { kFrame = 1, kCaller };
}

// Lists of arguments, flattened: a list has kListSize arguments; a tensor list is followed by its tensors.
inline constexpr uint32_t kArguments = 12;
namespace argument {
enum : uint32_t {
  kListSize = 1,
  kKind,
  kDtype,
  kValue,
  kHasStrides,
  kSizeCount,
  kStrideCount,
  kTensorCount,
  kSizes,
  kStrides
};
}

inline constexpr uint32_t kProblems = 13;
namespace problem {
enum : uint32_t { kKind = 1, kSeverity, kCount, kFirstOffset, kMessage };
}

inline constexpr uint32_t kMetadata = 14;
namespace metadata {
enum : uint32_t { kKey = 1, kJson };
}

}  // namespace opscope::wire
