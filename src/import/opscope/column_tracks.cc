// Processes and tracks of column files.
// SPDX-License-Identifier: Apache-2.0
#include "import/opscope/column_reader.h"
#include "import/opscope/column_rows.h"
#include "wire/schema.h"

namespace opscope {

bool AddProcesses(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::process::kPid);
  uint64_t row = reader.FirstRow();
  const ColumnValues pid = reader.Read(wire::process::kPid, 0);
  const ColumnValues pid_text = reader.Read(wire::process::kPidText, wire::kNoId);
  const ColumnValues name = reader.Read(wire::process::kName, wire::kNoId);
  const ColumnValues labels = reader.Read(wire::process::kLabels, wire::kNoId);
  const ColumnValues sort_index = reader.Read(wire::process::kSortIndex, wire::kNoSortIndex);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const ProcessId id = builder->AddProcess({.pid = Signed(pid[i]),
                                              .pid_text = ids->String(pid_text[i]),
                                              .name = ids->String(name[i]),
                                              .labels = ids->String(labels[i]),
                                              .sort_index = Signed(sort_index[i])});
    if (!ids->Place(row++, id)) return false;
  }
  return true;
}

bool AddTracks(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::track::kProcess);
  uint64_t row = reader.FirstRow();
  const ColumnValues process = reader.Read(wire::track::kProcess, wire::kNoId);
  const ColumnValues kind = reader.Read(wire::track::kKind, 0);
  const ColumnValues tid = reader.Read(wire::track::kTid, 0);
  const ColumnValues tid_text = reader.Read(wire::track::kTidText, wire::kNoId);
  const ColumnValues name = reader.Read(wire::track::kName, wire::kNoId);
  const ColumnValues sort_index = reader.Read(wire::track::kSortIndex, wire::kNoSortIndex);
  const ColumnValues logical_thread = reader.Read(wire::track::kLogicalThread, 0);
  const ColumnValues device = reader.Read(wire::track::kDevice, wire::kMinusOne);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const ProcessId known = ids->Process(process[i]);
    const TrackId id =
        builder->AddTrack({.process = known != ProcessId::kNone ? known : builder->AddProcess({}),
                           .kind = kind[i] <= static_cast<uint64_t>(TrackKind::kOther) ? static_cast<TrackKind>(kind[i])
                                                                                       : TrackKind::kOther,
                           .tid = Signed(tid[i]),
                           .tid_text = ids->String(tid_text[i]),
                           .name = ids->String(name[i]),
                           .sort_index = Signed(sort_index[i]),
                           .logical_thread = logical_thread[i],
                           .device = static_cast<int32_t>(device[i])});
    if (!ids->Place(row++, id)) return false;
  }
  return true;
}

}  // namespace opscope
