// The container of `.opscope` files: a file header, then independent blocks (FORMAT.md). Every block
// carries its type, its size, and checksums of its header and of its payload, so that a reader finds
// the next whole block after damage, and a file that was cut anywhere is read up to the cut.
//
// Thread rule: one thread at a time per object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "opscope/recorder.h"
#include "wire/block_header.h"

namespace opscope {

[[nodiscard]] bool LooksLikeOpscope(std::span<const std::byte> bytes);

// The default minor version: every reader of version 1 reads such a file.
inline constexpr uint16_t kPlainMinor = 0;

// These three append to `out`, which holds the file from its start.
void AppendFileHeader(std::string* out, uint16_t major = kFormatMajor, uint16_t minor = kPlainMinor);
// Returns the offset of the block. `compress`: store a zstd frame if that is smaller.
// REQUIRES: payload.size() < kMaxBlockBytes
uint64_t AppendBlock(std::string* out, uint16_t type, std::string_view payload, bool compress = false);
// Ends a file: footer_offset is what AppendBlock returned for the footer, 0 when there is none.
void AppendEnd(std::string* out, uint64_t footer_offset);

struct FileVersion {
  uint16_t major = 0;
  uint16_t minor = 0;
  bool damaged = false;  // the header's checksum is wrong; the numbers may be too
};
// REQUIRES: LooksLikeOpscope(bytes)
[[nodiscard]] FileVersion ReadFileVersion(std::span<const std::byte> bytes);

struct Block {
  uint16_t type = 0;
  uint64_t offset = 0;                 // of the block header in the file
  std::span<const std::byte> payload;  // decompressed; valid until the next call of Next
};

// A block with an intact header. Its payload has not been checked.
struct UndecodedBlock {
  uint16_t type = 0, flags = 0;
  uint32_t plain_bytes = 0;
  uint64_t checksum = 0;
  uint64_t offset = 0;
  std::span<const std::byte> stored;  // in the file
  uint64_t damage_before = 0;         // damaged stretches between the previous block and this one
  int64_t first_damage = -1;          // offset of the first of them, -1: none

  uint64_t end() const { return offset + kBlockHeaderBytes + stored.size(); }
};

// Sets `payload` to bytes of the file or of `decompressed`. False if the payload is damaged.
[[nodiscard]] bool ReadPayload(const UndecodedBlock& block, std::string* decompressed,
                               std::span<const std::byte>* payload);

// Walks over the blocks of a file in one of two ways. Next also decodes the payloads. With NextUndecoded the caller
// decodes them by ReadPayload on any thread, and reports each block to OnDecoded, in order.
class BlockScanner {
 public:
  explicit BlockScanner(std::span<const std::byte> file, uint64_t position = kFileHeaderBytes);

  // The next intact block. False at the end. Skips damage and counts it.
  bool Next(Block* block);

  bool NextUndecoded(UndecodedBlock* block);
  void OnDecoded(const UndecodedBlock& block, bool is_intact);
  void OnEnd();  // call it after the last OnDecoded, when NextUndecoded has returned false

  // Results of all OnDecoded calls so far.
  uint64_t damaged_count() const { return damaged_count_; }
  int64_t first_damage() const { return first_damage_; }  // offset, -1: none
  bool ended() const { return ended_; }                   // the last block is kEnd
  bool truncated() const { return truncated_; }           // the file ends within a block

 private:
  bool ReadHeader(uint64_t offset, UndecodedBlock* block, uint32_t* stored_bytes) const;
  bool AtUnusedSpace() const;
  void AddDamage(uint64_t count, int64_t first);
  void Resynchronise();

  std::span<const std::byte> file_;
  uint64_t position_ = 0;
  uint64_t damaged_count_ = 0;
  int64_t first_damage_ = -1;
  bool ended_ = false;
  bool truncated_ = false;
  bool mapped_ = false;              // zero bytes may lie between blocks
  bool is_resynchronising_ = false;  // looking for the next header
  // Damage since the last block that NextUndecoded returned.
  uint64_t pending_damage_ = 0;
  int64_t pending_first_ = -1;
  bool pending_cut_ = false;
  std::string decompressed_;
};

}  // namespace opscope
