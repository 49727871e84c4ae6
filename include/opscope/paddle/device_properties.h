// What Paddle's files say of a device: numbers by their field in its protobuf, and as its JSON calls them.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace opscope {

struct PaddleDeviceProperty {
  uint32_t field;
  std::string_view key;
};

inline constexpr uint32_t kPaddleDeviceNameField = 2;  // a text, "name"
// In the order of the JSON, where the name stands behind the first.
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
