// Scopes that were open when a recording stopped growing: its process was killed, hangs, or records on
// while we read. The tables behind the chunks name them (opscope/record.h, OpenTable); here they become
// records with kUnfinished in chunks of their own, to be read like all others.
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
  // `chunks`: of the window, by process, thread and sequence.
  explicit OpenScopesOfWindow(std::span<const RecordingChunk* const> chunks);

  // A chunk for the last one of each thread that had scopes open; their sequence is the next one.
  std::vector<std::string> TakeChunks() { return std::move(made_); }
  uint64_t left_the_file() const { return left_the_file_; }  // threads that went on in memory
  uint64_t hidden() const { return hidden_; }

 private:
  using Ended = std::tuple<uint32_t, uint64_t, uint16_t>;  // thread that began it, start, depth

  void LookThrough(const RecordingChunk& chunk, bool is_last);
  void AddOpenOf(const RecordingChunk& last);
  void MakeChunk(const RecordingChunk& last, std::vector<Record> records);

  uint64_t last_tick_ = 0;  // the latest that anything in the window is known of
  std::set<Ended> ended_;   // on other threads
  std::vector<std::string> made_;
  uint64_t left_the_file_ = 0;
  uint64_t hidden_ = 0;
};

}  // namespace opscope
