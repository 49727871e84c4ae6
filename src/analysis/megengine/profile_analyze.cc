// MegEngine's profile_analyze: chooses operators by type, name and dtype, filters them by time, groups them, and orders
// and cuts the rows. Each operator has times on several devices, of which the longest counts. Sums use numpy's order of
// additions (array_math.h), and unknown amounts propagate as in Python: one unknown makes a maximum unknown, but is
// skipped in a sum. So the output equals the original's to the last character.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/megengine/profile_analyze.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/megengine/array_math.h"
#include "analysis/megengine/record_order.h"

namespace opscope {
namespace {

using Records = std::vector<MegEngineRecord>;
using Times = std::vector<MegEngineTime>;

struct TimeOf {
  Times MegEngineOperator::* times = nullptr;
  bool is_wait_time = false;

  // The longest time over all devices or threads; nullopt if the operator ran on none.
  std::optional<double> operator()(const MegEngineOperator& opr) const {
    const Times& places = opr.*times;
    if (places.empty()) return std::nullopt;
    double longest = Of(places.front());
    for (const MegEngineTime& place : places) {
      const double time = Of(place);
      if (time > longest || std::isnan(time)) longest = time;
    }
    return longest;
  }

 private:
  double Of(const MegEngineTime& place) const { return is_wait_time ? place.wait : place.whole; }
};

std::optional<double> KnownComputation(std::optional<double> computation) {
  return computation == 0.0 ? std::nullopt : computation;
}

double AggregateTimes(MegEngineAggregate aggregate, std::span<const double> times) {
  switch (aggregate) {
    case MegEngineAggregate::kMax:
      return MaxWithNan(times);
    case MegEngineAggregate::kMin:
      return MinWithNan(times);
    case MegEngineAggregate::kMean:
      return PairwiseSum(times) / static_cast<double>(times.size());
    case MegEngineAggregate::kSum:
    case MegEngineAggregate::kNone:
      break;
  }
  return PairwiseSum(times);
}

// Computations or bytes of a group, some of which may be unknown.
struct Amounts {
  std::vector<double> known;
  size_t count = 0;

  void Add(std::optional<double> amount) {
    if (amount) known.push_back(*amount);
    ++count;
  }

  std::optional<double> Aggregate(MegEngineAggregate aggregate) const {
    if (known.empty()) return std::nullopt;
    const bool all_known = known.size() == count;
    if (aggregate == MegEngineAggregate::kMax) return all_known ? std::optional(MaxWithNan(known)) : std::nullopt;
    if (aggregate == MegEngineAggregate::kMin) return MinWithNan(known);
    const double sum = all_known ? PairwiseSum(known) : SequentialSum();
    return aggregate == MegEngineAggregate::kMean ? sum / static_cast<double>(count) : sum;
  }

 private:
  // numpy adds an array of Python objects (numbers and None) one by one, not pairwise.
  double SequentialSum() const {
    double sum = 0;
    for (const double amount : known)
      sum += amount;
    return sum;
  }
};

struct Group {
  std::string_view name;
  std::vector<double> times;
  Amounts computation, memory;
};

Records Aggregated(const Records& records, MegEngineAggregate aggregate, bool by_type) {
  std::vector<Group> groups;
  std::unordered_map<std::string_view, size_t> rows;
  for (const MegEngineRecord& record : records) {
    const std::string_view name = by_type ? std::string_view(record.opr->type) : "all";
    const auto [row, added] = rows.try_emplace(name, groups.size());
    if (added) groups.push_back({.name = name, .times = {}, .computation = {}, .memory = {}});
    Group& group = groups[row->second];
    group.times.push_back(record.time);
    group.computation.Add(record.computation);
    group.memory.Add(record.memory);
  }
  Records aggregated;
  for (const Group& group : groups) {
    aggregated.push_back({.opr = nullptr,
                          .group = group.name,
                          .count = group.times.size(),
                          .time = AggregateTimes(aggregate, group.times),
                          .computation = KnownComputation(group.computation.Aggregate(aggregate)),
                          .memory = group.memory.Aggregate(aggregate)});
  }
  return aggregated;
}

class Chooser {
 public:
  Chooser(std::span<const MegEngineOperator> operators, const MegEngineSelection& selection)
      : operators_(operators), selection_(selection) {
    chosen_.reserve(operators.size());
    for (const MegEngineOperator& opr : operators)
      chosen_.push_back(IsChosen(opr) ? 1 : 0);
  }

  std::optional<double> TotalOf(TimeOf time_of) const {
    std::vector<double> times;
    for (const MegEngineOperator& opr : operators_)
      if (const auto time = time_of(opr)) times.push_back(*time);
    return times.empty() ? std::nullopt : std::optional(PairwiseSum(times));
  }

  std::optional<MegEngineCopyTime> CopyTime(TimeOf time_of) const {
    std::vector<double> times;
    for (size_t i = 0; i < operators_.size(); ++i) {
      if (chosen_[i] == 0 || operators_[i].type != "Copy") continue;
      if (const auto time = time_of(operators_[i])) times.push_back(*time);
    }
    if (times.empty()) return std::nullopt;
    return MegEngineCopyTime{.total = PairwiseSum(times), .mean = AggregateTimes(MegEngineAggregate::kMean, times)};
  }

  Records RecordsOf(TimeOf time_of) const {
    Records records;
    for (size_t i = 0; i < operators_.size(); ++i) {
      const MegEngineOperator& opr = operators_[i];
      if (chosen_[i] == 0) continue;
      const auto time = time_of(opr);
      if (!time || *time < selection_.min_time || *time > selection_.max_time) continue;
      records.push_back({.opr = &opr,
                         .group = opr.type,
                         .time = *time,
                         .computation = KnownComputation(opr.computation),
                         .memory = opr.memory});
    }
    if (selection_.aggregate != MegEngineAggregate::kNone)
      records = Aggregated(records, selection_.aggregate, selection_.by_type);
    SortMegEngineRecords(selection_.order, &records);
    records.resize(CountShown(records.size()));
    return records;
  }

 private:
  bool IsChosen(const MegEngineOperator& opr) const {
    const auto is = [](std::string_view wanted) {
      return [wanted](const std::string& text) { return text == wanted; };
    };
    const std::vector<std::string>& types = selection_.types;
    if (!types.empty() && std::none_of(types.begin(), types.end(), is(opr.type))) return false;
    if (selection_.name_matches && !selection_.name_matches(opr.name)) return false;
    const std::vector<std::string>& dtypes = opr.input_dtypes;
    return selection_.input_dtype.empty() || std::any_of(dtypes.begin(), dtypes.end(), is(selection_.input_dtype));
  }

  size_t CountShown(size_t count) const {
    const auto all = static_cast<int64_t>(count);
    if (selection_.top == 0) return count;
    if (selection_.top > 0) return static_cast<size_t>(std::min(all, selection_.top));
    return selection_.top <= -all ? 0 : static_cast<size_t>(all + selection_.top);
  }

  std::span<const MegEngineOperator> operators_;
  const MegEngineSelection& selection_;
  std::vector<uint8_t> chosen_;  // by operator
};

}  // namespace

MegEngineAnalysis AnalyzeMegEngineOperators(std::span<const MegEngineOperator> operators,
                                            const MegEngineSelection& selection) {
  const Chooser chooser(operators, selection);
  const TimeOf device = {&MegEngineOperator::device}, host = {&MegEngineOperator::host};
  const TimeOf device_wait = {&MegEngineOperator::device, true}, host_wait = {&MegEngineOperator::host, true};
  MegEngineAnalysis analysis;
  analysis.device_time = chooser.TotalOf(device);
  analysis.host_time = chooser.TotalOf(host);
  if (selection.with_copy_time) {
    analysis.copy_time = chooser.CopyTime(device);
    analysis.copy_wait_time = chooser.CopyTime(device_wait);
  }
  analysis.device = chooser.RecordsOf(selection.is_wait_time ? device_wait : device);
  analysis.host = chooser.RecordsOf(selection.is_wait_time ? host_wait : host);
  analysis.is_aggregated = selection.aggregate != MegEngineAggregate::kNone;
  return analysis;
}

Status CheckMegEngineTotal(const MegEngineAnalysis& analysis, bool is_on_opencl, std::string_view name) {
  if (analysis.device_time != 0.0) return {};
  return Error{ErrorCode::kMalformed,
               std::string(name) + ": total device time should not be 0: the times of devices were not measured" +
                   (is_on_opencl ? "; call mgb::CompNode::enable_opencl_profile(true) before profiling" : ""),
               0};
}

}  // namespace opscope
