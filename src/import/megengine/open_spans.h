// Ranges of the threads of a MegEngine window that have begun, by track; their rows stand in the order of the begins.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/builder.h"

namespace opscope {

// Which range an end belongs to.
struct RangeKey {
  uint32_t event = 0;
  uint64_t about = 0;
  bool operator==(const RangeKey&) const = default;
};

class OpenSpans {
 public:
  explicit OpenSpans(TraceBuilder* builder) : builder_(builder) {}

  // Reserves so many rows. REQUIRES: nothing else adds spans until Finish.
  void Expect(size_t rows);
  void Begin(const RangeKey& key, const SpanRow& row);
  // The newest open range of the track with this key; what began in it and has not ended, ends with it, unfinished.
  // False: none is open.
  bool End(TrackId track, const RangeKey& key, Timestamp time);
  // The newest open one of this event; null: there is none. Valid until the next call.
  SpanRow* Newest(TrackId track, uint32_t event);
  // Likewise ends it, unfinished.
  void Abandon(TrackId track, uint32_t event, Timestamp time);
  // A whole row, of a device: they stand one behind the other there.
  void Add(const SpanRow& row);
  // Ends what is open, unfinished, at the last time of its track, and gives unused rows back.
  void Finish();

 private:
  struct Open {
    AddedSpan place;
    RangeKey key;
    SpanRow row;
  };
  struct Track {
    std::vector<Open> open;
    Timestamp last;
  };
  struct Device {
    Timestamp last;
    bool in_order = true;
  };
  AddedSpan TakeRow();
  void Close(Track* track, size_t depth, Timestamp time, bool is_finished);

  TraceBuilder* builder_;
  std::map<TrackId, Track> tracks_;
  std::map<TrackId, Device> devices_;
  uint32_t next_ = 0;
  size_t left_ = 0;
};

}  // namespace opscope
