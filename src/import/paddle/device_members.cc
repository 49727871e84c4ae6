// Paddle's JSON rounds three fractions to six or three decimals. If a fraction changes by this, it is also written
// exactly ("exact occupancy"), so that an exported protobuf has the same bits.
// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/device_members.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/text.h"

namespace opscope {

void WritePaddleNumberIfAny(std::string_view key, uint64_t value, JsonMemberWriter* members) {
  if (value != 0) members->Uint(key, value);
}

void WritePaddleTextIfAny(std::string_view key, std::string_view text, JsonMemberWriter* members) {
  const bool is_text = IsUtf8(text) && std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' '; });
  if (!text.empty() && is_text) members->Text(key, text);
}

void WritePaddleKernel(const PaddleKernelFields& kernel, JsonMemberWriter* members) {
  const auto& [numbers, fractions] = kernel;
  members->Uint("registers per thread", numbers[9])
      .Uint("shared memory", numbers[7] + numbers[8])
      .Fixed("blocks per SM", static_cast<double>(fractions[0]), 6)
      .Fixed("warps per SM", static_cast<double>(fractions[1]), 6)
      .Uints("grid", numbers + 4, 3)
      .Uints("block", numbers + 1, 3)
      .Fixed("theoretical achieved occupancy %", static_cast<double>(fractions[2]) * 100, 3);
  WritePaddleNumberIfAny("dynamic shared memory", numbers[7], members);
  WritePaddleNumberIfAny("local memory per thread", numbers[10], members);
  WritePaddleNumberIfAny("local memory total", numbers[11], members);
  WritePaddleNumberIfAny("queued", numbers[12], members);
  WritePaddleNumberIfAny("submitted", numbers[13], members);
  WritePaddleNumberIfAny("completed", numbers[14], members);
  constexpr const char* kExact[] = {"exact blocks per SM", "exact warps per SM", "exact occupancy"};
  for (int i = 0; i < 3; ++i) {
    const double exact = static_cast<double>(fractions[i]);
    std::string shown;
    JsonMemberWriter(&shown, JsonMemberWriter::kSpaced).Fixed("", i < 2 ? exact : exact * 100, i < 2 ? 6 : 3);
    float read = 0;  // not by strtof, which depends on the program's locale
    std::from_chars(shown.data() + std::string_view("\"\": ").size(), shown.data() + shown.size(), read);
    if ((i < 2 ? read : read / 100) != fractions[i] && std::isfinite(fractions[i])) members->Double(kExact[i], exact);
  }
}

}  // namespace opscope
