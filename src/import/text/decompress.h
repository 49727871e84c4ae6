// Decompresses gzip and zstd, recognised by content, piece by piece. All members or frames of the input are read one
// after the other; memory use does not depend on their sizes.
//
// Thread rule: pure functions; a returned reader as PieceReader.
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

// REQUIRES: not kNone; nothing was taken of `compressed`. The reader releases the input that it has read.
[[nodiscard]] std::unique_ptr<PieceReader> Decompress(std::unique_ptr<TextSource> compressed, CompressedFormat format);

}  // namespace opscope
