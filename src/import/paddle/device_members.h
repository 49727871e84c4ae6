// Facts about device work in Paddle's files, as members of a JSON object: first the members of Paddle's JSON, then
// those that only its protobuf has, which the exporter needs.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_object.h"

namespace opscope {

// KernelEventInfoProto of the protobuf: fields 1 to 14, and 15 to 17.
struct PaddleKernelFields {
  uint64_t numbers[15] = {};
  float fractions[3] = {};
};

// The functions append members.
void WritePaddleKernel(const PaddleKernelFields& kernel, JsonMemberWriter* members);
// Leaves out a text that is empty, not UTF-8, or has control characters, because Paddle does not initialise some texts.
void WritePaddleTextIfAny(std::string_view key, std::string_view text, JsonMemberWriter* members);
void WritePaddleNumberIfAny(std::string_view key, uint64_t value, JsonMemberWriter* members);

}  // namespace opscope
