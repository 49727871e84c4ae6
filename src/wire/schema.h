// Numbers of tables and columns in kTable blocks. A number is never reused; a new column is a new
// number and a new minor version. FORMAT.md lists them with their meaning.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope::wire {

// Ids (of strings, tracks, lists, ...) are stored plus one modulo 2^32: 0 is "none".
inline constexpr uint64_t kNoId = 0;
inline constexpr uint64_t kMinusOne = ~uint64_t{0};
inline constexpr uint64_t kNoSortIndex = uint64_t{1} << 63;

// In every table whose rows are referred to by number: one value, the number of the block's first row.
inline constexpr uint32_t kFirstRow = 0;

enum TableId : uint32_t {
  kProcesses = 1,
  kTracks = 2,
  kSpans = 3,
  kAsyncSpans = 4,
  kInstants = 5,
  kCounters = 6,
  kFlows = 7,
  kAllocations = 8,
  kSteps = 9,
  kFrames = 10,
  kStacks = 11,
  kArguments = 12,
  kProblems = 13,
  kMetadata = 14,
  kPythonCalls = 15,
  kTensors = 16,
  kHeldTensors = 17,
  kOperators = 18,
  kTensorLives = 19,
};

namespace process {
enum : uint32_t { kPid = 1, kPidText = 2, kName = 3, kLabels = 4, kSortIndex = 5 };
}

namespace track {
enum : uint32_t {
  kProcess = 1,
  kKind = 2,
  kTid = 3,
  kTidText = 4,
  kName = 5,
  kSortIndex = 6,
  kLogicalThread = 7,
  kDevice = 8
};
}

// Rows of one slice of time. A segment is a run of rows of one track.
namespace span {
enum : uint32_t {
  kSegmentTrack = 1,
  kSegmentAsync = 2,
  kSegmentRows = 3,
  kSegmentBase = 4,
  kSegmentFirstRow = 5,
  kDepth = 6,
  kStartAfterStart = 7,
  kEndAfterStart = 8,
  kStartAfterEnd = 9,
  kEndAfterEnd = 10,  // nested segments
  kAsyncStart = 11,
  kAsyncDuration = 12,  // async segments
  kName = 13,
  kOverload = 14,
  kCategory = 15,
  kFlags = 16,
  kScope = 17,
  kSequence = 18,
  kForwardThread = 19,
  kCorrelation = 20,
  kExternalId = 21,
  kArgs = 22,
  kStack = 23,
  kExtra = 24,
  kKind = 25  // absent where categories and names tell it
};
}

namespace async_span {
enum : uint32_t { kStart = 1, kDuration = 2, kName = 3, kCategory = 4, kTrack = 5, kId = 6, kExtra = 7 };
}

namespace instant {
enum : uint32_t { kTime = 1, kName = 2, kCategory = 3, kTrack = 4, kScope = 5, kExtra = 6 };
}

namespace counter {
enum : uint32_t { kTime = 1, kName = 2, kSeries = 3, kTrack = 4, kValue = 5 };
}

namespace flow {
enum : uint32_t {
  kId = 1,
  kCategory = 2,
  kName = 3,
  kStartTime = 4,
  kStartTrack = 5,
  kStartSpan = 6,
  kEndTime = 7,
  kEndTrack = 8,
  kEndSpan = 9
};
}

namespace allocation {
enum : uint32_t {
  kTime = 1,
  kTrack = 2,
  kAddress = 3,
  kBytes = 4,
  kTotalAllocated = 5,
  kTotalReserved = 6,
  kDeviceType = 7,
  kDevice = 8,
  kStack = 9
};
}

namespace tensor {
enum : uint32_t { kSpan = 1, kTensor = 2, kStorage = 3, kDeviceType = 4, kDevice = 5 };
}

namespace held_tensor {
enum : uint32_t {
  kTime = 1,
  kTrack = 2,
  kOwner = 3,
  kHeldAs = 4,
  kTensor = 5,
  kStorage = 6,
  kDeviceType = 7,
  kDevice = 8,
  kBytes = 9,
  kName = 10
};
}

namespace tensor_life {
enum : uint32_t {
  kProduced = 1,
  kDuration = 2,
  kTrack = 3,
  kTensor = 4,
  kOp = 5,
  kAddress = 6,
  kBytes = 7,
  kUses = 8,
  kArgs = 9,
  kName = 10
};
}

namespace op {
enum : uint32_t { kName = 1, kArguments = 2 };
}

namespace step {
enum : uint32_t { kNumber = 1, kName = 2, kSpan = 3 };
}

namespace frame {
enum : uint32_t { kText = 1 };
}

namespace stack {
enum : uint32_t { kFrame = 1, kCaller = 2 };
}

namespace python_call {
enum : uint32_t { kSpan = 1, kId = 2, kCaller = 3, kModuleId = 4, kThread = 5 };
}

// Lists of arguments, flattened: list i has kListSize[i] arguments; a tensor list is followed by its tensors.
namespace argument {
enum : uint32_t {
  kListSize = 1,
  kKind = 2,
  kDtype = 3,
  kValue = 4,
  kHasStrides = 5,
  kSizeCount = 6,
  kStrideCount = 7,
  kTensorCount = 8,
  kSizes = 9,
  kStrides = 10,
  kLayout = 11
};
}

namespace problem {
enum : uint32_t { kKind = 1, kSeverity = 2, kCount = 3, kFirstOffset = 4, kMessage = 5 };
}

namespace metadata {
enum : uint32_t { kKey = 1, kJson = 2 };
}

}  // namespace opscope::wire
