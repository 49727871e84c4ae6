// Functions and variables are found by their mangled names with dlsym, in two of Paddle's libraries.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/paddle_library.h"

#include <dlfcn.h>

#include <vector>

#include "sources/got/got_entries.h"

namespace opscope {

// The long one names all types that an attribute may have: a Paddle with others has no such function.
const char* const kPaddleSymbols[paddle_layout::kSymbols] = {
    "_ZN3phi11RecordEventC1EPKcNS_15TracerEventTypeEjNS_9EventRoleE",
    "_ZN3phi11RecordEventC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEENS_15TracerEventTypeEjNS_9EventRoleE",
    "_ZN3phi11RecordEvent3EndEv",
    "_ZN3phi11RecordEvent9IsEnabledEv",
    "_ZN3phi22RecordOpInfoSupplementC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKSt6vec"
    "torISt4pairIPKcS9_IN6common4DDimESaISE_EEESaISH_EERKN6paddle13flat_hash_mapIS6_NSM_7variantIJbil"
    "fdS6_S9_IiSaIiEES9_IbSaIbEES9_IlSaIlEES9_IfSaIfEES9_IdSaIdEES9_IS6_SaIS6_EENSM_12experimental10S"
    "calarBaseINS_11DenseTensorEEES9_IS14_SaIS14_EENS11_12IntArrayBaseIS13_EENS_8DataTypeENSD_10DataL"
    "ayoutENS_5PlaceENS_9TensorRefES9_IS1C_SaIS1C_EEEEESt4hashIS6_ESt8equal_toIS6_ESaISA_IS6_S1F_EEEE",
    "_ZN3phi22RecordOpInfoSupplement9IsEnabledEv",
    "_ZN6paddle8platform14RecordMemEventC1EPKvRKN3phi5PlaceEmNS4_18TracerMemEventTypeE",
};

constinit PaddleLibrary paddle;
constinit ReadOnlyRange read_only[2];

namespace {

// The handle of a loaded library, which is never closed. Null: it is not loaded. *literals: its memory before the first
// writable segment.
void* HandleOf(const char* library, ReadOnlyRange* literals) {
  const std::vector<Segment> segments = SegmentsOf(library);
  for (const Segment& segment : segments) {
    if (segment.is_writable) break;
    if (literals->begin == 0) literals->begin = segment.begin;
    literals->end = segment.end;
  }
  Dl_info info;
  if (segments.empty() || dladdr(reinterpret_cast<void*>(segments.front().begin), &info) == 0) return nullptr;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

template <typename Pointer>
bool Find(void* library, const char* symbol, Pointer* found) {
  if (*found == nullptr) *found = reinterpret_cast<Pointer>(dlsym(library, symbol));
  return *found != nullptr;
}

// Null: what the part needs is there.
const char* FindIn(void* core, void* python, PaddlePart part) {
  using namespace paddle_layout;
  constexpr const char* kLevel = "_ZZN3phi14HostTraceLevel11GetInstanceEvE8instance";
  bool found = false;
  switch (part) {
    case PaddlePart::kHooks:
      found = Find(core, kPaddleSymbols[kBeginStatic], &paddle.begin_static) &&
              Find(core, kPaddleSymbols[kBeginCopied], &paddle.begin_copied) &&
              Find(core, kPaddleSymbols[kEnd], &paddle.end) &&
              Find(core, kPaddleSymbols[kIsEnabled], &paddle.is_enabled) && Find(core, kLevel, &paddle.level);
      Find(core, "_ZN12paddle_flags22FLAGS_host_trace_levelE", &paddle.wanted_level);
      return found ? nullptr : "this Paddle lacks a function of phi::RecordEvent, or has it with other arguments";
    case PaddlePart::kShapes:
    case PaddlePart::kAttributes:
      found = Find(core, kPaddleSymbols[kOpInfo], &paddle.op_info) &&
              Find(core, kPaddleSymbols[kOpInfoIsEnabled], &paddle.op_info_is_enabled);
      return found ? nullptr : "this Paddle lacks a function of RecordOpInfoSupplement, or has it with other arguments";
    case PaddlePart::kMemory:
      found = Find(core, kPaddleSymbols[kMemory], &paddle.memory);
      Find(core,
           "_ZN6paddle6memory26HostMemoryStatCurrentValueERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEi",
           &paddle.memory_now);
      Find(core, "_ZN6paddle6memory23HostMemoryStatPeakValueERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEi",
           &paddle.memory_peak);
      return found ? nullptr : "this Paddle lacks RecordMemEvent, or has it with other arguments";
    case PaddlePart::kDrain:
      found = Find(core, kLevel, &paddle.level) &&
              Find(core, "_ZZN3phi17HostEventRecorderINS_11CommonEventEE11GetInstanceEvE8instance", &paddle.recorder) &&
              Find(core, "_ZN6paddle8platform23EnableHostEventRecorderEv", &paddle.enable_recorder) &&
              Find(core, "_ZN6paddle8platform24DisableHostEventRecorderEv", &paddle.disable_recorder) &&
              Find(python, "_ZN3phi17HostEventRecorderINS_11CommonEventEE12GatherEventsEv", &paddle.gather) &&
              Find(core, kPaddleSymbols[kBeginCopied], &paddle.begin_copied) &&
              Find(core, kPaddleSymbols[kEnd], &paddle.end);
      Find(core, "_ZN12paddle_flags22FLAGS_host_trace_levelE", &paddle.wanted_level);
      return found ? nullptr : "this Paddle lacks a function of its recorder of events";
    case PaddlePart::kNative:
    case PaddlePart::kWrappers:
      break;
  }
  return "opscope has no such part";
}

}  // namespace

const char* FindPaddle(PaddlePart part) {
  if (part == PaddlePart::kNative || part == PaddlePart::kWrappers) return nullptr;  // by Python
  static void* core = nullptr;
  static void* python = nullptr;
  if (core == nullptr) core = HandleOf(kPaddleLibraries[0], &read_only[0]);
  if (python == nullptr) python = HandleOf(kPaddleLibraries[1], &read_only[1]);
  if (core == nullptr || python == nullptr) return "libphi_core.so and libpaddle.so of Paddle 3 are not in the process";
  return FindIn(core, python, part);
}

}  // namespace opscope
