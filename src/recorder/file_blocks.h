// Headers of blocks as the recorder writes them into its file (src/wire/FORMAT.md).
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/block_header.h"

namespace opscope {

// Header of a file with mapped blocks.
FileHeader MappedFileHeader();

// payload null: block_flags::kUnchecked.
BlockHeader MakeBlockHeader(uint16_t type, uint16_t flags, const void* payload, uint64_t bytes);

// Writes the header where a reader may look at any time: the word with the magic last.
void CommitBlockHeader(const BlockHeader& header, void* address);

}  // namespace opscope
