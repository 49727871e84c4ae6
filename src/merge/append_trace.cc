// Copies one input of a merge behind those that the builder already holds.
// Numbers that identify something within one file clash between files: every rank numbers its kernels from 1, and
// containers give each rank pid 1. TakeIds therefore gives each input the next free range of correlations, flows,
// thread numbers, Python call and tensor ids. A pid keeps its value while it is free; else it moves by 10,000,000 per
// rank (pid 1 of rank 3 becomes 40,000,001), which is above all pids of Linux and stays recognizable. An async id that
// an earlier input used gets a scope of its own ("rank 3").
// SPDX-License-Identifier: Apache-2.0
#include "merge/append_trace.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/json_members.h"
#include "base/saturating.h"
#include "base/scoped_id.h"

namespace opscope {
namespace {

constexpr int64_t kPidsPerRank = 10'000'000;  // above the largest pid of Linux (2^22)

template <typename T>
T MaxOf(std::span<const T> column) {
  return column.empty() ? T{} : *std::max_element(column.begin(), column.end());
}

// For each row its position in the sorted order.
std::vector<int64_t> PositionsOf(std::span<const int64_t> sort_index) {
  std::vector<uint32_t> order(sort_index.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return sort_index[a] < sort_index[b]; });
  std::vector<int64_t> positions(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    positions[order[i]] = static_cast<int64_t>(i);
  return positions;
}

}  // namespace

// An id that is valid across the processes of one input must differ from the same id of another input: it gets a scope
// of its own. Returns the ids to replace and their new texts.
std::map<StringId, std::string> TraceAppender::FreeAsyncIds(const Trace& trace, int32_t rank) {
  const auto key_of = [](ScopedId id) {
    if (id.kind == ScopedId::Kind::kGlobal) id.kind = ScopedId::Kind::kId;  // pairs with it
    return id.Members();
  };
  std::map<StringId, ScopedId> ids;
  std::set<std::string> keys;
  for (const StringId id : trace.async_spans().id) {
    const auto [found, is_new] = ids.try_emplace(id);
    if (is_new) keys.insert(key_of(found->second = ParseScopedId(trace.text(id))));
  }
  std::map<StringId, std::string> renamed;
  for (auto& [id, scoped] : ids) {
    if (scoped.kind == ScopedId::Kind::kLocal || !async_ids_.contains(key_of(scoped))) continue;
    std::string scope = '"' + std::string(Unquoted(scoped.json_scope));
    if (scope.size() > 1) scope += rank >= 0 ? " of " : " ";
    std::string input = rank >= 0 ? "rank " + std::to_string(rank) : "2";
    for (int number = 2; async_ids_.contains(key_of(scoped)) || keys.contains(key_of(scoped)); ++number) {
      scoped.json_scope = scope + input;
      scoped.json_scope += '"';
      input = std::to_string(number + 1);
    }
    keys.insert(key_of(scoped));
    renamed[id] = scoped.Text();
  }
  async_ids_.merge(keys);
  return renamed;
}

IdBases TraceAppender::TakeIds(const Trace& trace, int32_t rank) {
  IdBases bases = next_;
  bases.async_ids = FreeAsyncIds(trace, rank);
  const auto take = [&](auto* next, auto used) {
    using Id = decltype(used);
    if (*next > static_cast<Id>(~Id{0}) - used) ++shared_ids_;
    *next = static_cast<Id>(*next + used);
  };
  take(&next_.correlation, MaxOf(trace.spans().correlation));
  const uint64_t of_tensors = std::min<uint64_t>(MaxOf(trace.tensor_lives().tensor), UINT32_MAX);
  take(&next_.external, std::max(MaxOf(trace.spans().external_id), static_cast<uint32_t>(of_tensors)));
  take(&next_.logical_thread, std::max(MaxOf(trace.tracks().logical_thread), MaxOf(trace.spans().forward_thread)));
  take(&next_.python_call, MaxOf(trace.python_calls().id));
  take(&next_.tensor, std::max(MaxOf(trace.tensors().tensor), MaxOf(trace.held_tensors().tensor)));
  const uint64_t last_flow = MaxOf(trace.flows().id);
  take(&next_.flow, last_flow == UINT64_MAX ? last_flow : last_flow + 1);  // an id may be 0
  return bases;
}

int64_t TraceAppender::FreePid(int64_t pid, int32_t rank) {
  if (pids_.insert(pid).second) return pid;
  int64_t other = WrappingAdd(pid, (int64_t{std::max(rank, 0)} + 1) * kPidsPerRank);
  while (!pids_.insert(other).second)
    other = WrappingAdd(other, 1);
  return other;
}

std::string TraceAppender::FreePidText(std::string_view text, int32_t rank) {
  std::string free(text);
  if (rank >= 0 && text_pids_.contains(free)) free += " of rank " + std::to_string(rank);
  for (int number = 2; !text_pids_.insert(free).second; ++number)
    free = std::string(text) + " " + std::to_string(number);
  return free;
}

ProcessRow TraceAppender::ProcessOf(const Trace& trace, size_t row, int32_t rank) {
  const ProcessColumns& rows = trace.processes();
  ProcessRow process = CopyProcess(trace, row, builder_);
  if (rank >= 0) process.rank = rank;
  if (rows.pid_text[row] != StringId::kNone) {
    process.pid_text = builder_->Intern(FreePidText(trace.text(rows.pid_text[row]), process.rank));
  } else {
    process.pid = FreePid(rows.pid[row], process.rank);
  }
  std::string labels(trace.text(rows.labels[row]));
  const auto add_label = [&](const std::string& label) {
    const bool is_there = (", " + labels + ", ").find(", " + label + ", ") != std::string::npos;
    if (!is_there) labels = label + (labels.empty() ? "" : ", ") + labels;
  };
  if (process.pid != rows.pid[row]) add_label("pid " + std::to_string(rows.pid[row]));
  if (process.rank >= 0) add_label("rank " + std::to_string(process.rank));
  if (!labels.empty()) process.labels = builder_->Intern(labels);
  return process;
}

std::vector<MergedProcess> TraceAppender::Append(const Trace& trace, const TimeShift& shift, int32_t rank) {
  const IdBases bases = TakeIds(trace, rank);
  const RowSelection everything;
  TraceCopy copy(trace, shift, bases, everything, builder_);
  const std::vector<int64_t> positions = PositionsOf(trace.processes().sort_index);
  std::vector<ProcessId> ids;
  std::vector<MergedProcess> processes;
  for (size_t row = 0; row < positions.size(); ++row) {
    ProcessRow process = ProcessOf(trace, row, rank);
    process.sort_index = process_number_ + positions[row];
    ids.push_back(builder_->AddProcess(process));
    if (process.pid_text == StringId::kNone) processes.push_back({process.pid, process.rank});
  }
  process_number_ += static_cast<int64_t>(positions.size());
  copy.CopyTables(ids);
  AppendOperators(trace);
  return processes;
}

// The operator table describes the program, not an input: a row that an earlier input added is not repeated.
void TraceAppender::AppendOperators(const Trace& trace) {
  const OperatorColumns& rows = trace.operators();
  std::set<std::pair<StringId, StringId>> all = operators_;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::pair row(builder_->Intern(trace.text(rows.name[i])), builder_->Intern(trace.text(rows.arguments[i])));
    if (!operators_.contains(row)) builder_->AddOperator(row.first, row.second);
    all.insert(row);
  }
  operators_ = std::move(all);
}

}  // namespace opscope
