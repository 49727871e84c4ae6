// A pool of zstd contexts: creating one costs more than compressing a short plane (column_codec.h).
//
//   const PooledCompressor compressor = TakeCompressor();
//   ZSTD_compress2(compressor.get(), ...);
//
// Thread rule: any thread. Lock-free, so a child of fork can use it too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zstd.h>

#include <memory>

namespace opscope {

struct ReturnToPool {
  void operator()(ZSTD_CCtx* context) const;
  void operator()(ZSTD_DCtx* context) const;
};
using PooledCompressor = std::unique_ptr<ZSTD_CCtx, ReturnToPool>;
using PooledDecompressor = std::unique_ptr<ZSTD_DCtx, ReturnToPool>;

// Takes an idle context or creates one. Throws std::bad_alloc.
[[nodiscard]] PooledCompressor TakeCompressor();
[[nodiscard]] PooledDecompressor TakeDecompressor();

// Its destructor frees the idle contexts. Create one around the reading or writing of a file.
class ZstdContexts {
 public:
  ZstdContexts() = default;
  ~ZstdContexts();
  ZstdContexts(const ZstdContexts&) = delete;
  ZstdContexts& operator=(const ZstdContexts&) = delete;
};

}  // namespace opscope
