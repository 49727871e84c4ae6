// How busy the devices were: the columns of `opscope devices`.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/devices.h"

#include <optional>
#include <string>

#include "opscope/report/devices.h"
#include "report/device_place.h"
#include "report/result_units.h"
#include "report/track_text.h"

namespace opscope {
namespace {

using namespace result_units;

std::string StreamName(const Trace& trace, const DeviceRow& row) {
  if (row.stream == TrackId::kNone) return "all";
  const TrackColumns& tracks = trace.tracks();
  return NumberText(trace, tracks.tid[Row(row.stream)], tracks.tid_text[Row(row.stream)]);
}

std::optional<int64_t> DelayOf(const DeviceRow& row, int64_t LaunchDelays::Delay::* value) {
  if (!row.launches.delay) return std::nullopt;
  return (*row.launches.delay).*value;
}

using Delay = LaunchDelays::Delay;

constexpr ResultField<DeviceRow> kDeviceFields[] = {
    {kDeviceRank, kDeviceRankValue},
    {kDeviceNumber, kDeviceNumberValue},
    {{"stream", "Stream", kText, "Number of the stream; `all` for the device as a whole."},
     [](const Trace& trace, const DeviceRow& r) { return StreamName(trace, r); }},
    {{"spans", "Spans", kNumber, "Kernels, copies and sets."}, [](const DeviceRow& r) { return r.spans; }},
    {{"busy_ns", "Busy", kTime, "Time in which a kernel, a copy or a set ran; overlaps count once."},
     [](const DeviceRow& r) { return r.busy_ns; }},
    {{"busy_share", "Busy %", kShare, "`busy_ns` as a part of `window_ns`. NULL if that is 0."},
     [](const DeviceRow& r) { return r.busy_share(); }},
    {{"idle_ns", "Idle", kTime, "The rest of `window_ns`."}, [](const DeviceRow& r) { return r.idle_ns(); }},
    {{"longest_idle_ns", "Longest idle", kTime, "The longest gap within the window."},
     [](const DeviceRow& r) { return r.longest_idle_ns; }},
    {{"kernel_ns", "Kernels", kTime, "Time in which a kernel ran."}, [](const DeviceRow& r) { return r.kernel_ns; }},
    {{"copy_ns", "Copies", kTime, "Time in which a copy ran."}, [](const DeviceRow& r) { return r.copy_ns; }},
    {{"set_ns", "Sets", kTime, "Time in which a memset ran."}, [](const DeviceRow& r) { return r.set_ns; }},
    {{"window_ns", "", kTime, "From the device's first begin to its last end, whichever the stream."},
     [](const DeviceRow& r) { return r.window_ns; }},
    {{"compute_ns", "", kTime, "Time in which a kernel ran that does not belong to a library of collectives."},
     [](const DeviceRow& r) { return r.compute_ns; }},
    {{"communication_ns", "Communication", kTime, "Time in which a kernel of a collective ran.", kIfNonZero},
     [](const DeviceRow& r) { return r.communication_ns; }},
    {{"overlap_ns", "", kTime, "Time in which computation and communication ran at once."},
     [](const DeviceRow& r) { return r.overlap_ns; }},
    {{"exposed_communication_ns", "of it exposed", kTime, "Communication beside which no computation ran.", kIfNonZero},
     [](const DeviceRow& r) { return r.exposed_communication_ns; }},
    {{"exposed_copy_ns", "", kTime, "Copies and sets beside which no kernel ran."},
     [](const DeviceRow& r) { return r.exposed_copy_ns; }},
    {{"host_wait_ns", "Host wait", kTime, "Idle because the next work was launched too late.", kIfNonZero},
     [](const DeviceRow& r) { return r.host_wait_ns; }},
    {{"kernel_wait_ns", "Kernel wait", kTime, "Idle in a short gap although the next work was launched.", kIfNonZero},
     [](const DeviceRow& r) { return r.kernel_wait_ns; }},
    {{"other_wait_ns", "", kTime, "Idle for neither reason."}, [](const DeviceRow& r) { return r.other_wait_ns; }},
    {{"outside_ns", "", kTime, "Idle before the row's first work and after its last."},
     [](const DeviceRow& r) { return r.outside_ns; }},
    {{"launched", "", kNumber, "Works whose launch is known."}, [](const DeviceRow& r) { return r.launches.launched; }},
    {{"launch_delay_mean_ns", "", kTime, "Mean time from the end of the launch to the begin of the work."},
     [](const DeviceRow& r) { return DelayOf(r, &Delay::mean_ns); }},
    {{"launch_delay_p50_ns", "Launch delay p50", kTime, "Half of the works waited at most this long.", kIfNonZero},
     [](const DeviceRow& r) { return DelayOf(r, &Delay::p50_ns); }},
    {{"launch_delay_p99_ns", "p99", kTime, "99 of 100 works waited at most this long.", kIfNonZero},
     [](const DeviceRow& r) { return DelayOf(r, &Delay::p99_ns); }},
    {{"launch_delay_max_ns", "", kTime, "The longest wait."},
     [](const DeviceRow& r) { return DelayOf(r, &Delay::max_ns); }},
    {{"shorter_than_launch", "", kNumber, "Works that took less time than the call that launched them."},
     [](const DeviceRow& r) { return r.launches.shorter_than_launch; }},
    {{"queue_max", "Queue max", kNumber, "Most works that were launched and had not begun.", kIfNonZero},
     [](const DeviceRow& r) { return r.launches.queue_max; }},
    {{"queue_mean", "", kDouble, "The same, as a mean over the window of the device."},
     [](const DeviceRow& r) { return r.launches.queue_mean; }},
    {{"tensor_core_ns", "Tensor cores", kTime, "Time in which a kernel ran whose name says that it uses tensor cores.",
      kIfNonZero},
     [](const DeviceRow& r) { return r.tensor_core_ns; }},
    {{"tensor_core_eligible_ns", "Tensor eligible", kTime,
      "Time in which a kernel ran that uses tensor cores, or that an operator launched which could use them.",
      kIfNonZero},
     [](const DeviceRow& r) { return r.tensor_core_eligible_ns; }},
};

}  // namespace

const ResultDescription& DeviceResult() {
  static const ResultDescription description = DescribeResult<DeviceRow>(
      "devices", "rows", "A device, or one of its streams: how busy it was and why it was idle.", kDeviceFields);
  return description;
}

ResultTable DeviceTable(const Trace& trace, const std::vector<DeviceRow>& devices) {
  return MakeResultTable<DeviceRow>(DeviceResult(), kDeviceFields, trace, devices);
}

VerbResult DeviceVerbResult(const Trace& trace, const DeviceReport& report) {
  VerbResult result;
  if (report.devices) result.tables.push_back(DeviceTable(trace, *report.devices));
  if (report.kernels) result.tables.push_back(KernelTable(trace, *report.kernels));
  if (report.copies) result.tables.push_back(CopyTable(trace, *report.copies));
  result.quality = report.quality;
  return result;
}

}  // namespace opscope
