// Resolves once what MegEngine's files repeat in every event: which operator and which tensor an id means, the tensor's
// type and shape as JSON, the device's name. The role of a span is decided by its name ("OpDispatch", "Put"), its kind
// and its id, because MegEngine's format has no kinds. Ids are unique within a process only, so hash keys combine the
// process row and the id.
// SPDX-License-Identifier: Apache-2.0
#include "export/megengine/facts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/json_members.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr std::pair<std::string_view, MegEngineRole> kWords[] = {
    {"OpDispatch", MegEngineRole::kDispatch}, {"Input", MegEngineRole::kInput},
    {"Output", MegEngineRole::kOutput},       {"Put", MegEngineRole::kCommand},
    {"Del", MegEngineRole::kCommand},         {"Drop", MegEngineRole::kCommand},
    {"ReGen", MegEngineRole::kCommand},       {"RecFree", MegEngineRole::kCommand},
    {"GetValue", MegEngineRole::kCommand},    {"TensorGetProp", MegEngineRole::kProperty},
    {"TensorWaitProp", MegEngineRole::kWait}};

// Categories of spans that CUPTI recorded (src/import/cuda). Kernels that MegEngine recorded have the id of an
// operator.
constexpr std::string_view kWordsOfCuda[] = {"cuda_runtime", "cuda_driver", "kernel",
                                             "gpu_memcpy",   "gpu_memset",  "cuda_sync",
                                             "cuda_event",   "overhead",    "gpu_user_annotation"};

}  // namespace

MegEngineFacts::MegEngineFacts(const Trace& trace) : trace_(trace) {
  const MetadataColumns& metadata = trace_.metadata();
  for (size_t i = 0; i < metadata.size(); ++i)
    is_of_timeline_ |= trace_.text(metadata.key[i]) == "metadata";  // a member of MegEngine's files beside the events
  is_of_timeline_ |= trace_.info().format == "megengine-json";
  FindWords();
  FindShown();
  FindDevices();
  DescribeTensors();
  FindRoles();
  FindOperators();
  CountPending();
}

void MegEngineFacts::FindWords() {
  role_of_name_.assign(trace_.string_count(), MegEngineRole::kRange);
  for (const auto& [word, role] : kWords) {
    if (const auto id = trace_.FindString(word)) role_of_name_[Row(*id)] = role;
  }
}

bool MegEngineFacts::DetectCudaTrack(TrackId track) const {
  if (is_of_timeline_) return false;  // CUPTI records nothing into a timeline
  const uint32_t first = trace_.tracks().first_span[Row(track)], count = trace_.tracks().span_count[Row(track)];
  for (uint32_t span = first; span < first + count; ++span) {
    if (trace_.spans().external_id[span] != 0) return false;
    const StringId category = trace_.spans().category[span];
    const std::string_view text = category == StringId::kNone ? std::string_view() : trace_.text(category);
    if (std::find(std::begin(kWordsOfCuda), std::end(kWordsOfCuda), text) == std::end(kWordsOfCuda)) return false;
  }
  return count != 0;
}

void MegEngineFacts::FindShown() {
  const TrackColumns& tracks = trace_.tracks();
  enum : uint8_t { kNothing, kOfCudaAlone, kOther };
  std::vector<uint8_t> has(trace_.processes().size(), kNothing);
  is_cuda_track_.assign(tracks.size(), 0);
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool is_cuda_track = DetectCudaTrack(TrackId{track});
    is_cuda_track_[track] = is_cuda_track ? 1 : 0;
    spans_of_cuda_ += is_cuda_track ? tracks.span_count[track] : 0;
    uint8_t& of_process = has[Row(tracks.process[track])];
    of_process = std::max<uint8_t>(of_process, is_cuda_track ? kOfCudaAlone : kOther);
  }
  for (const uint8_t what : has)
    is_process_shown_.push_back(what != kOfCudaAlone ? 1 : 0);
}

void MegEngineFacts::FindDevices() {
  const TrackColumns& tracks = trace_.tracks();
  devices_.assign(tracks.size(), no_device_);
  std::map<std::string, std::string, std::less<>> known;
  for (size_t i = 0; i < trace_.metadata().size(); ++i) {
    const std::string_view key = trace_.text(trace_.metadata().key[i]);
    is_timed_ |= key == "megengine.profile_device";
    if (key != "megengine.devices") continue;
    std::string_view json = trace_.text(trace_.metadata().json[i]);
    if (!IsJsonValue(json) || json.size() < 2) continue;
    ForEachJsonMember(json.substr(1, json.size() - 2), [&](std::string_view place, std::string_view text) {
      if (text.starts_with('"')) known.emplace(place, text);
      return true;
    });
  }
  for (size_t i = 0; i < tracks.size(); ++i) {
    if (tracks.kind[i] != TrackKind::kDeviceStream) continue;
    const std::string place = std::to_string(Pid(static_cast<TrackId>(i))) + ":" + std::to_string(tracks.tid[i]);
    if (const auto text = known.find(place); text != known.end()) devices_[i] = text->second;
  }
}

void MegEngineFacts::DescribeTensors() {
  const TensorLifeColumns& lives = trace_.tensor_lives();
  types_.resize(trace_.argument_list_count());
  counts_.resize(trace_.argument_list_count());
  shapes_.resize(trace_.argument_list_count());
  const TrackColumns& tracks = trace_.tracks();
  for (uint32_t i = 0; i < lives.size(); ++i) {
    const ProcessId process = lives.track[i] == TrackId::kNone ? ProcessId{0} : tracks.process[Row(lives.track[i])];
    life_of_[Key(process, lives.tensor[i])] = i;
    Describe(lives.args[i]);
  }
  // In a timeline events of one tensor may disagree about it, so each event's list is described.
  for (uint32_t row = 0; is_of_timeline_ && row < trace_.spans().size(); ++row)
    Describe(trace_.spans().args[row]);
}

void MegEngineFacts::Describe(ArgsId args) {
  if (args == ArgsId::kNone || !types_[Row(args)].empty()) return;
  const std::span<const Argument> list = trace_.arguments(args);
  const Argument tensor = list.empty() ? Argument{} : list[0];
  types_[Row(args)] = "\"dtype\":";
  AppendJsonString(&types_[Row(args)], trace_.text(tensor.dtype));
  uint64_t elements = tensor.sizes.empty() ? 0 : 1;
  std::string shape;
  for (const int64_t size : tensor.sizes) {
    elements *= static_cast<uint64_t>(size);
    if (!shape.empty()) shape += ",";
    AppendInt(&shape, size);
  }
  counts_[Row(args)] = "\"nr_elements\":" + std::to_string(elements);
  shapes_[Row(args)] = "\"shape\":\"{" + shape + "}\"";
}

uint64_t MegEngineFacts::KeyOf(uint32_t span) const {
  return Key(trace_.tracks().process[Row(trace_.spans().track[span])], trace_.spans().external_id[span]);
}

void MegEngineFacts::FindOperators() {
  const SpanColumns& spans = trace_.spans();
  const auto op_of = [&](uint32_t row) -> MegEngineCall& {
    const auto [found, added] = operator_of_.try_emplace(KeyOf(row), static_cast<uint32_t>(operators_.size()));
    if (added) operators_.emplace_back();
    return operators_[found->second];
  };
  std::vector<std::pair<uint32_t, uint32_t>> kernels;
  is_worker_.assign(trace_.tracks().size(), 0);
  for (size_t track = 0; track < is_worker_.size(); ++track)
    is_worker_[track] = trace_.text(trace_.tracks().name[track]) == "worker" ? 1 : 0;
  const auto start = trace_.FindString("StartProfile"), stop = trace_.FindString("StopProfile");
  for (uint32_t row = 0; row < spans.size(); ++row) {
    const MegEngineRole role = RoleOf(row);
    if (role == MegEngineRole::kOperator || spans.name[row] == start || spans.name[row] == stop)
      is_worker_[Row(spans.track[row])] = 1;
    is_timed_ |= role == MegEngineRole::kKernel;
    if (spans.external_id[row] == 0) continue;
    if (role == MegEngineRole::kDispatch) {
      op_of(row).dispatch = row;
    } else if (role == MegEngineRole::kOperator) {
      MegEngineCall& op = op_of(row);
      if (op.execute == kNoRow) op.execute = row;
    } else if (role == MegEngineRole::kKernel) {
      MegEngineCall& op = op_of(row);
      op.device = spans.track[row];
      if (op.kernel == kNoRow) {
        op.kernel = row;
      } else {
        next_kernel_[op.last_kernel] = row;
      }
      op.last_kernel = row;
    }
  }
  const TensorLifeColumns& lives = trace_.tensor_lives();
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives.op[i] == 0 || lives.track[i] == TrackId::kNone) continue;
    const auto found = operator_of_.find(Key(trace_.tracks().process[Row(lives.track[i])], lives.op[i]));
    if (found == operator_of_.end()) continue;
    MegEngineCall& op = operators_[found->second];
    if (op.device == TrackId::kNone) op.device = lives.track[i];
  }
}

// Counts operators that are dispatched and not begun. An operator that the program's thread computes itself never
// waits.
void MegEngineFacts::CountPending() {
  const SpanColumns& spans = trace_.spans();
  std::vector<std::tuple<uint32_t, int64_t, bool, uint32_t>> points;  // process, time, is_execution, operator
  for (uint32_t i = 0; i < operators_.size(); ++i) {
    const MegEngineCall& op = operators_[i];
    for (const uint32_t span : {op.dispatch, op.execute}) {
      if (span == kNoRow) continue;
      const uint32_t process = Row(trace_.tracks().process[Row(spans.track[span])]);
      points.emplace_back(process, spans.start[span].ns, span == op.execute, i);
    }
  }
  std::sort(points.begin(), points.end());
  int32_t pending = 0;
  uint32_t of_process = 0;
  for (const auto& [process, time, is_execution, i] : points) {
    if (process != of_process) pending = 0, of_process = process;
    MegEngineCall& op = operators_[i];
    if (is_execution) {
      if (op.dispatch != kNoRow) --pending;
      op.pending_at_execute = pending;
    } else {
      if (op.execute != kNoRow) ++pending;
      op.pending_at_dispatch = pending;
    }
  }
}

bool MegEngineFacts::HasTensorIdZero(uint32_t span) const {
  const StringId extra = trace_.spans().extra[span];
  return extra != StringId::kNone && FindJsonMember(trace_.text(extra), "id") == "0";
}

MegEngineRole MegEngineFacts::FindRole(uint32_t span) const {
  const SpanColumns& spans = trace_.spans();
  if (is_cuda_track_[Row(spans.track[span])] != 0) return MegEngineRole::kRange;
  if (trace_.tracks().kind[Row(spans.track[span])] != TrackKind::kThread)
    return spans.kind[span] == SpanKind::kKernel ? MegEngineRole::kKernel : MegEngineRole::kRange;
  const StringId name = spans.name[span];
  const MegEngineRole role = name == StringId::kNone ? MegEngineRole::kRange : role_of_name_[Row(name)];
  if (spans.external_id[span] == 0) {
    // Id 0 is the first tensor of a process, or no id: a mark of the worker has the name of a command too.
    if (role <= MegEngineRole::kKernel || spans.category[span] != StringId::kEmpty) return MegEngineRole::kRange;
    const bool is_of_tensor =
        is_of_timeline_ ? HasTensorIdZero(span) : trace_.text(name) != "GetValue" && life_of_.contains(KeyOf(span));
    return is_of_tensor ? role : MegEngineRole::kRange;
  }
  return spans.kind[span] == SpanKind::kOperator ? MegEngineRole::kOperator : role;
}

void MegEngineFacts::FindRoles() {
  roles_.reserve(trace_.spans().size());
  for (uint32_t span = 0; span < trace_.spans().size(); ++span) {
    roles_.push_back(FindRole(span));
    // Without tensor lifetimes, as in a Kineto file that opscope exported, the spans' own lists describe their tensors.
    if (roles_.back() >= MegEngineRole::kInput && trace_.tensor_lives().size() == 0)
      Describe(trace_.spans().args[span]);
  }
}

const MegEngineCall* MegEngineFacts::OperatorOf(uint32_t span) const {
  const auto found = operator_of_.find(KeyOf(span));
  return found == operator_of_.end() ? nullptr : &operators_[found->second];
}

const MegEngineCall* MegEngineFacts::OperatorNumbered(TrackId track, uint64_t number) const {
  if (track == TrackId::kNone) return nullptr;
  const auto found = operator_of_.find(Key(trace_.tracks().process[Row(track)], number));
  return found == operator_of_.end() ? nullptr : &operators_[found->second];
}

uint32_t MegEngineFacts::LifeOf(uint32_t span) const {
  const auto found = life_of_.find(KeyOf(span));
  return found == life_of_.end() ? kNoRow : found->second;
}

uint32_t MegEngineFacts::NextKernel(uint32_t kernel) const {
  const auto found = next_kernel_.find(kernel);
  return found == next_kernel_.end() ? kNoRow : found->second;
}

Timestamp MegEngineFacts::LaunchTime(uint32_t span) const {
  const SpanColumns& spans = trace_.spans();
  Timestamp time = spans.start[span];
  for (uint32_t row = span + 1; row < spans.size() && Row(spans.parent[row]) == span; ++row) {
    if (RoleOf(row) != MegEngineRole::kInput) break;
    time = spans.start[row] + spans.duration[row];
  }
  return time;
}

Timestamp MegEngineFacts::OutputTime(uint32_t span) const {
  const SpanColumns& spans = trace_.spans();
  for (uint32_t row = span + 1; row < spans.size() && Row(spans.parent[row]) == span; ++row) {
    if (RoleOf(row) == MegEngineRole::kOutput) return spans.start[row];
  }
  return spans.start[span] + spans.duration[span];
}

const std::string& MegEngineFacts::DeviceText(TrackId track) const {
  return track == TrackId::kNone ? no_device_ : devices_[Row(track)];
}

}  // namespace opscope
