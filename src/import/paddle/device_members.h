// What Paddle's files say of the work of a device, as members of a JSON object: first those of its JSON, then those
// that only its protobuf has, which its exporter needs.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_object.h"

namespace opscope {

// Of the protobuf's KernelEventInfoProto: fields 1 to 14, and 15 to 17.
struct PaddleKernelFields {
  uint64_t numbers[15] = {};
  float fractions[3] = {};
};

// Each appends.
void WritePaddleKernel(const PaddleKernelFields& kernel, JsonMemberWriter* members);
// A text that is "" or none, as Paddle leaves some of them as it finds the memory, is left out.
void WritePaddleTextIfAny(std::string_view key, std::string_view text, JsonMemberWriter* members);
void WritePaddleNumberIfAny(std::string_view key, uint64_t value, JsonMemberWriter* members);

}  // namespace opscope
