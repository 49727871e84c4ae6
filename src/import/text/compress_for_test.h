// A member of gzip, a frame of zstd, and the way back: for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libdeflate.h>
#include <zstd.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "import/text/decompress.h"
#include "import/text/text_source.h"

namespace opscope {

inline std::string Gzip(std::string_view text) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(1), &libdeflate_free_compressor);
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), text.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), out.data(), out.size()));
  return out;
}

inline std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

inline std::unique_ptr<PieceReader> Decompressed(std::string_view bytes, CompressedFormat format) {
  return Decompress(std::make_unique<PlainText>(std::as_bytes(std::span(bytes))), format);
}

}  // namespace opscope
