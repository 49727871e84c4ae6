// The threads and devices of MegEngine windows as tracks, and the clocks of the devices.
//
//   host threads have the numbers 0, 1, ... in the order of their first records, devices go on in the order in which
//   they first held a tensor: as in MegEngine's own files.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/builder.h"

namespace opscope {

class ReplayTracks {
 public:
  explicit ReplayTracks(TraceBuilder* builder) : builder_(builder) {}

  // A window of this process begins; threads and devices are numbered anew, tracks of the same name are the same.
  void Begin(ProcessId process, int64_t pid);
  void NameThread(uint16_t thread, std::string_view name);
  // "cpu0:0 xpux:0"
  void NameDevice(uint16_t device, std::string_view names);
  // They are to have the next tracks.
  void ShowThread(uint16_t thread);
  void ShowDevice(uint16_t device);

  TrackId OfThread(uint16_t thread);
  TrackId OfDevice(uint16_t device);
  std::string_view physical_name(uint16_t device);
  std::string NodeText(uint16_t device);  // as MegEngine writes it

  // Of a first pass over the records, so that Tick knows how late the device's clock is (AlignMegEngineDevices in
  // timeline.h): an event of a device, the beginning of what was launched at `launched`.
  void LookAtTick(uint16_t device, Timestamp time, Duration elapsed, std::optional<Timestamp> launched);

  // An event of a device was at `elapsed` after the first one of the piece of the window, and a thread submitted it at
  // `time`. When it was, in the time of the threads.
  Timestamp Tick(uint16_t device, Timestamp time, Duration elapsed);
  // Another piece of the window: first events of devices are to come.
  void BeginPiece(uint64_t piece);
  // When the device runs what a thread submitted at `time`.
  Timestamp OnDevice(uint16_t device, Timestamp time);

  // Adds metadata: the computing node of each device's track, and whether devices gave times.
  void Finish();

 private:
  struct Lane {
    std::string name, physical;
    TrackId track = TrackId::kNone;
    bool has_ticked = false;
    Timestamp first;                      // tick, in the time of the threads
    Duration shift;                       // of the newest one
    std::map<uint64_t, Duration> delays;  // of pieces: the largest by which a kernel begins before its launch
  };
  static Timestamp TickOf(Lane* lane, Timestamp time, Duration elapsed);
  Lane& At(std::vector<Lane>* lanes, uint16_t number);
  TrackId Track(TrackKind kind, const std::string& name);

  TraceBuilder* builder_;
  ProcessId process_ = ProcessId::kNone;
  bool has_ticks_ = false;
  uint64_t piece_ = 0;
  int64_t pid_ = 0;
  std::vector<Lane> threads_, devices_;
  std::map<std::pair<ProcessId, std::pair<TrackKind, std::string>>, TrackId> known_;
  std::map<ProcessId, int64_t> next_tid_;
  std::map<std::string, std::string> nodes_;  // "pid:tid" -> text of the computing node
};

}  // namespace opscope
