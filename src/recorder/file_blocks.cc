// The hash is compiled in: the recorder is one library that needs no other.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/file_blocks.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "opscope/record.h"

namespace opscope {

FileHeader MappedFileHeader() {
  FileHeader header;
  header.minor = 1;
  header.check = static_cast<uint32_t>(XXH3_64bits(&header, offsetof(FileHeader, check)));
  return header;
}

BlockHeader MakeBlockHeader(uint16_t type, uint16_t flags, const void* payload, uint64_t bytes) {
  BlockHeader header;
  header.type = type;
  header.flags = payload == nullptr ? static_cast<uint16_t>(flags | block_flags::kUnchecked) : flags;
  header.stored_bytes = header.plain_bytes = static_cast<uint32_t>(bytes);
  header.payload_check = payload == nullptr ? 0 : XXH3_64bits(payload, bytes);
  header.check = static_cast<uint32_t>(XXH3_64bits(&header, offsetof(BlockHeader, check)));
  return header;
}

void CommitBlockHeader(const BlockHeader& header, void* address) {
  uint64_t words[4];
  static_assert(sizeof(words) == sizeof(header));
  std::memcpy(words, &header, sizeof(words));
  auto* to = static_cast<PublishedWord*>(address);
  for (int i = 3; i >= 0; --i)
    __atomic_store_n(to + i, words[i], __ATOMIC_RELEASE);
}

}  // namespace opscope
