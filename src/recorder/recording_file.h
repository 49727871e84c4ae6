// The file of a window that is recorded to (WindowOptions::record_to): chunks lie in it while they are
// written, so the system keeps what was recorded however the process ends. FORMAT.md draws it.
//
//   head page(s)    file header, kWindowInfo block
//   segments        [unit][unit]...  free  reserve     mapped whole, allocated on the disk before that
//   unit            block header, OpenTable, chunk, ChunkTrailer: whole pages
//
// A store into a mapping for which the disk has no room raises SIGBUS, which ends the job. So a segment
// is allocated (fallocate) before it is mapped, and a unit's pages are made writable by the system
// (MADV_POPULATE_WRITE answers with an error where a store would raise the signal) before they are used.
// If the system refuses any of this, the file stops growing and the recording continues in memory. Each segment keeps a
// reserve for the end of the file.
//
// The file appears under its name complete with head and first segment, by a rename: what was there before
// is replaced and never cut, because another process may have it mapped.
//
// Thread rule: any thread, where nothing else is said. Nothing throws. errno may change: callers are SignalsBlocked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "base/mutex.h"
#include "opscope/record.h"
#include "recorder/growing_array.h"

namespace opscope {

struct FileFailure {
  int error = 0;               // errno
  const char* step = nullptr;  // static text
};

class RecordingFile {
 public:
  // `info`: the first kWindowInfo block. Null with *failure when the system refuses; no file stays then.
  static RecordingFile* Create(const char* path, std::string_view info, FileFailure* failure);
  // Unmaps everything except retained units.
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  struct Unit {
    ChunkHeader* chunk = nullptr;  // its magic is 0, the rest is undefined; null: the file can take no more
    OpenTable* table = nullptr;    // initialised, without entries and without a chunk
  };
  // Room for a chunk of `size` bytes (a multiple of 4096) and a table of at least `depths` entries.
  Unit TakeUnit(uint32_t size, uint32_t depths);
  // Assigns a chunk to the unit.
  static void NameChunk(const Unit& unit, uint32_t thread_index, uint32_t sequence);
  // Returns a unit, which the next TakeUnit of this size may use.
  void ReturnUnit(ChunkHeader* chunk);
  // True if the chunk lies in the file, and not in the pool's memory. O(segments).
  bool Holds(const void* chunk);

  // Appends a kWindowInfo block, if there is room.
  void AddInfo(std::string_view json);

  // Puts private memory (zeroes) where the chunk was, for a thread that may still be writing to it; the file
  // keeps what it has. Not `replace`: the memory stays that of the file. The caller unmaps `bytes` bytes at `address`
  // when the thread has let go of it.
  struct RetainedUnit {
    void* address = nullptr;  // null: memory is short; the chunk is as it was, and stays mapped for ever
    uint64_t bytes = 0;
    uint64_t chunk_offset = 0;  // in the file
  };
  RetainedUnit Retain(ChunkHeader* chunk, bool replace);

  // The following are for the thread that ends the file (finish_file.cc).
  Mutex& finish_mutex() OPSCOPE_LOCK_RETURNED(finish_mutex_) { return finish_mutex_; }
  bool is_finished() const OPSCOPE_REQUIRES(finish_mutex_) { return finished_; }
  bool WriteAt(uint64_t offset, const void* data, uint64_t bytes);
  // Appends a block at the end. Keeps room for the end of the file. False: the file can take no more.
  bool AppendBlock(uint16_t type, const void* data, uint64_t bytes);
  // Writes the last kWindowInfo block and kEnd, cuts what is not used, closes the descriptor.
  void End(std::string_view info);

  FileFailure failure();
  void Fail(int error, const char* step);
  uint64_t bytes();

  // In a forked child, of a window that was open at the fork: the mapping becomes the child's own copy.
  void DetachInChild(bool window_was_open) OPSCOPE_UNCHECKED_LOCKS;

 private:
  struct Segment {
    char* base;  // of the mapping
    uint64_t bytes;
    uint64_t offset;  // in the file
    uint64_t used;    // bytes of units
  };
  // A unit that is not in use, or whose mapping outlives the file.
  struct Piece {
    char* address;
    uint64_t bytes;
    uint64_t chunk_at;  // from `address`
  };

  RecordingFile() = default;
  bool Make(const char* path, std::string_view info) OPSCOPE_REQUIRES(mutex_);
  bool MakeHead(std::string_view info) OPSCOPE_REQUIRES(mutex_);
  bool IsStillOurs() OPSCOPE_REQUIRES(mutex_);
  bool Grow(uint64_t offset, uint64_t bytes) OPSCOPE_REQUIRES(mutex_);
  bool AddSegment(uint64_t least) OPSCOPE_REQUIRES(mutex_);
  char* Extend(uint64_t bytes) OPSCOPE_REQUIRES(mutex_);
  char* TakeFreeUnit(uint64_t bytes, uint64_t chunk_at) OPSCOPE_REQUIRES(mutex_);
  bool FailLocked(const char* step) OPSCOPE_REQUIRES(mutex_);  // with errno
  bool WriteAtLocked(uint64_t offset, const void* data, uint64_t bytes) OPSCOPE_REQUIRES(mutex_);
  void CutAtEnd();

  Mutex finish_mutex_;
  bool finished_ = false;  // written under finish_mutex_
  Mutex mutex_;
  int descriptor_ OPSCOPE_GUARDED_BY(mutex_) = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  GrowingArray<Segment> segments_ OPSCOPE_GUARDED_BY(mutex_);
  GrowingArray<Piece> free_units_ OPSCOPE_GUARDED_BY(mutex_);
  GrowingArray<Piece> retained_ OPSCOPE_GUARDED_BY(mutex_);
  uint64_t end_ OPSCOPE_GUARDED_BY(mutex_) = 0;  // end of the blocks of AppendBlock; 0: none
  uint64_t file_bytes_ OPSCOPE_GUARDED_BY(mutex_) = 0;
  bool mappings_are_lost_ OPSCOPE_GUARDED_BY(mutex_) = false;  // the lists are incomplete: unmap nothing
  FileFailure failure_ OPSCOPE_GUARDED_BY(mutex_);
};

}  // namespace opscope
