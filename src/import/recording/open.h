// Finds scopes that were open at the end of an unfinished recording: its process was killed, hangs, or still records.
// The tables after the chunks list them (opscope/record.h, OpenTable). They are converted to records with kUnfinished
// in additional chunks, which are read like all others.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "import/recording/chunk.h"

namespace opscope {

class OpenScopesOfWindow {
 public:
  // `chunks`: those of the window, ordered by process, thread and sequence.
  explicit OpenScopesOfWindow(std::span<const RecordingChunk* const> chunks);

  // Makes a chunk for each thread with open scopes. Its sequence number follows that of the thread's last chunk.
  std::vector<std::string> TakeChunks() { return std::move(made_); }
  uint64_t left_the_file() const {
    return left_the_file_;
  }  // threads whose later records are in memory only, not in the file
  uint64_t hidden() const { return hidden_; }

 private:
  using Ended = std::tuple<uint32_t, uint64_t, uint16_t>;  // thread that began it, start, depth

  void LookThrough(const RecordingChunk& chunk, bool is_last);
  void AddOpenOf(const RecordingChunk& last);
  void MakeChunk(const RecordingChunk& last, std::vector<Record> records);

  uint64_t last_tick_ = 0;  // the latest time in the window
  std::set<Ended> ended_;   // scopes that ended on other threads
  std::vector<std::string> made_;
  uint64_t left_the_file_ = 0;
  uint64_t hidden_ = 0;
};

}  // namespace opscope
