// Threads and devices are numbered once per process and name, over all windows, as by MegEngine. A device reports times
// since its own first event. A tick becomes the time of the thread that first asked, plus the elapsed time, plus the
// largest delay by which a kernel would otherwise begin before its launch.
// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/replay_tracks.h"

#include <algorithm>

#include "base/json_object.h"
#include "base/text.h"
#include "import/megengine/numbers.h"
#include "import/megengine/timeline.h"

namespace opscope {

void ReplayTracks::Begin(ProcessId process, int64_t pid) {
  process_ = process;
  pid_ = pid;
  threads_.clear();
  devices_.clear();
  piece_ = 0;
}

ReplayTracks::Lane& ReplayTracks::At(std::vector<Lane>* lanes, uint16_t number) {
  if (number >= lanes->size()) lanes->resize(size_t{number} + 1);
  return (*lanes)[number];
}

void ReplayTracks::NameThread(uint16_t thread, std::string_view name) {
  At(&threads_, thread).name = name;
}

void ReplayTracks::NameDevice(uint16_t device, std::string_view names) {
  Lane& lane = At(&devices_, device);
  const size_t space = names.find(' ');
  lane.physical = names.substr(0, space);
  lane.name = space == std::string_view::npos ? names : names.substr(space + 1);
}

TrackId ReplayTracks::Track(TrackKind kind, const std::string& name) {
  const auto [found, is_new] = known_.try_emplace({process_, {kind, name}}, TrackId::kNone);
  if (is_new) {
    TrackRow row{.process = process_, .kind = kind, .tid = next_tid_[process_]++};
    if (!name.empty()) row.name = builder_->Intern(name);
    if (kind == TrackKind::kDeviceStream) row.device = NumberOfMegEngineDevice(name);
    found->second = builder_->AddTrack(row);
  }
  return found->second;
}

void ReplayTracks::ShowThread(uint16_t thread) {
  Lane& lane = At(&threads_, thread);
  if (lane.track == TrackId::kNone) lane.track = Track(TrackKind::kThread, lane.name);
}

void ReplayTracks::ShowDevice(uint16_t device) {
  Lane& lane = At(&devices_, device);
  if (lane.track != TrackId::kNone) return;
  lane.track = Track(TrackKind::kDeviceStream, lane.name);
  const std::string key = std::to_string(pid_) + ":" + std::to_string(builder_->track(lane.track).tid);
  nodes_[key] = NodeText(device);
}

std::string ReplayTracks::NodeText(uint16_t device) {
  const Lane& lane = At(&devices_, device);
  return "CompNode(\"" + lane.physical + "\" from \"" + lane.name + "\")";
}

TrackId ReplayTracks::OfThread(uint16_t thread) {
  ShowThread(thread);
  return threads_[thread].track;
}

TrackId ReplayTracks::OfDevice(uint16_t device) {
  ShowDevice(device);
  return devices_[device].track;
}

std::string_view ReplayTracks::physical_name(uint16_t device) {
  return At(&devices_, device).physical;
}

Timestamp ReplayTracks::TickOf(Lane* lane, Timestamp time, Duration elapsed) {
  if (!lane->has_ticked) lane->first = time;
  lane->has_ticked = true;
  return lane->first + elapsed;
}

void ReplayTracks::LookAtTick(uint16_t device, Timestamp time, Duration elapsed, std::optional<Timestamp> launched) {
  Lane& lane = At(&devices_, device);
  const Timestamp ticked = TickOf(&lane, time, elapsed);
  if (!launched || *launched <= ticked) return;
  Duration& delay = lane.delays[piece_];
  delay = std::max(delay, *launched - ticked);
}

Timestamp ReplayTracks::Tick(uint16_t device, Timestamp time, Duration elapsed) {
  has_ticks_ = true;
  Lane& lane = At(&devices_, device);
  const auto delay = lane.delays.find(piece_);
  const Timestamp ticked = TickOf(&lane, time, elapsed) + (delay == lane.delays.end() ? Duration{} : delay->second);
  lane.shift = ticked - time;
  return ticked;
}

void ReplayTracks::BeginPiece(uint64_t piece) {
  piece_ = piece;
  for (Lane& lane : devices_)
    lane.has_ticked = false;
}

Timestamp ReplayTracks::OnDevice(uint16_t device, Timestamp time) {
  return time + At(&devices_, device).shift;
}

void ReplayTracks::Finish() {
  if (has_ticks_) builder_->AddMetadata("megengine.profile_device", "true");
  if (nodes_.empty()) return;
  std::string json;
  JsonObject object(&json, JsonObject::kSpaced);
  for (const auto& [track, node] : nodes_)
    AppendJsonString(&object.EscapedKey(track), node);
  object.Close();
  builder_->AddMetadata(kMegEngineDevices, json);
}

}  // namespace opscope
