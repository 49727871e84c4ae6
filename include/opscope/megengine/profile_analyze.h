// What MegEngine's profile_analyze computes of operators: those of the longest times, one by one or by type, by its
// rules.
//
// The time of an operator is the longest of its devices (threads). The totals are over all operators whatever is
// chosen. Sums of times are added up in numpy's order, so that their last digits are the original's. What is not known
// ("N/A") is greater than any number and stands last in any order; sums leave it out, means count it as nothing, the
// greatest of values with one that is not known is not known.
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

enum class MegEngineAggregate : uint8_t { kNone, kMax, kMin, kSum, kMean };
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
// "time", "computation", "memory", "flops", "bandwidth", "opr_id", "in_shapes", "out_shapes", by number.
[[nodiscard]] std::span<const std::string_view> MegEngineColumnNames();

struct MegEngineOrder {
  MegEngineColumn column = MegEngineColumn::kTime;
  bool is_ascending = false;
};
// "time": descending, "+time": ascending. Capitals do not matter. kInvalidArgument: there is no such column.
[[nodiscard]] Result<MegEngineOrder> ParseMegEngineOrder(std::string_view text);

struct MegEngineSelection {
  std::vector<std::string> types;                                // any of them; none: all
  std::function<bool(std::string_view name)> name_matches = {};  // none: all
  std::string input_dtype;                                       // of any input; "": all
  double min_time = -std::numeric_limits<double>::infinity();    // seconds
  double max_time = std::numeric_limits<double>::infinity();
  bool is_wait_time = false;  // until the kernel begins, in place of until it ends
  MegEngineAggregate aggregate = MegEngineAggregate::kNone;
  bool by_type = false;  // a group per type; without it one group, "all". REQUIRES: an aggregate
  MegEngineOrder order;
  int64_t top = 0;  // so many of the first; 0: all; negative: all but so many of the last
  bool with_copy_time = false;
};

// A row: an operator, or a group of them.
struct MegEngineRecord {
  const MegEngineOperator* opr = nullptr;  // nullptr: a group
  std::string_view group;                  // its type, or "all"
  size_t count = 1;
  double time = 0;
  std::optional<double> computation;  // 0 is not known
  std::optional<double> memory;

  // Per second; infinite or NaN where the time is 0.
  std::optional<double> flops() const { return PerSecond(computation); }
  std::optional<double> bandwidth() const { return PerSecond(memory); }

 private:
  std::optional<double> PerSecond(std::optional<double> amount) const {
    return amount ? std::optional(*amount / time) : std::nullopt;
  }
};

struct MegEngineCopyTime {
  double total = 0;
  double mean = 0;
};

// Views live as long as the operators.
struct MegEngineAnalysis {
  // Of all operators; nullopt: none has such times.
  std::optional<double> device_time;
  std::optional<double> host_time;
  // Of the chosen operators of type Copy; nullopt: there is none, or it was not asked for.
  std::optional<MegEngineCopyTime> copy_time;
  std::optional<MegEngineCopyTime> copy_wait_time;
  std::vector<MegEngineRecord> device;
  std::vector<MegEngineRecord> host;
  bool is_aggregated = false;  // the records are groups
};

[[nodiscard]] MegEngineAnalysis AnalyzeMegEngineOperators(std::span<const MegEngineOperator> operators,
                                                          const MegEngineSelection& selection);

// The original's refusal: kMalformed where the operators of a graph took no time at all on devices, which then was not
// measured. `name` stands for the file.
[[nodiscard]] Status CheckMegEngineTotal(const MegEngineAnalysis& analysis, bool is_on_opencl, std::string_view name);

}  // namespace opscope
