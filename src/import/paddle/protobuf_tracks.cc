// Paddle's viewer shows the Python calls of a thread on a separate row above its other calls. A track is made for its
// first event; the names of threads are in the last message of the file, so tracks are named at the end.
// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/protobuf_tracks.h"

#include <string>
#include <unordered_map>

#include "base/text.h"

namespace opscope {

ProcessId PaddleTracks::ProcessOf(bool is_device, uint64_t number) {
  const auto [found, added] = processes_.try_emplace({is_device, number}, ProcessId::kNone);
  if (added) {
    ProcessRow row;
    row.pid = static_cast<int64_t>(number);
    std::string name = is_device ? "Device " : "Process ";
    AppendUint(&name, number);
    name += is_device ? " (GPU)" : " (CPU)";
    row.name = builder_->Intern(name);
    row.sort_index = is_device ? static_cast<int64_t>(number + 0x10000000) : row.pid;
    found->second = builder_->AddProcess(row);
  }
  return found->second;
}

TrackId PaddleTracks::TrackOf(uint64_t process, uint64_t thread, bool is_python) {
  const auto [found, added] = threads_.try_emplace({process, thread, is_python}, TrackId::kNone);
  if (added) {
    TrackRow row;
    row.process = ProcessOf(false, process);
    std::string text;
    AppendUint(&text, thread);
    text += is_python ? "(Python)" : "(C++)";
    row.tid_text = builder_->Intern(text);
    row.sort_index = static_cast<int64_t>(2 * thread + (is_python ? 0 : 1));
    found->second = builder_->AddTrack(row);
  }
  return found->second;
}

TrackId PaddleTracks::DeviceTrackOf(uint64_t device, uint64_t stream) {
  const auto [found, added] = streams_.try_emplace({device, stream}, TrackId::kNone);
  if (added) {
    TrackRow row;
    row.process = ProcessOf(true, device);
    row.kind = TrackKind::kDeviceStream;
    row.tid = row.sort_index = static_cast<int64_t>(stream);
    row.device = device < 4096 ? static_cast<int32_t>(device) : -1;
    std::string name = "stream ";
    AppendUint(&name, stream);
    row.name = builder_->Intern(name);
    found->second = builder_->AddTrack(row);
  }
  return found->second;
}

void PaddleTracks::Name(const PaddleExtraInfo& names) {
  std::unordered_map<std::string_view, std::string_view> name_of;
  for (const auto& [key, value] : names)
    name_of.try_emplace(key, value);
  for (const auto& [key, track] : threads_) {
    const auto [process, thread, is_python] = key;
    std::string name, number;
    AppendUint(&number, thread);
    const auto known = name_of.find(number);
    name.append("thread ").append(number).append(":");
    if (known != name_of.end()) name.append(known->second);
    name += is_python ? "(Python)" : "(C++)";
    builder_->track(track).name = builder_->Intern(name);
  }
}

}  // namespace opscope
