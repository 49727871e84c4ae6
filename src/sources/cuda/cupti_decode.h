// Decodes CUPTI's activity records into small events of opscope's own (opscope/cuda_event.h). The functions are pure,
// so tests can use hand-made records.
//
// The decoder reads a prefix of each record: always the struct of CUPTI 12.1, and the members that later versions
// append if the version of the library has them. From a library newer than this code it reads the members that it
// knows.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "opscope/cuda_event.h"
#include "sources/cuda/cupti_abi.h"

namespace opscope::cuda {

enum class Decoded : uint8_t {
  kWhole,
  kIncomplete,  // a kernel, a copy or a set without start or end: unfinished, or not timed by the device
  kLeftOut,     // a known kind that opscope does not record
  kUnknown,
};

struct DecodedRecord {
  CudaEvent event = CudaEvent::kNone;
  // The domain of a call; CUPTI names the call by it and details.callback.
  cupti::CallbackDomain domain = cupti::CallbackDomain::kInvalid;
  uint32_t correlation = 0;
  uint64_t start = 0;          // nanoseconds of CUPTI's clock
  const char* name = nullptr;  // owned by CUPTI or the driver; valid while the buffer is
  uint64_t duration = 0;       // ns; apart from `start`, so that the compiler does not copy both by one stalling load
  uint32_t details_bytes = 0;
  alignas(8) std::byte details[64] = {};  // zeros up to a multiple of eight

  bool is_call() const { return event == CudaEvent::kRuntimeCall || event == CudaEvent::kDriverCall; }

  // Memory for the details, to construct them in place: ::new (RoomFor<Details>()) Details{...}. A temporary that is
  // copied would be stored and loaded in pieces of different sizes, which defeats store forwarding.
  template <typename Details>
  void* RoomFor() {
    static_assert(sizeof(Details) <= sizeof(details) && std::is_trivially_copyable_v<Details>);
    static_assert(std::has_unique_object_representations_v<Details>, "equal ones are found by their bytes");
    if constexpr (sizeof(Details) % 8 != 0) std::memset(details + sizeof(Details), 0, 8 - sizeof(Details) % 8);
    details_bytes = sizeof(Details);
    return details;
  }
  template <typename Details>
  void SetDetails(const Details& from) {
    std::memcpy(RoomFor<Details>(), &from, sizeof(from));
  }
  template <typename Details>
  Details DetailsAs() const {
    Details copy;
    std::memcpy(&copy, details, sizeof(copy));
    return copy;
  }
};

// version: result of the library's GetVersion. REQUIRES: `record` comes from ActivityGetNextRecord.
Decoded Decode(const cupti::Activity* record, uint32_t version, DecodedRecord* decoded);

}  // namespace opscope::cuda
