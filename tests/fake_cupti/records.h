// Sizes of records in the simulated version of CUPTI, and the function that walks over a buffer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "later_records.h"
#include "scenario.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {

inline constexpr cupti::ActivityKind kUnknownKind{777};
inline constexpr std::size_t kLargestRecord = 320;  // of 13.5 and a scenario's `longer`

// Bytes of a record in a buffer; 0 for a kind that the library does not have.
std::size_t SizeOfRecord(const Scenario& scenario, cupti::ActivityKind kind);

// ActivityGetNextRecord's work.
cupti::Result NextRecord(const Scenario& scenario, std::uint8_t* buffer, std::size_t valid_size,
                         cupti::Activity** record);

// A record of the newest struct that has `T` at its begin; what the library writes is cut from it or lengthened.
template <class T>
struct Record {
  alignas(8) std::uint8_t bytes[kLargestRecord]{};
  Record() = default;
  T& operator*() { return *reinterpret_cast<T*>(bytes); }
  T* operator->() { return reinterpret_cast<T*>(bytes); }
};

}  // namespace fake
