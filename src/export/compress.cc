// SPDX-License-Identifier: Apache-2.0
#include "export/compress.h"

#include <libdeflate.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <new>

namespace opscope {
namespace {

// ResNet-18 steps with shapes, against gzip -9 of torch's file: 0.99 of its bytes, and 0.91. Level 7: 0.94, in half as
// much time again.
constexpr int kFastLevel = 6;
constexpr int kSmallLevel = 8;
constexpr int kZstdLevel = 3;

}  // namespace

BlockCompressor::BlockCompressor(Compression compression, int gzip_level) : compression_(compression) {
  if (compression == Compression::kGzip) {
    deflate_ = libdeflate_alloc_compressor(gzip_level);
    if (deflate_ == nullptr) throw std::bad_alloc();
  } else if (compression == Compression::kZstd) {
    zstd_ = ZSTD_createCCtx();
    if (zstd_ == nullptr) throw std::bad_alloc();
  }
}

BlockCompressor::~BlockCompressor() {
  libdeflate_free_compressor(deflate_);
  ZSTD_freeCCtx(zstd_);
}

std::string_view BlockCompressor::Compress(std::string_view text) {
  size_t size = 0;
  switch (compression_) {
    case Compression::kNone:
      return text;
    case Compression::kGzip:
      piece_.resize(libdeflate_gzip_compress_bound(deflate_, text.size()));
      size = libdeflate_gzip_compress(deflate_, text.data(), text.size(), piece_.data(), piece_.size());
      OPSCOPE_CHECK(size != 0);
      break;
    case Compression::kZstd:
      piece_.resize(ZSTD_compressBound(text.size()));
      size = ZSTD_compressCCtx(zstd_, piece_.data(), piece_.size(), text.data(), text.size(), kZstdLevel);
      if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      OPSCOPE_CHECK(!ZSTD_isError(size));
      break;
  }
  return {piece_.data(), size};
}

int GzipLevel(bool small_gzip) {
  return small_gzip ? kSmallLevel : kFastLevel;
}

Compression CompressionOfName(std::string_view path) {
  if (path.ends_with(".gz")) return Compression::kGzip;
  if (path.ends_with(".zst")) return Compression::kZstd;
  return Compression::kNone;
}

}  // namespace opscope
