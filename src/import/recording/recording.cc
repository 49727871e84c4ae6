// Runs the steps of recording.h in order. Chunks come in any order, some twice, from files and from memory. They are
// sorted by (process, thread, window, sequence), so that the chunks of one thread and window are neighbours; a gap in
// their sequence numbers is a lost chunk:
//
//   thread 7: 0 1 3   thread 9: 0   ->   one missing_chunk of thread 7
//
// Several threads decode chunks, each to an independent part; afterwards one thread joins the parts (ids, tracks,
// subtrees across chunks) in this order.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/recording.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "import/recording/clock.h"
#include "import/recording/native.h"
#include "import/recording/open.h"
#include "import/recording/operators_elsewhere.h"
#include "import/recording/thread.h"
#include "import/recording/trim_to_snapshot.h"
#include "import/recording/unix_times.h"
#include "import/recording/window_index.h"
#include "import/recording/window_metadata.h"
#include "import/torch/links.h"
#include "opscope/window_facts.h"
#include "wire/container.h"

namespace opscope {
namespace {

// Starting a thread takes as long as decoding some thousand records.
constexpr size_t kRecordsPerThread = 16384;

bool Before(const RecordingChunk& a, const RecordingChunk& b) {
  if (a.process() != b.process()) return a.process() < b.process();
  if (a.thread_index() != b.thread_index()) return a.thread_index() < b.thread_index();
  if (a.window() != b.window()) return a.window() < b.window();
  return a.sequence() < b.sequence();
}

// The chunks of one thread and window, in order.
uint64_t CountMissing(std::span<const RecordingChunk> chunks, const WindowInfo* window, const WindowThread* thread) {
  uint64_t gaps = 0, records = 0;
  uint32_t expected = window != nullptr && window->keeps_newest ? chunks.front().sequence() : 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const RecordingChunk& chunk = chunks[i];
    if (i > 0 && chunk.sequence() == chunks[i - 1].sequence()) continue;  // the same chunk twice
    gaps += chunk.sequence() > expected ? chunk.sequence() - expected : 0;
    expected = chunk.sequence() + 1;
    records += chunk.record_count();
  }
  // Missing last chunks leave no gap, but there are fewer records than the window counted.
  if (gaps == 0 && thread != nullptr && thread->recorded > records) gaps = 1;
  return gaps;
}

// Threads that recorded something but have no chunk.
uint64_t CountThreadsWithoutChunks(std::span<const RecordingChunk> chunks, const std::vector<WindowInfo>& windows,
                                   const WindowIndex& index) {
  std::set<std::tuple<int64_t, uint64_t, uint32_t>> seen;  // as the window describes it: process, generation, thread
  for (const RecordingChunk& chunk : chunks) {
    if (const WindowInfo* window = index.Window(chunk)) {
      seen.emplace(window->process, window->window, chunk.thread_index());
    }
  }
  uint64_t missing = 0;
  for (const WindowInfo& window : windows) {
    for (const WindowThread& thread : window.threads)
      missing += thread.recorded > 0 && seen.count({window.process, window.window, thread.index}) == 0 ? 1 : 0;
  }
  return missing;
}

// The number of records that the recorder dropped, as far as the blocks contain it.
uint64_t CountDropped(std::span<const RecordingChunk> chunks, const std::vector<WindowInfo>& windows,
                      const WindowIndex& index) {
  uint64_t dropped = 0;
  const auto add = [&](uint64_t count) {  // saturates
    if (__builtin_add_overflow(dropped, count, &dropped)) dropped = UINT64_MAX;
  };
  for (const WindowInfo& window : windows) {
    for (const WindowThread& thread : window.threads)
      add(thread.dropped);
  }
  for (size_t i = 0; i < chunks.size(); ++i) {
    const bool last = i + 1 == chunks.size() || !AreOfOneStream(chunks[i], chunks[i + 1]);
    if (last && index.Thread(chunks[i]) == nullptr) add(chunks[i].dropped());
  }
  return dropped;
}

TickClock MakeClock(const std::vector<WindowInfo>& windows, const std::vector<RecordingChunk>& chunks,
                    int64_t epoch_ns) {
  std::vector<Calibration> calibrations;
  for (const WindowInfo& window : windows) {
    calibrations.insert(calibrations.end(), window.calibrations.begin(), window.calibrations.end());
  }
  for (const RecordingChunk& chunk : chunks)
    calibrations.push_back(chunk.calibration());
  return TickClock(std::move(calibrations), epoch_ns, windows.empty() ? Calibration{} : windows.front().rate);
}

// 0: there are no records of another recorder.
int64_t FirstNativeStart(const std::vector<RecordingChunk>& chunks) {
  int64_t first = 0;
  for (const RecordingChunk& chunk : chunks) {
    const int64_t start = NativeStart(chunk);
    if (start != 0 && (first == 0 || start < first)) first = start;
  }
  return first;
}

// In ticks; 0: the window did not end, or its end is unknown.
uint64_t EndOfWindow(const WindowInfo* window) {
  uint64_t last = 0;
  if (window == nullptr || window->is_live || window->calibrations.size() < 2) return last;
  for (const Calibration& calibration : window->calibrations)
    last = std::max(last, calibration.ticks);
  return last;
}

}  // namespace

void RecordingReader::AddBlock(uint16_t type, std::span<const std::byte> bytes, int64_t file_offset) {
  if (type == block_types::kWindowInfo) {
    if (std::optional<WindowInfo> info = ParseWindowInfo(bytes)) {
      AddInfo(*std::move(info));
    } else {
      builder_->AddProblem("damaged_block", file_offset);
    }
  } else if (type == block_types::kRawChunk) {
    if (const std::optional<RecordingChunk> chunk = RecordingChunk::Open(bytes, file_offset)) {
      chunks_.push_back(*chunk);
    } else {
      builder_->AddProblem("damaged_block", file_offset);
    }
  } else if (type == block_types::kLiveChunk) {
    AddLiveChunk(bytes, file_offset);
  }
}

// A later info of the same live window replaces or extends the earlier one. The final info is not live.
void RecordingReader::AddInfo(WindowInfo info) {
  const std::pair key(info.process, info.window);
  const auto known = live_windows_.find(key);
  if (known == live_windows_.end()) {
    if (info.is_live) live_windows_.emplace(key, windows_.size());
    windows_.push_back(std::move(info));
    return;
  }
  WindowInfo& window = windows_[known->second];
  if (info.is_live) {
    if (info.options_json != "{}") window.options_json = info.options_json;
    window.metadata.insert(window.metadata.end(), info.metadata.begin(), info.metadata.end());
  } else {
    window = std::move(info);
    live_windows_.erase(known);
  }
}

void RecordingReader::AddLiveChunk(std::span<const std::byte> bytes, int64_t file_offset) {
  std::optional<RecordingChunk> chunk;
  switch (RecordingChunk::OpenLive(bytes, file_offset, &chunk)) {
    case RecordingChunk::Live::kWhole:
      if (chunk) chunks_.push_back(*std::move(chunk));
      break;
    case RecordingChunk::Live::kDamaged:
      damaged_ = true;
      builder_->AddProblem("damaged_block", file_offset);
      break;
    case RecordingChunk::Live::kReplaced:
      ++written_while_read_;
      break;
    case RecordingChunk::Live::kUnused:
      break;
  }
}

// Reserves room for all scopes, then decodes the chunks in parallel.
std::vector<RecordingPart> RecordingReader::Decode(ThreadTeam* team) {
  std::vector<RecordingPart> parts;
  size_t records = 0;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (i > 0 && AreOfOneStream(chunks_[i], chunks_[i - 1]) && chunks_[i].sequence() == chunks_[i - 1].sequence()) {
      continue;  // the same chunk twice
    }
    parts.emplace_back().chunk = &chunks_[i];
    records += chunks_[i].record_count();
  }
  room_.Reserve(records);
  size_t first = 0;
  for (RecordingPart& part : parts) {
    part.room = room_.Part(first, part.chunk->record_count());
    first += part.chunk->record_count();
  }
  std::vector<PartDecoder> decoders(team->size());
  team->ForEach(parts.size(), [&](size_t part, size_t member) { decoders[member].Decode(&parts[part]); });
  return parts;
}

// Makes additional chunks for the scopes that were open in unfinished windows, behind the last chunks of their threads.
void RecordingReader::AddOpenScopes() {
  const WindowIndex index(windows_);
  std::map<const WindowInfo*, std::vector<const RecordingChunk*>> chunks_of;  // of live windows, in order
  for (const RecordingChunk& chunk : chunks_) {
    const WindowInfo* window = index.Window(chunk);
    if (window != nullptr && window->is_live) chunks_of[window].push_back(&chunk);
  }
  for (const auto& [window, chunks] : chunks_of) {
    OpenScopesOfWindow open(chunks);
    for (std::string& chunk : open.TakeChunks())
      open_chunks_.push_back(std::move(chunk));
    if (open.left_the_file() > 0) builder_->AddProblem("missing_chunk", -1, open.left_the_file());
    if (open.hidden() > 0) builder_->AddProblem("open_scopes_hidden", -1, open.hidden());
  }
  for (const std::string& bytes : open_chunks_) {
    if (const auto chunk = RecordingChunk::Open(std::as_bytes(std::span(bytes)), -1)) chunks_.push_back(*chunk);
  }
  if (!open_chunks_.empty()) std::stable_sort(chunks_.begin(), chunks_.end(), Before);
}

// Sorts the chunks, adds those of open scopes, and converts all times to one clock.
TickClock RecordingReader::PrepareChunks() {
  std::stable_sort(chunks_.begin(), chunks_.end(), Before);
  written_while_read_ += TrimToSnapshot(windows_, damaged_, &chunks_);
  if (written_while_read_ > 0) builder_->AddProblem("written_while_read", -1, written_while_read_);
  AddOpenScopes();
  // Column blocks of the same file have set the epoch already; files of another recorder begin at its start.
  if (builder_->info().epoch_ns == 0) builder_->info().epoch_ns = FirstNativeStart(chunks_);
  TickClock clock = MakeClock(windows_, chunks_, builder_->info().epoch_ns);
  builder_->info().epoch_ns = clock.epoch_ns();
  ConvertToTicks(clock, &chunks_, &tick_chunks_);
  return clock;
}

void RecordingReader::ReadWindows(const TickClock& clock, RecordingTables* tables) const {
  ReadTorchFacts(windows_, tables->links());
  if (AnyWindowSays(windows_, kAdjustStepsKey)) tables->AdjustSteps();
  if (AnyWindowSays(windows_, kPaddleDevicesKey)) tables->UsePaddleNaming();
  for (const WindowInfo& window : windows_) {
    tables->NameProcess(window.process, window.process_name);
    ReadProcessFacts(window, clock, tables);
  }
}

// Adds one thread after the other up to the memory limit, and counts missing chunks.
void RecordingReader::AddThreads(const ImportOptions& options, uint64_t input_bytes, std::vector<RecordingPart>* parts,
                                 RecordingTables* tables) {
  const WindowIndex index(windows_);
  auto part = parts->begin();
  for (size_t begin = 0, end = 0; begin < chunks_.size(); begin = end) {
    end = begin + 1;
    while (end < chunks_.size() && AreOfOneStream(chunks_[begin], chunks_[end]))
      ++end;
    if (options.max_memory != 0 && builder_->memory_bytes() + input_bytes > options.max_memory) {
      builder_->AddProblem("over_memory_limit", chunks_[begin].file_offset());
      break;
    }
    const auto first_part = part;
    while (part != parts->end() && part->chunk < chunks_.data() + end)
      ++part;
    const auto chunks = std::span<const RecordingChunk>(chunks_).subspan(begin, end - begin);
    const WindowInfo* window = index.Window(chunks.front());
    const WindowThread* thread = index.Thread(chunks.front());
    const uint64_t missing = CountMissing(chunks, window, thread);
    if (missing > 0) builder_->AddProblem("missing_chunk", chunks.front().file_offset(), missing);
    builder_->info().recorded += tables->AddThread(chunks, {first_part, part}, thread, EndOfWindow(window));
  }
  if (const uint64_t missing = CountThreadsWithoutChunks(chunks_, windows_, index); missing > 0) {
    builder_->AddProblem("missing_chunk", -1, missing);
  }
}

void RecordingReader::Finish(const ImportOptions& options, uint64_t input_bytes) {
  const TickClock clock = PrepareChunks();
  AddWindowFacts(windows_, builder_);
  size_t records = 0;
  for (const RecordingChunk& chunk : chunks_)
    records += chunk.record_count();
  ThreadTeam team(options.max_threads != 0 ? std::min<size_t>(options.max_threads, chunks_.size())
                                           : std::min(DefaultThreadCount(), records / kRecordsPerThread));
  std::vector<RecordingPart> parts = Decode(&team);
  size_t spans = 0;
  for (const RecordingPart& part : parts)
    spans += part.scopes.size() + part.async.size() + part.event_spans + part.cuda.count;
  builder_->ReserveSpans(spans);

  RecordingTables tables(builder_, &clock);
  ReadWindows(clock, &tables);
  AddThreads(options, input_bytes, &parts, &tables);
  tables.Fill(&team);
  tables.Finish();
  if (AnyWindowSays(windows_, kOthersRanKey)) AddOperatorsElsewhere(builder_);
  const uint64_t dropped = CountDropped(chunks_, windows_, WindowIndex(windows_));
  builder_->info().dropped += dropped;
  if (dropped > 0) builder_->AddProblem("dropped_at_cap", -1, dropped);
}

}  // namespace opscope
