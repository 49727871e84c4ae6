// CUPTI's activity records, each turned into a small event of our own (opscope/cuda_event.h): pure functions, so that
// they are tested with records that were made by hand.
//
// A record is read by prefix: the struct of CUPTI 12.1 always, what later ones have behind it where the version of the
// library says that it is there. So a record of a library newer than this is read as far as it is known.
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
  kIncomplete,  // a kernel, a copy or a set without start or end: the device has not finished it, or was not asked
  kLeftOut,     // of a kind that is known and that nothing is made of
  kUnknown,
};

struct DecodedRecord {
  CudaEvent event = CudaEvent::kNone;
  cupti::CallbackDomain domain = cupti::CallbackDomain::kInvalid;  // of calls, whose name is found by details.callback
  uint32_t correlation = 0;
  uint64_t start = 0;          // nanoseconds of CUPTI's clock
  const char* name = nullptr;  // CUPTI's or the driver's; valid while the buffer is
  uint64_t duration = 0;       // not beside start: copied as one piece, the two would be waited for
  uint32_t details_bytes = 0;
  alignas(8) std::byte details[64] = {};  // zeros up to a multiple of eight

  // Room for them, to be filled at once: ::new (RoomFor<Details>()) Details{...}. What is made elsewhere and copied is
  // written and read in pieces of different lengths, for which a processor waits.
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

// version: what the library's GetVersion says. REQUIRES: the record is whole, as ActivityGetNextRecord hands it out.
Decoded Decode(const cupti::Activity* record, uint32_t version, DecodedRecord* decoded);

}  // namespace opscope::cuda
