// Joins the two sides row by row and decides which differences are more than chance.
//
//   aten::mm per step, A: 100, 110, 120, B: 140, 150, 160    delta 40, 95 % between 17 and 63, p 0.008: slower
//
// A row alone could be judged by p <= 0.05. Of a thousand rows that did not change, fifty would then be "slower" or
// "faster". The Benjamini-Hochberg procedure bounds the share of such rows among those that it names.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/diff.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/diff_side.h"
#include "analysis/welch.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr std::string_view kDiffKeyNames[] = {"name", "shape", "kernel", "module", "step"};
constexpr double kFalseDiscoveryRate = 0.05;

int64_t RoundedToNearest(double value) {
  return ClampToInt64(std::round(value));
}

Difference DifferenceOf(const MeanDifference& means) {
  Difference difference;
  difference.delta_ns = RoundedToNearest(means.delta);
  if (means.test) {
    difference.low_ns = RoundedToNearest(means.test->low);
    difference.high_ns = RoundedToNearest(means.test->high);
    difference.p = means.test->p;
  }
  return difference;
}

}  // namespace

class RunComparison::State {
 public:
  State(const DiffOptions& options, bool samples_are_runs)
      : options_(options), a_(samples_are_runs), b_(samples_are_runs) {
    result_.by = options.by;
  }

  void BeginRun(Side side) { SideOf(side).BeginRun(); }
  void Add(Side side, const Trace& trace) { SideOf(side).Add(trace, options_, &keys_); }

  TraceDiff Compare() {
    a_.Finish();
    b_.Finish();
    CompareRows();
    JudgeRows();
    std::sort(result_.rows.begin(), result_.rows.end(), [](const DiffRow& x, const DiffRow& y) {
      const uint64_t size_x = SizeOf(x), size_y = SizeOf(y);
      return size_x != size_y ? size_x > size_y : std::tie(x.name, x.key) < std::tie(y.name, y.key);
    });
    CompareSteps();
    CompareMemory();
    return std::move(result_);
  }

 private:
  DiffSide& SideOf(Side side) { return side == Side::kA ? a_ : b_; }
  bool has_samples() const { return a_.sample_count() > 0 && b_.sample_count() > 0; }

  static uint64_t SizeOf(const DiffRow& row) {
    const auto delta = static_cast<uint64_t>(row.difference.delta_ns);
    return row.difference.delta_ns < 0 ? 0 - delta : delta;
  }

  void CompareRows() {
    std::vector<DiffKeys::Key> keys = keys_.TakeKeys();
    result_.rows.reserve(keys.size());
    signs_.reserve(keys.size());
    for (size_t number = 0; number < keys.size(); ++number) {
      DiffRow& row = result_.rows.emplace_back();
      row.name = std::move(keys[number].name);
      row.key = std::move(keys[number].key);
      row.a = a_.SumsOf(number);
      row.b = b_.SumsOf(number);
      if (has_samples()) {
        const MeanDifference means = CompareMeans(a_.SelfTimes(number), b_.SelfTimes(number));
        row.difference = DifferenceOf(means);
        signs_.push_back(means.delta);
      } else {
        row.difference.delta_ns = SaturatingSubtract(row.b.self_ns, row.a.self_ns);
        signs_.push_back(0);
      }
    }
  }

  // REQUIRES: the rows are in the order of signs_.
  void JudgeRows() {
    std::vector<double> p_values;
    for (const DiffRow& row : result_.rows)
      if (row.difference.p) p_values.push_back(*row.difference.p);
    const std::vector<uint8_t> rejected = RejectedByBenjaminiHochberg(p_values, kFalseDiscoveryRate);
    size_t tested = 0;
    for (size_t number = 0; number < result_.rows.size(); ++number) {
      DiffRow& row = result_.rows[number];
      const bool is_rejected = row.difference.p && rejected[tested++] != 0;
      if (row.a.count == 0) {
        row.status = DiffStatus::kNew;
      } else if (row.b.count == 0) {
        row.status = DiffStatus::kVanished;
      } else if (is_rejected && signs_[number] != 0) {
        row.status = signs_[number] > 0 ? DiffStatus::kSlower : DiffStatus::kFaster;
      }
    }
  }

  void CompareSteps() {
    DiffSteps& steps = result_.steps;
    const SampleMoments a = a_.StepDurations(), b = b_.StepDurations();
    const auto mean = [](const SampleMoments& durations) -> std::optional<int64_t> {
      if (durations.count() == 0) return std::nullopt;
      return ClampToInt64(static_cast<double>(std::floor(durations.mean())));
    };
    steps.a_count = a.count();
    steps.b_count = b.count();
    steps.a_mean_ns = mean(a);
    steps.b_mean_ns = mean(b);
    if (has_samples()) steps.difference = DifferenceOf(CompareMeans(a, b));
  }

  void CompareMemory() {
    std::map<MemoryPlace, DiffMemory> devices;
    for (const auto& [device, peak] : a_.memory_peaks())
      devices[device].a_peak_bytes = peak;
    for (const auto& [device, peak] : b_.memory_peaks())
      devices[device].b_peak_bytes = peak;
    for (auto& [device, row] : devices) {
      row.rank = device.rank;
      row.device_type = device.device_type;
      row.device = device.device;
      result_.memory.push_back(row);
    }
  }

  const DiffOptions options_;
  DiffKeys keys_;
  DiffSide a_, b_;
  TraceDiff result_;
  std::vector<double> signs_;  // by row: the difference before it is rounded; 0 without steps
};

RunComparison::RunComparison(const DiffOptions& options, bool samples_are_runs)
    : state_(std::make_unique<State>(options, samples_are_runs)) {
}

RunComparison::RunComparison(RunComparison&&) noexcept = default;
RunComparison::~RunComparison() = default;

void RunComparison::BeginRun(Side side) {
  state_->BeginRun(side);
}

void RunComparison::Add(Side side, const Trace& trace) {
  state_->Add(side, trace);
}

TraceDiff RunComparison::Compare() && {
  return state_->Compare();
}

std::string_view DiffStatusName(DiffStatus status) {
  constexpr std::string_view kStatuses[] = {"new", "vanished", "slower", "faster", "matched"};
  return kStatuses[static_cast<size_t>(status)];
}

std::span<const std::string_view> DiffKeyNames() {
  return kDiffKeyNames;
}

std::optional<DiffKey> DiffKeyFromName(std::string_view name) {
  const auto* const found = std::find(std::begin(kDiffKeyNames), std::end(kDiffKeyNames), name);
  if (found == std::end(kDiffKeyNames)) return std::nullopt;
  return static_cast<DiffKey>(found - std::begin(kDiffKeyNames));
}

TraceDiff DiffRuns(std::span<const Trace* const> a, std::span<const Trace* const> b, const DiffOptions& options) {
  RunComparison runs(options, a.size() > 1 || b.size() > 1);
  const auto add = [&](RunComparison::Side side, std::span<const Trace* const> traces) {
    for (const Trace* trace : traces) {
      runs.BeginRun(side);
      runs.Add(side, *trace);
    }
  };
  add(RunComparison::Side::kA, a);
  add(RunComparison::Side::kB, b);
  return std::move(runs).Compare();
}

TraceDiff DiffTraces(const Trace& a, const Trace& b, const DiffOptions& options) {
  const Trace *const one[] = {&a}, *const other[] = {&b};
  return DiffRuns(one, other, options);
}

}  // namespace opscope
