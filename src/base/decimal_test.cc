// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace opscope {
namespace {

constexpr uint64_t kMaxValue = 4'000'000'000'000'000'000;

// The same by moving the point in the text and comparing texts; nullopt where more than `most`.
std::optional<ScaledDecimal> ByHand(bool is_negative, const std::string& digits, int64_t decimals) {
  std::string all = digits;
  if (decimals < 0) all.append(static_cast<size_t>(-decimals), '0');
  const auto behind = static_cast<size_t>(std::max<int64_t>(decimals, 0));
  if (all.size() <= behind) all.insert(0, behind + 1 - all.size(), '0');
  const std::string rest = all.substr(all.size() - behind);
  std::string whole = all.substr(0, all.size() - behind);
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
  const std::string most = std::to_string(kMaxValue);
  if (whole.size() > most.size() || (whole.size() == most.size() && whole > most)) return std::nullopt;
  return ScaledDecimal{is_negative, std::stoull(whole), rest.empty() ? 0 : rest[0] - '0',
                       rest.find_first_not_of('0') != std::string::npos};
}

TEST(ScaledDecimal, IsWhatMovingThePointByHandGives) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string digits;
    for (int count = 1 + below(24); count > 0; --count)
      digits += static_cast<char>('0' + below(below(2) == 0 ? 2 : 10));
    const int decimals = below(static_cast<unsigned>(digits.size()) + 1), exponent = below(41) - 20, power = below(10);
    std::string text = digits;
    if (decimals != 0) text.insert(digits.size() - static_cast<size_t>(decimals), ".");
    const bool is_negative = below(2) == 0;
    if (is_negative) text.insert(0, "-");
    if (exponent != 0) text += (below(2) == 0 ? "e" : "E") + std::to_string(exponent);
    const auto read = ParseScaledDecimal(text, power, kMaxValue);
    const auto wanted = ByHand(is_negative, digits, decimals - exponent - power);
    ASSERT_EQ(read.has_value(), wanted.has_value()) << text << " power " << power;
    refused += !wanted;
    if (!wanted) continue;
    EXPECT_EQ(read->whole, wanted->whole) << text << " power " << power;
    EXPECT_EQ(read->is_negative, wanted->is_negative) << text;
    EXPECT_EQ(read->first_decimal, wanted->first_decimal) << text << " power " << power;
    EXPECT_EQ(read->has_decimals, wanted->has_decimals) << text << " power " << power;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 15'000);
}

TEST(ScaledDecimal, RefusesWhatDoesNotFit) {
  EXPECT_EQ(ParseScaledDecimal("4000000000000000000", 0, kMaxValue)->whole, kMaxValue);
  EXPECT_FALSE(ParseScaledDecimal("4000000000000000001", 0, kMaxValue));
  EXPECT_FALSE(ParseScaledDecimal("18446744073709551617", 0, kMaxValue));  // 1 in 64 bits
  EXPECT_FALSE(ParseScaledDecimal("18446744073709552", 3, kMaxValue));     // 384
  EXPECT_FALSE(ParseScaledDecimal("1e300", 0, kMaxValue));
  EXPECT_EQ(ParseScaledDecimal("0e300", 9, kMaxValue)->whole, 0u);
}

TEST(ScaledDecimal, RefusesWhatIsNoNumber) {
  for (const char* text : {"",      "-",    ".",     "e3", "1e",  "1e+",   "1e-+2",
                           "1e+-2", "1..2", "1.2.3", "+1", "--1", "1e500", "1e-9223372036854775808",
                           "0x10",  "nan",  "inf",   "1 ", " 1",  "1,5"})
    EXPECT_FALSE(ParseScaledDecimal(text, 0, kMaxValue)) << text;
}

}  // namespace
}  // namespace opscope
