// The recorder numbers threads per process. A thread's own number, logical number and name are in each of its chunks;
// the last chunk that has them wins, because a thread may be named late. The window's facts fill in what the chunks
// lack.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/tracks.h"

namespace opscope {

ProcessId RecordingTracks::Process(int64_t pid) {
  const auto found = processes_.find(pid);
  if (found != processes_.end()) return found->second;
  return processes_[pid] = builder_->AddProcess({.pid = pid});
}

void RecordingTracks::NameProcess(int64_t pid, std::string_view name) {
  if (!name.empty()) builder_->process(Process(pid)).name = builder_->Intern(name);
}

TrackId RecordingTracks::OfThread(int64_t pid, uint32_t thread_index) {
  const auto [found, added] = threads_.try_emplace({pid, thread_index}, TrackId::kNone);
  if (added) found->second = builder_->AddTrack({.process = Process(pid), .kind = TrackKind::kThread});
  return found->second;
}

void RecordingTracks::NameThread(std::span<const RecordingChunk> chunks, const WindowThread* facts, TrackId track) {
  TrackRow& row = builder_->track(track);
  for (const RecordingChunk& chunk : chunks) {
    row.tid = static_cast<int64_t>(chunk.os_thread());
    if (chunk.logical_thread() != 0) row.logical_thread = chunk.logical_thread();
    if (!chunk.thread_name().empty()) row.name = builder_->Intern(chunk.thread_name());
  }
  if (facts == nullptr) return;
  if (row.name == StringId::kNone && !facts->name.empty()) row.name = builder_->Intern(facts->name);
  if (row.logical_thread == 0) row.logical_thread = facts->logical_thread;
}

TrackId RecordingTracks::OfDevice(const Payload& payload) {
  const auto [found, added] = streams_.try_emplace({payload.device, payload.stream}, TrackId::kNone);
  if (added) {
    // As in Kineto's traces, the device is a process and the stream is its thread.
    const auto [device, is_new] = devices_.try_emplace(payload.device, ProcessId::kNone);
    if (is_new) device->second = builder_->AddProcess({.pid = payload.device});
    found->second = builder_->AddTrack(
        {.process = device->second, .kind = TrackKind::kDeviceStream, .tid = payload.stream, .device = payload.device});
  }
  return found->second;
}

}  // namespace opscope
