// The header of a `.opscope` file and of each of its blocks (FORMAT.md). container.h uses them, and so does the
// recorder, which writes while it records and can use neither strings nor zstd.
//
// Thread rule: constants and plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace opscope {

inline constexpr char kFileMagic[8] = {'O', 'P', 'S', 'C', 'O', 'P', 'E', '\0'};
inline constexpr uint16_t kFormatMajor = 1;          // readers refuse a larger one
inline constexpr uint16_t kFormatMinor = 2;          // readers warn of a larger one and skip what they do not know
inline constexpr uint32_t kBlockMagic = 0x4b4c424f;  // "OBLK"
inline constexpr uint32_t kMaxBlockBytes = uint32_t{1} << 30;

namespace block_types {
// 1 kWindowInfo, 2 kRawChunk and 3 kLiveChunk come from the recorder (opscope/recorder_abi.h).
inline constexpr uint16_t kTraceInfo = 16;  // facts about an exported Trace (trace_info.h)
inline constexpr uint16_t kTable = 17;      // rows of one table as columns (table_block.h)
inline constexpr uint16_t kStrings = 18;    // a run of the string dictionary
inline constexpr uint16_t kFooter = 19;     // directory of blocks and sums per name (footer.h)
inline constexpr uint16_t kEnd = 20;        // the file is complete; payload: offset of the footer block, or 0
}  // namespace block_types

namespace block_flags {
inline constexpr uint16_t kZstd = 1;       // the payload is one zstd frame
inline constexpr uint16_t kUnchecked = 2;  // the payload has no checksum: it changes while the file is written
inline constexpr uint16_t kMapped = 4;     // in a file's first block: zero bytes may lie between blocks
}  // namespace block_flags

struct FileHeader {
  char magic[8] = {'O', 'P', 'S', 'C', 'O', 'P', 'E', '\0'};
  uint16_t major = kFormatMajor;
  uint16_t minor = kFormatMinor;
  uint32_t check = 0;  // low half of XXH3-64 of the bytes before
};
inline constexpr size_t kFileHeaderBytes = 16;
static_assert(sizeof(FileHeader) == kFileHeaderBytes);

struct BlockHeader {
  uint32_t magic = kBlockMagic;
  uint16_t type = 0;
  uint16_t flags = 0;
  uint32_t stored_bytes = 0;
  uint32_t plain_bytes = 0;
  uint64_t payload_check = 0;  // XXH3-64 of the stored payload
  uint32_t reserved = 0;
  uint32_t check = 0;  // low half of XXH3-64 of the bytes before
};
inline constexpr size_t kBlockHeaderBytes = 32;
static_assert(sizeof(BlockHeader) == kBlockHeaderBytes);

}  // namespace opscope
