// The threads and devices of MegEngine windows as tracks, and the clocks of the devices.
//
// As in MegEngine's own files, host threads have the numbers 0, 1, ... in the order of their first records, and devices
// the following numbers in the order in which they first held a tensor.
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

  // Begins a window of this process. Threads and devices have new numbers; a track of an earlier window with the same
  // name is used again.
  void Begin(ProcessId process, int64_t pid);
  void NameThread(uint16_t thread, std::string_view name);
  // "cpu0:0 xpux:0"
  void NameDevice(uint16_t device, std::string_view names);
  // Gives the thread or device the next track.
  void ShowThread(uint16_t thread);
  void ShowDevice(uint16_t device);

  TrackId OfThread(uint16_t thread);
  TrackId OfDevice(uint16_t device);
  std::string_view physical_name(uint16_t device);
  std::string NodeText(uint16_t device);  // as MegEngine writes it

  // For a first pass over the records, from which Tick learns the offset of the device's clock (AlignMegEngineDevices
  // in timeline.h). The event is the begin of the work that was launched at `launched`, if given.
  void LookAtTick(uint16_t device, Timestamp time, Duration elapsed, std::optional<Timestamp> launched);

  // Returns the time of a device's event on the clock of the threads. `elapsed`: since the first event of the piece of
  // the window. `time`: when a thread submitted it.
  Timestamp Tick(uint16_t device, Timestamp time, Duration elapsed);
  // Begins another piece of the window, with new first events of the devices.
  void BeginPiece(uint64_t piece);
  // The time at which the device runs what a thread submitted at `time`.
  Timestamp OnDevice(uint16_t device, Timestamp time);

  // Adds metadata: the computing node of each device's track, and whether devices gave times.
  void Finish();

 private:
  struct Lane {
    std::string name, physical;
    TrackId track = TrackId::kNone;
    bool has_ticked = false;
    Timestamp first;                      // event of the piece, on the clock of the threads
    Duration shift;                       // added to times of the device; of the newest event
    std::map<uint64_t, Duration> delays;  // by piece: the most by which a kernel begins before its launch
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
