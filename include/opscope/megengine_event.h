// Records of kind kNative of source kMegEngine: one record of MegEngine's own
// profiler, unchanged. Import replays them into spans, counters and flows
// (src/import/megengine/replay.h).
//
//   start     nanoseconds since 1970, as MegEngine read them
//   value     the subject: the number of a tensor or operator, a byte count, ...
//   scope     a MegEngineEvent; with record_flags::kFinish its end, like MegEngine's type of that name
//   depth     number of the thread, which a kThread of the same chunk names
//   reserved  a detail: a kind, a property, or the number of a device, which a kDevice of the same chunk names
//
// Records stand in the order of MegEngine's own numbers: the order in which all
// threads made them. A chunk can be read alone: each one repeats kStart, kThread
// and kDevice.
//
// Example: MegEngine runs an operator "Convolution" with the number 7 on its worker
// thread 1. That is two records:
//
//   {start 1000, kind kNative, source kMegEngine, scope kOpExecute, depth 1, value 7, name "cmd"}
//   {start 1450, the same, flags kFinish}
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// The numbers stand in files: new ones come at the end.
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
  kTensorWaitProp = 16,    // likewise; at the end payload: kKeywords = the caller's stack
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
// Number of events.
inline constexpr uint8_t kMegEngineEvents = 29;

// Property of a tensor that the program requested: a request can make the program
// wait for the worker.
enum class MegEngineProperty : uint8_t { kNone = 0, kDevice, kShape, kDType, kDevValue, kHostValue };
// Command of the interpreter: what the worker does with a tensor.
enum class MegEngineCommand : uint8_t { kPut = 0, kDel, kDrop, kReGen, kRecFree, kGetValue };
// What a scope stands for in the program.
enum class MegEngineScope : uint8_t { kDefault = 0, kModule, kTensorMethod, kFunctional, kBackward };

}  // namespace opscope
