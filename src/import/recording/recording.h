// Imports recordings, which are raw chunks of the recorder and blocks about their windows, into a TraceBuilder.
//
//   AddBlock for every block, then Finish:
//     windows' calibrations -> clock (clock.h)
//     chunks by (process, thread) and (window, sequence); missing ones are counted
//  *  chunk -> part: records checked, names and arguments numbered, subtrees found (part.h, tree.h)
//     part after part: ids, tracks, subtrees across parts, and the records that are no scopes (thread.h)
//  *  part -> rows of spans, in pre-order (spans.cc)
//     torch's spans: numbering, sequence numbers of the autograd engine, forward-backward flows (torch/links.h)
//
// The two steps with a star take most of the time; several threads do them, each on parts of its own.
//
// Thread rule: one thread at a time; Finish has helpers for its own length.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_team.h"
#include "import/recording/chunk.h"
#include "import/recording/part.h"
#include "import/recording/window.h"
#include "opscope/import.h"
#include "trace/builder.h"

namespace opscope {

class RecordingTables;
class TickClock;

class RecordingReader {
 public:
  explicit RecordingReader(TraceBuilder* builder) : builder_(builder) {}

  // The bytes must stay valid until Finish. file_offset: of the first byte, -1 in memory.
  void AddBlock(uint16_t type, std::span<const std::byte> bytes, int64_t file_offset);
  // Some blocks of the file could not be read; their types are unknown.
  void RecordDamage() { damaged_ = true; }
  // True if a process was killed while it recorded, or still records. REQUIRES: all blocks were added.
  bool not_ended() const { return !live_windows_.empty(); }
  bool has_blocks() const { return !chunks_.empty() || !windows_.empty(); }
  // input_bytes: size of the input buffer, for options.max_memory.
  void Finish(const ImportOptions& options, uint64_t input_bytes);

 private:
  void AddInfo(WindowInfo info);
  void AddLiveChunk(std::span<const std::byte> bytes, int64_t file_offset);
  // The steps of Finish, in their order.
  TickClock PrepareChunks();
  void AddOpenScopes();
  std::vector<RecordingPart> Decode(ThreadTeam* team);
  void ReadWindows(const TickClock& clock, RecordingTables* tables) const;
  void AddThreads(const ImportOptions& options, uint64_t input_bytes, std::vector<RecordingPart>* parts,
                  RecordingTables* tables);

  TraceBuilder* builder_;
  std::vector<RecordingChunk> chunks_;
  std::deque<std::string> open_chunks_;  // chunks_ refers to them
  std::deque<std::string> tick_chunks_;  // chunks_ refers to them
  std::vector<WindowInfo> windows_;
  std::map<std::pair<int64_t, uint64_t>, size_t> live_windows_;  // rows of windows_, by process and generation
  uint64_t written_while_read_ = 0;                              // chunks that were left out
  bool damaged_ = false;
  ScopeRoom room_;
};

}  // namespace opscope
