// Finds and loads libcupti at run time: its file, its version, its functions.
//
//   OPSCOPE_CUPTI_LIB=FILE    only this file
//   else, in this order       a libcupti that is already in the process, the files of SuggestCupti, libcupti.so.13,
//                             libcupti.so.12, nvidia/*/lib of pip, the CUDA toolkit
//
// The library is loaded once and never unloaded, because CUPTI holds addresses of our callbacks and may have threads.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sources/cuda/cupti_abi.h"

namespace opscope::cuda {

// Functions by CUPTI's names without "cupti". Null: the library lacks the function.
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

struct CuptiLibrary {
  std::string path;
  uint32_t version = 0;
  CuptiFunctions call;
  std::string why_not;     // a reason of cupti_errors.h and details; "": the library is usable
  bool was_named = false;  // by OPSCOPE_CUPTI_LIB

  bool is_usable() const { return why_not.empty(); }
  // "CUPTI_ERROR_NOT_INITIALIZED". REQUIRES here and below: call.GetResultString is not null.
  std::string NameOf(cupti::Result code) const;
  // One line for a failed call: "CUDA is not recorded: no driver (cuptiActivityEnable: CUPTI_ERROR_NOT_INITIALIZED)".
  std::string DescribeFailure(cupti::Result code, const char* function) const;
};

// Adds a file to the search. No effect after the first call of LoadedCupti.
void SuggestCupti(const std::string& file);

// Loads the library at the first call. Never destroyed.
const CuptiLibrary& LoadedCupti();

// As above for one file; "": searches as above. For LoadedCupti and tests.
CuptiLibrary LoadCupti(const std::string& file);

}  // namespace opscope::cuda
