// libcupti, found and loaded at run time: which file, its version, its functions.
//
//   OPSCOPE_CUPTI_LIB=FILE    that one and no other
//   else                      the one that is in the process already, those that SuggestCupti names, libcupti.so.13,
//                             .12, pip's nvidia/*/lib, the toolkit's
//
// It is loaded once and never unloaded: CUPTI holds addresses of our callbacks, and its threads may run.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sources/cuda/cupti_abi.h"

namespace opscope::cuda {

// Functions by CUPTI's names without "cupti". Null: the library has none of this name.
#define OPSCOPE_CUPTI_NEEDED(USE) \
  USE(GetVersion)                 \
  USE(GetResultString)            \
  USE(ActivityRegisterCallbacks)  \
  USE(ActivityEnable)             \
  USE(ActivityDisable) USE(ActivityFlushAll) USE(ActivityGetNextRecord) USE(ActivityGetNumDroppedRecords)
#define OPSCOPE_CUPTI_USED(USE) \
  USE(Subscribe)                \
  USE(Subscribe_v2)             \
  USE(Unsubscribe)              \
  USE(GetTimestamp)             \
  USE(GetCallbackName)          \
  USE(SetThreadIdType)          \
  USE(ActivitySetAttribute)     \
  USE(ActivityEnableAndDump)    \
  USE(ActivityEnableCudaEventDeviceTimestamps) USE(ActivityGetEnabledKinds)
// Called only for a window with nodes of graphs or a timer of regions.
#define OPSCOPE_CUPTI_ON_REQUEST(USE) \
  USE(EnableCallback)                 \
  USE(GetGraphNodeId)                 \
  USE(GetGraphId)                     \
  USE(GetGraphExecId) USE(ActivityPushExternalCorrelationId) USE(ActivityPopExternalCorrelationId)

struct CuptiFunctions {
#define OPSCOPE_DECLARE(name) cupti::name name = nullptr;
  OPSCOPE_CUPTI_NEEDED(OPSCOPE_DECLARE)
  OPSCOPE_CUPTI_USED(OPSCOPE_DECLARE)
  OPSCOPE_CUPTI_ON_REQUEST(OPSCOPE_DECLARE)
#undef OPSCOPE_DECLARE
};

// From this API version on a request for a buffer may be declined (CUPTI 12.9).
inline constexpr uint32_t kApiThatTakesNull = 27;
inline constexpr uint32_t kMinApi = 18;  // CUPTI 12.1

struct CuptiLibrary {
  std::string path;
  uint32_t version = 0;
  CuptiFunctions call;
  std::string why_not;     // cuda_detail in the words of cupti_errors.h; "": it can be called
  bool was_named = false;  // by OPSCOPE_CUPTI_LIB

  bool is_usable() const { return why_not.empty(); }
};

// Adds a file to those that are looked at. No effect once LoadedCupti was called.
void SuggestCupti(const std::string& file);

// Loaded at the first call; lives for ever.
const CuptiLibrary& LoadedCupti();

// As above for one file, for tests and to inspect a library that is not in use. "": search as above.
CuptiLibrary LoadCupti(const std::string& file);

}  // namespace opscope::cuda
