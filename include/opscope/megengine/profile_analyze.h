// What MegEngine's profile_analyze computes: the operators with the longest times,
// singly or by type, by its rules.
//
// The time of an operator is the longest over its devices (threads). Totals are
// over all operators, whatever the selection. Times are added in numpy's order, so
// that the last digits agree. An unknown value ("N/A") is greater than any number
// and comes last in any order; sums skip it, means count it as 0, a maximum with an
// unknown value is unknown.
//
//   MegEngineSelection selection;
//   selection.top = 10;
//   const MegEngineAnalysis analysis = AnalyzeMegEngineOperators(operators, selection);
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/megengine/operator_profile.h"
#include "opscope/result.h"

namespace opscope {

// How a group combines its operators.
enum class MegEngineAggregate : uint8_t { kNone, kMax, kMin, kSum, kMean };
// A column to order by.
enum class MegEngineColumn : uint8_t {
  kTime,
  kComputation,
  kMemory,
  kFlops,
  kBandwidth,
  kOperatorId,
  kInShapes,
  kOutShapes,
};
// "time", "computation", "memory", "flops", "bandwidth", "opr_id", "in_shapes",
// "out_shapes", by number.
[[nodiscard]] std::span<const std::string_view> MegEngineColumnNames();

// An order of the result.
struct MegEngineOrder {
  MegEngineColumn column = MegEngineColumn::kTime;
  bool is_ascending = false;
};
// "time": descending, "+time": ascending; case does not matter. kInvalidArgument:
// there is no such column.
[[nodiscard]] Result<MegEngineOrder> ParseMegEngineOrder(std::string_view text);

// Which operators the result has, and in which form.
struct MegEngineSelection {
  // Any of these types; empty: all.
  std::vector<std::string> types;
  // Empty: all names.
  std::function<bool(std::string_view name)> name_matches = {};
  // Type of any input; "": all.
  std::string input_dtype;
  // Bounds of the time in seconds, inclusive.
  double min_time = -std::numeric_limits<double>::infinity();
  double max_time = std::numeric_limits<double>::infinity();
  // Use the time until the kernel begins, instead of the time until it ends.
  bool is_wait_time = false;
  MegEngineAggregate aggregate = MegEngineAggregate::kNone;
  // One group per type; else one group, "all". REQUIRES: an aggregate
  bool by_type = false;
  MegEngineOrder order;
  // The first so many; 0: all; negative: all but the last so many.
  int64_t top = 0;
  // Also compute copy_time and copy_wait_time.
  bool with_copy_time = false;
};

// A row of the result: an operator, or a group.
struct MegEngineRecord {
  // nullptr: a group.
  const MegEngineOperator* opr = nullptr;
  // Type of the group, or "all".
  std::string_view group;
  size_t count = 1;
  // Seconds.
  double time = 0;
  // Floating-point operations; 0 means unknown.
  std::optional<double> computation;
  // Bytes.
  std::optional<double> memory;

  // Operations per second; infinite or NaN if the time is 0. bandwidth: bytes per
  // second, likewise.
  std::optional<double> flops() const { return PerSecond(computation); }
  std::optional<double> bandwidth() const { return PerSecond(memory); }

 private:
  std::optional<double> PerSecond(std::optional<double> amount) const {
    return amount ? std::optional(*amount / time) : std::nullopt;
  }
};

// Seconds.
struct MegEngineCopyTime {
  double total = 0;
  double mean = 0;
};

// The result. Views live as long as the operators.
struct MegEngineAnalysis {
  // Totals over all operators in seconds; nullopt: none has such times.
  std::optional<double> device_time;
  std::optional<double> host_time;
  // Of the selected operators of type Copy; nullopt: there is none, or it was not
  // requested.
  std::optional<MegEngineCopyTime> copy_time;
  std::optional<MegEngineCopyTime> copy_wait_time;
  std::vector<MegEngineRecord> device;
  std::vector<MegEngineRecord> host;
  // True: the records are groups.
  bool is_aggregated = false;
};

// O(n log n). REQUIRES: the operators outlive the result.
[[nodiscard]] MegEngineAnalysis AnalyzeMegEngineOperators(std::span<const MegEngineOperator> operators,
                                                          const MegEngineSelection& selection);

// Fails where the original fails: kMalformed if the operators of a graph took no
// device time at all, which means that they were not measured. `name` names the
// file.
[[nodiscard]] Status CheckMegEngineTotal(const MegEngineAnalysis& analysis, bool is_on_opencl, std::string_view name);

}  // namespace opscope
