// Contexts of zstd from a pool: making one costs more than compressing a short plane (a byte plane of a column,
// column_encoding.h), so each is reused. Not thread_local: where memory is too short to note a destructor, the C
// library ends the program.
//
// Thread rule: any thread; nothing waits, so a child of fork may go on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zstd.h>

namespace opscope {

// std::bad_alloc: memory is short.
class PooledCompressor {
 public:
  PooledCompressor();
  ~PooledCompressor();
  PooledCompressor(const PooledCompressor&) = delete;
  PooledCompressor& operator=(const PooledCompressor&) = delete;
  ZSTD_CCtx* get() const { return context_; }

 private:
  ZSTD_CCtx* context_;
};

class PooledDecompressor {
 public:
  PooledDecompressor();
  ~PooledDecompressor();
  PooledDecompressor(const PooledDecompressor&) = delete;
  PooledDecompressor& operator=(const PooledDecompressor&) = delete;
  ZSTD_DCtx* get() const { return context_; }

 private:
  ZSTD_DCtx* context_;
};

// Lives while a whole file is read or written; its destructor frees the idle contexts.
class ZstdContexts {
 public:
  ZstdContexts() = default;
  ~ZstdContexts();
  ZstdContexts(const ZstdContexts&) = delete;
  ZstdContexts& operator=(const ZstdContexts&) = delete;
};

}  // namespace opscope
