// Transparent gzip and zstd.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "opscope/result.h"

namespace opscope {

enum class CompressedFormat : uint8_t { kNone, kGzip, kZstd };

[[nodiscard]] CompressedFormat DetectCompression(std::span<const std::byte> bytes);

struct Decompressed {
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte, Free> data;  // from malloc, so that growing moves pages, not bytes
  size_t size = 0;
  int64_t damaged_at = -1;  // byte of the compressed input where it ended or broke; what came before is in `data`
  bool cut = false;         // damaged because it ends too early
  bool over_limit = false;  // stopped at max_bytes
  std::span<const std::byte> bytes() const { return {data.get(), size}; }
};

// All members or frames of `bytes`, one after the other. kMalformed when not one byte comes out.
// max_bytes 0: no limit.
[[nodiscard]] Result<Decompressed> Decompress(std::span<const std::byte> bytes, CompressedFormat format,
                                              std::string_view name, uint64_t max_bytes);

}  // namespace opscope
