// The device properties of Paddle's files: their field numbers in its protobuf, and
// their keys in its JSON. Reader and writer of both formats share this list, so
// that a property that one of them knows is never lost by another.
//
//   for (const PaddleDeviceProperty& property : kPaddleDeviceProperties)
//     Print(property.field, property.key);   // 1 "id", 3 "totalGlobalMem", ...
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace opscope {

// A numeric property.
struct PaddleDeviceProperty {
  // Field number in Paddle's protobuf.
  uint32_t field;
  // Key in Paddle's JSON.
  std::string_view key;
};

// Field number of the name, a text whose JSON key is "name".
inline constexpr uint32_t kPaddleDeviceNameField = 2;
// In the order of the JSON, which has the name after the first entry.
inline constexpr PaddleDeviceProperty kPaddleDeviceProperties[] = {
    {1, "id"},
    {3, "totalGlobalMem"},
    {4, "computeMajor"},
    {5, "computeMinor"},
    {6, "maxThreadsPerBlock"},
    {7, "maxThreadsPerMultiprocessor"},
    {8, "regsPerBlock"},
    {9, "regsPerMultiprocessor"},
    {10, "warpSize"},
    {11, "sharedMemPerBlock"},
    {12, "sharedMemPerMultiprocessor"},
    {13, "smCount"},
    {14, "sharedMemPerBlockOptin"},
};

}  // namespace opscope
