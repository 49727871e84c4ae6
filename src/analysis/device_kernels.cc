// Summarizes kernels by device and name: times, the most frequent launch configuration, mean occupancy, and the
// operator that spent most time in the kernel. Launch parameters are parsed once per distinct text, since a kernel that
// is launched repeatedly shares its members' text.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/device_kernels.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/device_report.h"
#include "base/json_members.h"
#include "base/parse_whole.h"
#include "base/saturating.h"

namespace opscope {
namespace {

using Three = std::array<uint64_t, 3>;

// Parses "[8, 16, 5]"; nullopt if it is not of this form.
std::optional<Three> ReadThree(std::string_view text) {
  Three three{};
  size_t count = 0;
  for (size_t at = text.find_first_of("0123456789"); at < text.size(); at = text.find_first_of("0123456789", at)) {
    if (count == three.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), three[count++]);
    if (error != std::errc()) return std::nullopt;
    at = static_cast<size_t>(end - text.data());
  }
  if (count != three.size() || !text.starts_with('[')) return std::nullopt;
  return three;
}

std::string TextOf(const Three& three) {
  return std::to_string(three[0]) + "x" + std::to_string(three[1]) + "x" + std::to_string(three[2]);
}

// The launch parameters in a kernel's members.
struct Launch {
  std::optional<std::pair<Three, Three>> grid_and_block;
  std::optional<double> occupancy;
};

Launch ReadLaunch(std::string_view members) {
  Launch launch;
  std::optional<Three> grid, block;
  ForEachJsonMember(members, [&](std::string_view key, std::string_view value) {
    if (key == "grid") grid = ReadThree(value);
    if (key == "block") block = ReadThree(value);
    if (key == "est. achieved occupancy %" || key == "theoretical achieved occupancy %")
      if (const auto percent = ParseWhole<double>(value); percent) launch.occupancy = *percent;
    return true;
  });
  if (grid && block) launch.grid_and_block.emplace(*grid, *block);
  return launch;
}

// Caches Launch by the id of the members' text.
class Launches {
 public:
  explicit Launches(const Trace& trace) : trace_(trace) {}
  const Launch& Of(StringId members) {
    const auto [found, is_new] = numbers_.try_emplace(static_cast<uint32_t>(members), launches_.size());
    if (is_new) launches_.push_back(members == StringId::kNone ? Launch() : ReadLaunch(trace_.text(members)));
    return launches_[found->second];
  }

 private:
  const Trace& trace_;
  tsl::robin_map<uint32_t, size_t> numbers_;
  std::vector<Launch> launches_;
};

struct Kernels {
  DeviceKernelRow row;
  std::map<std::pair<Three, Three>, uint64_t> launches;  // number of launches by grid and block
  std::map<StringId, int64_t> operators;                 // time in ns by name of the operator
  double occupancies = 0;
  uint64_t with_occupancy = 0;
};

void Add(const Trace& trace, const DeviceWork& work, const Launch& launch, Kernels* kernels) {
  DeviceKernelRow& row = kernels->row;
  const int64_t duration = SaturatingSubtract(work.time.end, work.time.begin);
  row.min_ns = row.count == 0 ? duration : std::min(row.min_ns, duration);
  row.max_ns = std::max(row.max_ns, duration);
  row.total_ns = SaturatingAdd(row.total_ns, duration);
  row.uses_tensor_cores = work.uses_tensor_cores;
  row.eligible += work.is_eligible ? 1 : 0;
  ++row.count;
  if (launch.grid_and_block) ++kernels->launches[*launch.grid_and_block];
  if (launch.occupancy) {
    kernels->occupancies += *launch.occupancy;
    ++kernels->with_occupancy;
  }
  if (work.operator_span == SpanId::kNone) return;
  int64_t& time = kernels->operators[trace.spans().name[Row(work.operator_span)]];
  time = SaturatingAdd(time, duration);
}

DeviceKernelRow Finish(const Trace& trace, Kernels* kernels) {
  DeviceKernelRow& row = kernels->row;
  for (const auto& [launch, count] : kernels->launches) {
    if (count <= row.alike) continue;
    row.alike = count;
    row.grid = TextOf(launch.first);
    row.block = TextOf(launch.second);
  }
  if (kernels->with_occupancy > 0) row.occupancy = kernels->occupancies / static_cast<double>(kernels->with_occupancy);
  row.operators = kernels->operators.size();
  int64_t most = -1;
  for (const auto& [name, time] : kernels->operators) {
    if (time < most || (time == most && trace.text(name) >= trace.text(row.operator_name))) continue;
    most = time;
    row.operator_name = name;
  }
  return std::move(row);
}

}  // namespace

std::vector<DeviceKernelRow> MeasureKernels(const std::vector<uint8_t>* selected, DeviceAnalysisState* works) {
  const Trace& trace = works->trace;
  const TrackColumns& tracks = trace.tracks();
  const SpanColumns& spans = trace.spans();
  Launches launches(trace);
  using Device = std::pair<ProcessId, int32_t>;
  std::map<std::pair<Device, StringId>, Kernels> all;
  std::map<Device, int64_t> totals;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kDeviceStream) continue;
    const Device device{tracks.process[track], tracks.device[track]};
    works->finder.ForEach(track, selected, [&](uint32_t span, WorkClass work_class) {
      if (spans.kind[span] != SpanKind::kKernel) return;
      const DeviceWork work = works->finder.Describe(span, work_class);
      Add(trace, work, launches.Of(spans.extra[span]), &all[{device, spans.name[span]}]);
      totals[device] = SaturatingAdd(totals[device], SaturatingSubtract(work.time.end, work.time.begin));
    });
  }
  std::vector<DeviceKernelRow> rows;
  for (auto& [key, kernels] : all) {
    DeviceKernelRow& row = rows.emplace_back(Finish(trace, &kernels));
    std::tie(row.process, row.device) = key.first;
    row.name = key.second;
    row.device_total_ns = totals[key.first];
  }
  std::sort(rows.begin(), rows.end(), [&](const DeviceKernelRow& a, const DeviceKernelRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return std::tuple(a.process, a.device, trace.text(a.name)) < std::tuple(b.process, b.device, trace.text(b.name));
  });
  return rows;
}

}  // namespace opscope
