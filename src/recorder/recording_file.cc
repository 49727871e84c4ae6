// A mapped file grows by segments of 16 units (4 MiB and a reserve). A unit holds a chunk and its open
// table in whole pages:
//
//   | block header | open table, 165 scopes | chunk 256 KiB | trailer |        4 KiB + 256 KiB
//
// Growing by units alone would cost an allocation on the disk and an mmap per 256 KiB; growing in one piece
// would need to know the size. The first four units are made writable while the window opens, so that short
// recordings never wait for the disk. An event costs about 1.3 times as much as in memory
// (docs/reference/benchmarks_torch.md, "Recording into a file").
//
// A chunk changes hands without a copy: a thread that may still store into a sealed chunk gets private zero
// pages at the same address, so the file keeps what it has (Retain).
// SPDX-License-Identifier: Apache-2.0
#include "recorder/recording_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>

#include "opscope/recorder_abi.h"
#include "recorder/file_blocks.h"
#include "recorder/file_space.h"
#include "recorder/pages.h"
#include "recorder/registry.h"

namespace opscope {
namespace {

constexpr uint64_t kUnitBytes = kChunkBytes + kPageBytes;
constexpr uint64_t kDefaultChunkOffset = kPageBytes - 64;  // in its unit; room for 165 open scopes before it
constexpr uint64_t kReserveBytes = 64 * 1024;              // information of about 600 threads
constexpr uint64_t kSegmentBytes = 16 * kUnitBytes + kReserveBytes;
constexpr uint64_t kReadyBytes = 4 * kUnitBytes;  // made writable while the window opens

uint64_t OffsetOfChunk(uint64_t depths) {
  const uint64_t at = kBlockHeaderBytes + sizeof(OpenTable) + depths * sizeof(OpenTableEntry);
  return at <= kDefaultChunkOffset ? kDefaultChunkOffset : (at + 63) & ~uint64_t{63};
}

uint64_t BytesOfUnit(uint64_t chunk_at, uint64_t size) {
  return PageUp(chunk_at + size + sizeof(ChunkTrailer));
}

char* UnitOf(ChunkHeader* chunk) {
  return reinterpret_cast<char*>(chunk) - chunk->table_distance - kBlockHeaderBytes;
}

PublishedWord* TrailerOf(ChunkHeader* chunk, uint64_t size) {
  return reinterpret_cast<PublishedWord*>(reinterpret_cast<char*>(chunk) + size);
}

void WriteTrailer(ChunkHeader* chunk, uint64_t size, uint32_t thread_index, uint32_t sequence) {
  __atomic_store_n(TrailerOf(chunk, size), uint64_t{thread_index} | uint64_t{sequence} << 32, __ATOMIC_RELEASE);
}

// Clears the trailer first: a concurrent reader of a reused unit then knows that its chunk is gone.
RecordingFile::Unit MakeUnit(char* address, uint64_t chunk_at, uint32_t size) {
  RecordingFile::Unit unit;
  unit.chunk = reinterpret_cast<ChunkHeader*>(address + chunk_at);
  __atomic_exchange_n(TrailerOf(unit.chunk, size), 0, __ATOMIC_ACQ_REL);  // what follows is seen after it
  char* table = address + kBlockHeaderBytes;
  const uint64_t table_bytes = chunk_at - kBlockHeaderBytes;
  std::memset(table, 0, table_bytes);
  unit.table = ::new (table) OpenTable;
  unit.table->capacity = static_cast<uint32_t>((table_bytes - sizeof(OpenTable)) / sizeof(OpenTableEntry));
  unit.table->chunk_at = static_cast<uint32_t>(table_bytes);
  return unit;
}

}  // namespace

RecordingFile* RecordingFile::Create(const char* path, std::string_view info, FileFailure* failure) {
  auto* file = new (std::nothrow) RecordingFile;
  if (file == nullptr) {
    *failure = {ENOMEM, "while creating the file"};
    return nullptr;
  }
  {
    const MutexLock lock(file->mutex_);
    if (file->Make(path, info)) return file;
    *failure = file->failure_;
  }
  delete file;
  return nullptr;
}

bool RecordingFile::Make(const char* path, std::string_view info) {
  char name[PATH_MAX];
  errno = CreateTemporary(path, name, sizeof(name), &descriptor_);
  if (errno != 0) return FailLocked("while creating the file");
  struct stat facts{};
  bool made = fstat(descriptor_, &facts) == 0;
  if (!made) FailLocked("while creating the file");
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  made = made && MakeHead(info) && AddSegment(kUnitBytes + kReserveBytes);
  if (made) MakeWritable(segments_[0].base, std::min(kReadyBytes, segments_[0].bytes));
  if (made && rename(name, path) != 0) made = FailLocked("while renaming the file");
  if (!made) unlink(name);
  return made;
}

bool RecordingFile::MakeHead(std::string_view info) {
  const FileHeader header = MappedFileHeader();
  const BlockHeader block = MakeBlockHeader(block_types::kWindowInfo, block_flags::kMapped, info.data(), info.size());
  const uint64_t info_at = sizeof(header) + sizeof(block);
  return Grow(0, PageUp(info_at + info.size())) && WriteAtLocked(0, &header, sizeof(header)) &&
         WriteAtLocked(sizeof(header), &block, sizeof(block)) && WriteAtLocked(info_at, info.data(), info.size());
}

RecordingFile::~RecordingFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (mappings_are_lost_) return;
  std::sort(retained_.begin(), retained_.end(), [](const Piece& a, const Piece& b) { return a.address < b.address; });
  for (const Segment& segment : segments_) {
    char* at = segment.base;
    char* const end = segment.base + segment.bytes;
    for (const Piece& retained : retained_) {
      if (retained.address < at || retained.address >= end) continue;
      if (retained.address > at) munmap(at, static_cast<size_t>(retained.address - at));
      at = retained.address + retained.bytes;
    }
    if (at < end) munmap(at, static_cast<size_t>(end - at));
  }
}

bool RecordingFile::FailLocked(const char* step) {
  if (failure_.error == 0) failure_ = {errno, step};
  return false;
}

void RecordingFile::Fail(int error, const char* step) {
  MutexLock lock(mutex_);
  if (failure_.error == 0) failure_ = {error, step};
}

FileFailure RecordingFile::failure() {
  MutexLock lock(mutex_);
  return failure_;
}

uint64_t RecordingFile::bytes() {
  MutexLock lock(mutex_);
  return file_bytes_;
}

// A program may close descriptors that it does not own; the number may belong to another file by now.
bool RecordingFile::IsStillOurs() {
  struct stat facts;
  if (descriptor_ >= 0 && fstat(descriptor_, &facts) == 0 && facts.st_dev == device_ && facts.st_ino == inode_) {
    return true;
  }
  descriptor_ = -1;
  errno = EBADF;
  return FailLocked("because its descriptor was closed");
}

bool RecordingFile::Grow(uint64_t offset, uint64_t bytes) {
  if (!IsStillOurs()) return false;
  errno = AllocateSpace(descriptor_, offset, bytes);
  if (errno != 0) return FailLocked("while growing the file");
  file_bytes_ = std::max(file_bytes_, offset + bytes);
  return true;
}

bool RecordingFile::WriteAtLocked(uint64_t offset, const void* data, uint64_t bytes) {
  if (!IsStillOurs()) return false;
  errno = WriteAll(descriptor_, offset, data, bytes);
  return errno == 0 || FailLocked("while writing the file");
}

// On a disk that is nearly full a segment may be as small as `least`.
bool RecordingFile::AddSegment(uint64_t least) {
  uint64_t bytes = std::max(kSegmentBytes, least);
  if (!segments_.Reserve(segments_.size() + 1)) {
    errno = ENOMEM;
    return FailLocked("while mapping the file");
  }
  const uint64_t offset = segments_.empty() ? file_bytes_ : segments_.back().offset + segments_.back().bytes;
  const FileFailure before = failure_;
  if (!Grow(offset, bytes)) {
    if (bytes <= least || descriptor_ < 0) return false;
    const FileFailure whole = failure_;
    bytes = least;
    failure_ = before;
    if (!Grow(offset, bytes)) {
      failure_ = whole;
      return false;
    }
  }
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, static_cast<off_t>(offset));
  if (base == MAP_FAILED) return FailLocked("while mapping the file");
  return segments_.Push({static_cast<char*>(base), bytes, offset, 0});
}

char* RecordingFile::Extend(uint64_t bytes) {
  if (failure_.error != 0 || end_ != 0) return nullptr;
  const Segment* last = &segments_.back();
  if (last->used + bytes > last->bytes - kReserveBytes && !AddSegment(bytes + kReserveBytes)) return nullptr;
  Segment& segment = segments_.back();
  segment.used += bytes;
  return segment.base + segment.used - bytes;
}

char* RecordingFile::TakeFreeUnit(uint64_t bytes, uint64_t chunk_at) {
  for (size_t i = free_units_.size(); i-- > 0;) {
    if (free_units_[i].bytes != bytes || free_units_[i].chunk_at != chunk_at) continue;
    char* address = free_units_[i].address;
    free_units_[i] = free_units_.back();
    free_units_.SetSize(free_units_.size() - 1);
    return address;
  }
  return nullptr;
}

RecordingFile::Unit RecordingFile::TakeUnit(uint32_t size, uint32_t depths) {
  const uint64_t chunk_at = OffsetOfChunk(depths);
  const uint64_t bytes = BytesOfUnit(chunk_at, size);
  char* address = nullptr;
  {
    MutexLock lock(mutex_);
    if (char* returned = TakeFreeUnit(bytes, chunk_at)) return MakeUnit(returned, chunk_at, size);
    address = Extend(bytes);
  }
  if (address == nullptr) return {};
  if (const int error = MakeWritable(address, bytes); error != 0) {
    Fail(error, "while writing the file");
    return {};
  }
  const Unit unit = MakeUnit(address, chunk_at, size);
  CommitBlockHeader(MakeBlockHeader(block_types::kLiveChunk, 0, nullptr, bytes - kBlockHeaderBytes), address);
  return unit;
}

void RecordingFile::NameChunk(const Unit& unit, uint32_t thread_index, uint32_t sequence) {
  unit.table->thread_index = thread_index;
  unit.table->sequence = sequence;
  WriteTrailer(unit.chunk, unit.chunk->size, thread_index, sequence);
}

void RecordingFile::ReturnUnit(ChunkHeader* chunk) {
  __atomic_store_n(&chunk->magic, 0u, __ATOMIC_RELEASE);
  const uint64_t chunk_at = chunk->table_distance + kBlockHeaderBytes;
  MutexLock lock(mutex_);
  [[maybe_unused]] const bool kept = free_units_.Push({UnitOf(chunk), BytesOfUnit(chunk_at, chunk->size), chunk_at});
}

bool RecordingFile::Holds(const void* chunk) {
  const auto* address = static_cast<const char*>(chunk);
  MutexLock lock(mutex_);
  return mappings_are_lost_ || std::any_of(segments_.begin(), segments_.end(), [address](const Segment& segment) {
           return address >= segment.base && address < segment.base + segment.bytes;
         });
}

void RecordingFile::AddInfo(std::string_view json) {
  if (json.size() >= kMaxBlockBytes) return;
  const uint64_t bytes = PageUp(kBlockHeaderBytes + json.size());
  MutexLock lock(mutex_);
  char* address = Extend(bytes);
  if (address == nullptr) return;
  errno = MakeWritable(address, bytes);
  if (errno != 0) {
    FailLocked("while writing the file");
    return;
  }
  std::memcpy(address + kBlockHeaderBytes, json.data(), json.size());
  CommitBlockHeader(MakeBlockHeader(block_types::kWindowInfo, 0, json.data(), json.size()), address);
}

RecordingFile::RetainedUnit RecordingFile::Retain(ChunkHeader* chunk, bool replace) {
  RetainedUnit retained;
  char* address = UnitOf(chunk);
  const uint64_t chunk_at = chunk->table_distance + kBlockHeaderBytes;
  const uint64_t bytes = BytesOfUnit(chunk_at, chunk->size);
  MutexLock lock(mutex_);
  if (!retained_.Reserve(retained_.size() + 1)) {
    mappings_are_lost_ = true;
    return retained;
  }
  for (const Segment& segment : segments_) {
    if (address < segment.base || address >= segment.base + segment.bytes) continue;
    retained.chunk_offset = segment.offset + static_cast<uint64_t>(address - segment.base) + chunk_at;
    // Refused only where there is no memory for it: the thread then ends its store in the file.
    if (replace) {
      mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    }
    retained.address = address;
    retained.bytes = bytes;
    [[maybe_unused]] const bool kept = retained_.Push({address, bytes, chunk_at});  // reserved above
    return retained;
  }
  return retained;
}

bool RecordingFile::WriteAt(uint64_t offset, const void* data, uint64_t bytes) {
  MutexLock lock(mutex_);
  return WriteAtLocked(offset, data, bytes);
}

bool RecordingFile::AppendBlock(uint16_t type, const void* data, uint64_t bytes) {
  MutexLock lock(mutex_);
  const Segment& last = segments_.back();
  const uint64_t at = end_ != 0 ? end_ : last.offset + last.used;
  const uint64_t needed = at + kBlockHeaderBytes + bytes;
  const bool ends_file = type != block_types::kRawChunk;
  const uint64_t wanted = needed + (ends_file ? 0 : kReserveBytes);
  if (wanted > file_bytes_ && !Grow(file_bytes_, wanted - file_bytes_)) return false;
  const BlockHeader header = MakeBlockHeader(type, 0, data, bytes);
  // The header last: until it is there the block is unused space.
  if (!WriteAtLocked(at + sizeof(header), data, bytes) || !WriteAtLocked(at, &header, sizeof(header))) return false;
  end_ = needed;
  return true;
}

void RecordingFile::End(std::string_view info) {
  const uint64_t no_footer = 0;
  if (!info.empty() && AppendBlock(block_types::kWindowInfo, info.data(), info.size()) &&
      AppendBlock(block_types::kEnd, &no_footer, sizeof(no_footer))) {
    CutAtEnd();
  }
  MutexLock lock(mutex_);
  if (descriptor_ >= 0 && IsStillOurs()) close(descriptor_);
  descriptor_ = -1;
  finished_ = true;
}

// Nothing may be mapped beyond the end of a file.
void RecordingFile::CutAtEnd() {
  MutexLock lock(mutex_);
  Segment& last = segments_.back();
  const uint64_t kept = end_ > last.offset ? PageUp(end_ - last.offset) : 0;
  if (kept < last.bytes) {
    munmap(last.base + kept, last.bytes - kept);
    last.bytes = kept;
  }
  if (ftruncate(descriptor_, static_cast<off_t>(end_)) == 0) file_bytes_ = end_;
}

void RecordingFile::DetachInChild(bool window_was_open) {
  ReinitMutexAfterFork(&finish_mutex_);
  const bool whole = ReinitMutexAfterFork(&mutex_);
  if (!whole) {  // caught while growing: the lists may be half written
    new (&segments_) GrowingArray<Segment>;
    new (&free_units_) GrowingArray<Piece>;
    new (&retained_) GrowingArray<Piece>;
    mappings_are_lost_ = true;
  }
  finished_ = true;
  if (descriptor_ < 0 || !IsStillOurs()) return;
  for (const Segment& segment : segments_) {
    if (!window_was_open) break;
    mmap(segment.base, segment.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, descriptor_,
         static_cast<off_t>(segment.offset));
  }
  close(descriptor_);
  descriptor_ = -1;
}

}  // namespace opscope
