// Text in UTF-16 (PowerShell writes what a program prints so, behind a byte-order mark) as pieces of UTF-8, the mark
// left out. Offsets in what is made of it count bytes of that UTF-8.
//
// Thread rule: pure functions; a reader as PieceReader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "import/text/text_pieces.h"
#include "import/text/text_source.h"

namespace opscope {

enum class Utf16Order : uint8_t { kNone, kLittleEndian, kBigEndian };

[[nodiscard]] Utf16Order DetectUtf16(std::span<const std::byte> bytes);

// A surrogate without its other half becomes what its escape in JSON stands for (AppendCodePoint). At a last byte
// without its other half the text ends as cut. REQUIRES: not kNone; nothing was taken of `text`, which lives longer.
[[nodiscard]] std::unique_ptr<PieceReader> ReadUtf16(TextSource* text, Utf16Order order);

}  // namespace opscope
