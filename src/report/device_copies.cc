// The copies of devices: the columns of `opscope devices --copies`.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/device_copies.h"

#include "opscope/report/devices.h"
#include "report/device_place.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

using CopyRow = DeviceCopyRow;
constexpr ResultField<CopyRow> kCopyFields[] = {
    {kDeviceRank, kDeviceRankValue},
    {kDeviceNumber, kDeviceNumberValue},
    {{"kind", "Kind", kText, "`HtoD`, `DtoH`, `DtoD`, `PtoP`, ...; empty if the input does not say it."},
     [](const CopyRow& r) { return r.kind; }},
    {{"source", "From", kText, "Memory that is read: `Pageable`, `Pinned`, `Device`, ..."},
     [](const CopyRow& r) { return r.source; }},
    {{"target", "To", kText, "Memory that is written."}, [](const CopyRow& r) { return r.target; }},
    {{"count", "Count", kNumber, "Number of copies."}, [](const CopyRow& r) { return r.count; }},
    {{"bytes", "Bytes", kBytes, "Bytes of the copies that have a size."}, [](const CopyRow& r) { return r.bytes; }},
    {{"total_ns", "Total", kTime, "Sum of the durations."}, [](const CopyRow& r) { return r.total_ns; }},
    {{"exposed_ns", "Exposed", kTime, "Time in which one of them ran and no kernel of the device."},
     [](const CopyRow& r) { return r.exposed_ns; }},
    {{"bytes_per_second", "Per second", kBytes, "Of the copies that have a size and took time."},
     [](const CopyRow& r) { return r.bytes_per_second; }},
    {{"small", "Small", kNumber, "Copies of at most `--small-copy` bytes."}, [](const CopyRow& r) { return r.small; }},
    {{"small_ns", "", kTime, "Their durations."}, [](const CopyRow& r) { return r.small_ns; }},
    {{"launched", "", kNumber, "Copies whose launch is known."}, [](const CopyRow& r) { return r.launched; }},
    {{"synchronous", "Synchronous", kNumber, "Of these, copies for which the program waited in the call, or may have."},
     [](const CopyRow& r) { return r.synchronous; }},
    {{"synchronous_ns", "", kTime, "Their durations."}, [](const CopyRow& r) { return r.synchronous_ns; }},
};

}  // namespace

const ResultDescription& CopyResult() {
  static const ResultDescription description = DescribeResult<CopyRow>(
      "devices", "copies", "The copies of a device of one kind, between the same two memories.", kCopyFields);
  return description;
}

ResultTable CopyTable(const Trace& trace, const std::vector<DeviceCopyRow>& copies) {
  return MakeResultTable<CopyRow>(CopyResult(), kCopyFields, trace, copies);
}

}  // namespace opscope
