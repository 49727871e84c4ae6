// Texts that many events share, rendered once: escaped names and categories, ids of tracks, and the four lists of every
// distinct argument list. Look-ups are O(1).
//
// Thread rule: immutable after construction, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "export/argument_text.h"
#include "opscope/trace.h"

namespace opscope {

class ChromePieces {
 public:
  explicit ChromePieces(const Trace& trace);

  // A name or category, JSON-escaped, without quotes.
  std::string_view name(StringId id) const {
    return id == StringId::kNone ? std::string_view() : escaped_[slot_[Row(id)]];
  }
  // "pid": 1, "tid": 2
  std::string_view track(TrackId id) const {
    return Row(id) < tracks_.size() ? std::string_view(tracks_[Row(id)]) : std::string_view("\"pid\":0,\"tid\":0");
  }
  // As track(), with another thread id; `tid`: JSON.
  std::string track_with(TrackId id, std::string_view tid) const {
    const std::string_view both = track(id);
    return std::string(both.substr(0, both.size() - this->tid(id).size())).append(tid);
  }
  std::string_view tid(TrackId id) const { return track(id).substr(track(id).find(kTid) + kTid.size()); }
  // "Concrete Inputs": [...], "Input type": [...], "Input Strides": [...]
  std::string_view values_types_strides(ArgsId id) const { return arguments_.values_types_strides(id); }
  // "Input Dims": [...]; torch writes the call stack between the two
  std::string_view dims(ArgsId id) const { return arguments_.dims(id); }

 private:
  static constexpr std::string_view kTid = ",\"tid\":";
  void AddName(const Trace& trace, StringId id);
  void AddTracks(const Trace& trace);

  std::vector<uint32_t> slot_;  // by StringId: index into escaped_; 0: the empty text
  std::vector<std::string_view> escaped_;
  std::deque<std::string> owned_;  // texts that needed escapes; addresses stay valid
  std::vector<std::string> tracks_;
  ArgumentTexts arguments_;
};

// The JSON of an id: the number, or the text as a string.
std::string ChromeIdentity(const Trace& trace, int64_t number, StringId text);

}  // namespace opscope
