// The open ranges of the threads of a MegEngine window, by track. Their rows are in the order of the begins.
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

// Pairs the end of a range with its begin: the event, and the operator or tensor that it is about.
struct RangeKey {
  uint32_t event = 0;
  uint64_t about = 0;
  bool operator==(const RangeKey&) const = default;
};

class OpenSpans {
 public:
  explicit OpenSpans(TraceBuilder* builder) : builder_(builder) {}

  // Reserves `rows` rows. REQUIRES: no other code adds spans until Finish.
  void Expect(size_t rows);
  void Begin(const RangeKey& key, const SpanRow& row);
  // Ends the newest open range of the track with this key. Open ranges inside it end at the same time, as unfinished.
  // False: no such range is open.
  bool End(TrackId track, const RangeKey& key, Timestamp time);
  // The newest open range of this event; null: none. Valid until the next call.
  SpanRow* Newest(TrackId track, uint32_t event);
  // Ends the range that Newest returns, as unfinished.
  void Abandon(TrackId track, uint32_t event, Timestamp time);
  // Adds a complete range of a device. Ranges of a device do not nest.
  void Add(const SpanRow& row);
  // Ends the open ranges, as unfinished, at the last time of their track, and returns unused rows to the builder.
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
