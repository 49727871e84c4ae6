// gzip and zstd, found by content, piece by piece: all members or frames of the input, one after the other, in memory
// that depends neither on how long they are nor on how long what is in them is.
//
// Thread rule: pure functions; a reader as PieceReader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "import/text/text_pieces.h"

namespace opscope {

enum class CompressedFormat : uint8_t { kNone, kGzip, kZstd };

[[nodiscard]] CompressedFormat DetectCompression(std::span<const std::byte> bytes);

// REQUIRES: not kNone; nothing was taken of `compressed`. Releases what it has read.
[[nodiscard]] std::unique_ptr<PieceReader> Decompress(std::unique_ptr<TextSource> compressed, CompressedFormat format);

}  // namespace opscope
