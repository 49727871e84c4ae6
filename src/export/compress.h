// Compresses blocks one by one into pieces that follow each other in a file: gzip members, zstd frames.
// Pieces are independent, so several threads can make them; every reader of gzip and zstd joins them.
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

  // The piece of `text`; the view lives until the next call. kNone: `text` itself.
  std::string_view Compress(std::string_view text);

 private:
  Compression compression_;
  libdeflate_compressor* deflate_ = nullptr;
  ZSTD_CCtx_s* zstd_ = nullptr;
  std::string piece_;
};

[[nodiscard]] int GzipLevel(bool small_gzip);

// What the ending of a file name asks for.
Compression CompressionOfName(std::string_view path);

}  // namespace opscope
