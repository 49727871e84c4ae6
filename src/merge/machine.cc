// Finds out whether two inputs were timed by one wall clock, and how well.
// A recording of opscope has the boot id of its machine and, per window, a reading (monotonic clock, wall clock,
// doubt). Wall minus monotonic is constant until the clock is set, so the range of that difference over both inputs
// bounds how far the clock was set between them: offsets 1000 and 1400 ns with readings good to 100 ns bound it by 400
// + 200 ns plus the error of the tick conversion. Files of torch tell a host name alone; names repeat ("localhost"), so
// they prove nothing and get the general bound.
// SPDX-License-Identifier: Apache-2.0
#include "merge/machine.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/metadata_keys.h"

namespace opscope {
namespace {

// The error of converting ticks into monotonic time, per recording: the recorder compares the clocks every second, in
// which they drift apart by at most 640 ns, and each comparison errs by some tens of ns.
constexpr int64_t kTicksWithinNs = 1000;
// Readings above this (146 years) are refused, so that sums do not overflow.
constexpr int64_t kMaxNs = INT64_MAX / 2;

std::string_view MetadataText(const Trace& trace, std::string_view key) {
  const MetadataColumns& rows = trace.metadata();
  for (size_t row = 0; row < rows.size(); ++row) {
    if (trace.text(rows.key[row]) == key) return trace.text(rows.json[row]);
  }
  return {};
}

// `"node7"` from `["node7"]`; empty if the array has several elements.
std::string_view OnlyElement(std::string_view json) {
  if (json.size() < 2 || json.front() != '[' || json.find(',') != std::string_view::npos) return {};
  json = json.substr(1, json.size() - 2);
  const size_t first = json.find('"'), last = json.rfind('"');
  return first == last ? std::string_view() : json.substr(first, last + 1 - first);
}

// All numbers of an array of arrays, flattened; empty if one is not acceptable.
std::vector<int64_t> NumbersIn(std::string_view json) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; (at = json.find_first_of("-0123456789", at)) < json.size();) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(json.data() + at, json.data() + json.size(), number);
    if (error != std::errc() || number > kMaxNs || number < 0) return {};
    numbers.push_back(number);
    at = static_cast<size_t>(end - json.data());
  }
  return numbers;
}

WallOffsets Both(const WallOffsets& a, const WallOffsets& b) {
  return {std::min(a.least_ns, b.least_ns), std::max(a.most_ns, b.most_ns), std::max(a.within_ns, b.within_ns)};
}

std::optional<WallOffsets> OffsetsIn(std::string_view json) {
  const std::vector<int64_t> numbers = NumbersIn(json);
  if (numbers.empty() || numbers.size() % 3 != 0) return std::nullopt;
  std::optional<WallOffsets> offsets;
  for (size_t i = 0; i < numbers.size(); i += 3) {
    const int64_t offset = numbers[i + 1] - numbers[i];
    const WallOffsets one{offset, offset, numbers[i + 2]};
    offsets = offsets ? Both(*offsets, one) : one;
  }
  return offsets;
}

}  // namespace

Machine MachineOf(const Trace& trace) {
  Machine machine;
  machine.boot = MetadataText(trace, kBootKey);
  machine.host = MetadataText(trace, kHostKey);
  if (machine.host.empty()) machine.host = OnlyElement(MetadataText(trace, kXlaHostsKey));
  if (machine.host.starts_with("\"localhost") || machine.host == "\"\"")
    machine.host.clear();  // every machine may have this name
  machine.offsets = OffsetsIn(MetadataText(trace, kWallClockKey));
  return machine;
}

Machine CommonMachine(const Machine& a, const Machine& b) {
  Machine common;
  if (a.boot == b.boot) common.boot = a.boot;
  if (a.host == b.host) common.host = a.host;
  if (a.offsets && b.offsets) common.offsets = Both(*a.offsets, *b.offsets);
  return common;
}

std::optional<WallBound> BoundBetween(const Machine& a, const Machine& b, int64_t max_difference_ns) {
  const bool both_boots = !a.boot.empty() && !b.boot.empty();
  if (both_boots ? a.boot != b.boot : a.host.empty() || a.host != b.host) return std::nullopt;
  if (!both_boots || !a.offsets || !b.offsets) return WallBound{max_difference_ns, false};
  const int64_t difference =
      std::max(a.offsets->most_ns - b.offsets->least_ns, b.offsets->most_ns - a.offsets->least_ns);
  const int64_t doubt =
      std::min(a.offsets->within_ns, kMaxNs / 8) + std::min(b.offsets->within_ns, kMaxNs / 8) + 2 * kTicksWithinNs;
  return WallBound{std::min(difference, kMaxNs / 2) + doubt, true};
}

}  // namespace opscope
