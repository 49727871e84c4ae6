// Ends a mapped file after its window has closed. Chunks in the file are complete already and stay
// untouched, so the cost depends on the number of threads and not on the size of the file. Three things are
// missing and are written here:
//
//   sealed copies            a chunk whose thread may still store into it was sealed as a copy in memory: write it over
//                            the chunk, header last, because the header says how many records are valid
//   chunks in memory         what the file could not take earlier is appended as kRawChunk blocks, if there is room now
//   window information       the final counts, then the end mark; the unused rest of the file is cut off
// SPDX-License-Identifier: Apache-2.0
#include "recorder/finish_file.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "base/signals_blocked.h"
#include "recorder/window_info.h"

namespace opscope {
namespace {

// Writes the published part of a sealed copy; the bytes between records and entries are undefined and stay. The
// header goes last, because it says how many records there are.
bool WriteSealedCopy(RecordingFile* file, const ChunkHeader* chunk, uint64_t offset) {
  const PublishedExtent extent = LoadPublished(chunk);
  const char* bytes = reinterpret_cast<const char*>(chunk);
  const uint64_t payload = extent.entries_begin;
  return file->WriteAt(offset + payload, bytes + payload, chunk->size - payload) &&
         file->WriteAt(offset + sizeof(ChunkHeader), bytes + sizeof(ChunkHeader),
                       extent.record_count * sizeof(Record)) &&
         file->WriteAt(offset, bytes, sizeof(ChunkHeader));
}

bool AppendChunk(RecordingFile* file, ChunkHeader* chunk) {
  const PublishedExtent extent = LoadPublished(chunk);
  const uint64_t records_end = sizeof(ChunkHeader) + extent.record_count * sizeof(Record);
  if (extent.entries_begin > records_end) {
    std::memset(reinterpret_cast<char*>(chunk) + records_end, 0, extent.entries_begin - records_end);
  }
  return file->AppendBlock(block_types::kRawChunk, chunk, chunk->size);
}

// Number of chunks that the file could not take.
uint32_t WriteRest(Window* window) {
  uint32_t left_out = 0;
  for (StreamState* state : window->streams) {
    MutexLock lock(state->mutex);  // a dump may pin a chunk
    for (ChunkHeader* chunk : state->chunks) {
      if (chunk == state->sealed_copy) {
        if (!WriteSealedCopy(window->file, chunk, state->sealed_copy_offset)) ++left_out;
      } else if (!window->file->Holds(chunk) && !AppendChunk(window->file, chunk)) {
        ++left_out;
      }
    }
  }
  return left_out;
}

uint32_t ChunksInMemory(const Window* window) {
  uint32_t count = 0;
  for (StreamState* state : window->streams) {
    MutexLock lock(state->mutex);
    for (const ChunkHeader* chunk : state->chunks)
      count += window->file == nullptr || !window->file->Holds(chunk) ? 1 : 0;
  }
  return count;
}

}  // namespace

void FinishFile(Window* window) {
  RecordingFile* file = window->file;
  MutexLock lock(file->finish_mutex());
  if (file->is_finished()) return;
  window->left_out = WriteRest(window);
  const std::string info = FileInfoText(window);
  if (info.empty()) file->Fail(ENOMEM, "while ending the file");
  file->End(info);
}

WindowFile StateOfFile(const Window* window) {
  WindowFile state;
  if (window->detached) return state;
  const SignalsBlocked blocked;
  FileFailure failure = window->refused;
  if (window->file != nullptr) {
    failure = window->file->failure();
    state.bytes = window->file->bytes();
  }
  state.error = failure.error;
  state.step = failure.step;
  if (window->file == nullptr && failure.error == 0) return state;  // record_to was not requested
  if (window->file != nullptr) {
    MutexLock finish(window->file->finish_mutex());
    if (window->file->is_finished()) {
      state.chunks_in_memory = window->left_out;
      return state;
    }
  }
  MutexLock lock(registry.mutex);  // threads may be joining
  state.chunks_in_memory = ChunksInMemory(window);
  return state;
}

}  // namespace opscope
