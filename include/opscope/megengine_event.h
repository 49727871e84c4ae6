// What a record of kind kNative of source kMegEngine says: one record of MegEngine's own profiler, as that made it.
// Import replays them (src/import/megengine/replay.h): spans, counters and arrows follow from them.
//
//   start     nanoseconds since 1970, as MegEngine read them
//   value     what it is about: the number of a tensor or of an operator, a byte count, ...
//   scope     a MegEngineEvent; with record_flags::kFinish its end, as MegEngine's own type of the same name says
//   depth     number of the thread, which a kThread of the same chunk names
//   reserved  a detail: a kind, a property, the number of a device, which a kDevice of the same chunk names
//
// Records stand in the order of MegEngine's own numbers, which is that in which they were made, on all threads.
// What is in a chunk says what it needs by itself: kStart, kThread and kDevice are said again in each.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// The numbers stand in recordings: new ones come at the end.
enum class MegEngineEvent : uint8_t {
  kNone = 0,
  kStart = 1,              // start = of the window; value = number of its piece; a window may be recorded in several
  kThread = 2,             // depth; name
  kDevice = 3,             // reserved = number; name = the physical locator, then a space, then the logical one
  kOpDispatch = 4,         // operator; name; payload: kKeywords = its parameters; two lists of tensors: inputs, outputs
  kOpExecute = 5,          // operator; name = why: "cmd", "dtr"
  kKernelLaunch = 6,       // operator; payload: kDevice with the number of the kernel
  kOpInput = 7,            // tensor
  kOpOutput = 8,           // tensor
  kTensorDeclare = 9,      // tensor; name
  kTensorProduce = 10,     // tensor; name = element type; payload: kAddress with the device; sizes and strides
  kTensorUsage = 11,       // tensor
  kTensorRelease = 12,     // tensor
  kTensorErase = 13,       // tensor; reserved = 1: it was still used
  kTensorGetProp = 14,     // tensor; reserved = MegEngineProperty
  kTensorNotifyProp = 15,  // likewise
  kTensorWaitProp = 16,    // likewise; at the end payload: kKeywords = where it was asked for
  kTensorCommand = 17,     // tensor; reserved = MegEngineCommand
  kSampleDevice = 18,      // at its end reserved = device, value = bytes in use; payload: kTotals with those there are
  kWorkerException = 19,   // nothing more
  kShapeInfer = 20,        // value = 1: it succeeded
  kScope = 21,             // name; reserved = MegEngineScope
  kStartProfile = 22,      // nothing more
  kStopProfile = 23,       // nothing more
  kStopStep = 24,          // nothing more
  kAutoEvict = 25,         // nothing more
  kCustom = 26,            // name; reserved = device + 1, 0: none; payload: kKeywords = its content
  kRecordDevice = 27,      // reserved = device; value = nanoseconds since the first of that device in this piece
  kHostToDevice = 28,      // as kTensorProduce, of no tensor
};
inline constexpr uint8_t kMegEngineEvents = 29;

enum class MegEngineProperty : uint8_t { kNone = 0, kDevice, kShape, kDType, kDevValue, kHostValue };
enum class MegEngineCommand : uint8_t { kPut = 0, kDel, kDrop, kReGen, kRecFree, kGetValue };
enum class MegEngineScope : uint8_t { kDefault = 0, kModule, kTensorMethod, kFunctional, kBackward };

}  // namespace opscope
