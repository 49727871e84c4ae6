// Compresses blocks into gzip members or zstd frames that are concatenated in a file. Pieces are independent, so
// several threads can make them; every reader of gzip and zstd joins them.
//
// Thread rule: one thread at a time per object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "opscope/export/output_file.h"
#include "opscope/result.h"

struct libdeflate_compressor;
struct ZSTD_CCtx_s;

namespace opscope {

class BlockCompressor {
 public:
  BlockCompressor(Compression compression, int gzip_level);
  ~BlockCompressor();
  BlockCompressor(const BlockCompressor&) = delete;
  BlockCompressor& operator=(const BlockCompressor&) = delete;

  // Returns the compressed piece, valid until the next call; for kNone `text` itself. Throws std::bad_alloc.
  std::string_view Compress(std::string_view text);

 private:
  Compression compression_;
  libdeflate_compressor* deflate_ = nullptr;
  ZSTD_CCtx_s* zstd_ = nullptr;
  std::string piece_;
};

[[nodiscard]] int GzipLevel(bool small_gzip);

// kGzip for ".gz", kZstd for ".zst", else kNone.
Compression CompressionOfName(std::string_view path);

}  // namespace opscope
