// gzip and zstd, found by content, piece by piece: all members or frames of the input, one after the other, in memory
// that does not depend on how long they are.
//
// Thread rule: pure functions; a reader as PieceReader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "import/text_pieces.h"

namespace opscope {

enum class CompressedFormat : uint8_t { kNone, kGzip, kZstd };

[[nodiscard]] CompressedFormat DetectCompression(std::span<const std::byte> bytes);

// REQUIRES: not kNone
[[nodiscard]] std::unique_ptr<PieceReader> Decompress(std::span<const std::byte> bytes, CompressedFormat format);

}  // namespace opscope
