// A lock-free pool of zstd contexts: 16 atomic pointers each for compression and decompression, taken and
// returned by exchange. Creating a context costs more than compressing a short plane, and each column has
// several planes. A thread_local context would be simpler, but registering its destructor allocates, and
// the C library ends the program if that fails.
// SPDX-License-Identifier: Apache-2.0
#include "wire/zstd_contexts.h"

#include <array>
#include <atomic>
#include <new>

namespace opscope {
namespace {

constexpr int kLevel = 3;
constexpr size_t kMaxIdle = 16;  // more threads than that make contexts of their own

template <typename Context>
class IdleContexts {
 public:
  // Null: none idles.
  Context* Take() {
    for (std::atomic<Context*>& slot : slots_) {
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      if (Context* context = slot.exchange(nullptr, std::memory_order_acquire)) return context;
    }
    return nullptr;
  }

  // False: no slot is free.
  bool Keep(Context* context) {
    for (std::atomic<Context*>& slot : slots_) {
      Context* none = nullptr;
      if (slot.compare_exchange_strong(none, context, std::memory_order_release, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

 private:
  std::array<std::atomic<Context*>, kMaxIdle> slots_{};
};

constinit IdleContexts<ZSTD_CCtx> compressors;
constinit IdleContexts<ZSTD_DCtx> decompressors;

ZSTD_CCtx* MakeCompressor() {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (context == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  return context;
}

ZSTD_DCtx* MakeDecompressor() {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

}  // namespace

PooledCompressor::PooledCompressor() : context_(compressors.Take()) {
  if (context_ == nullptr) context_ = MakeCompressor();
}
PooledCompressor::~PooledCompressor() {
  if (!compressors.Keep(context_)) ZSTD_freeCCtx(context_);
}

PooledDecompressor::PooledDecompressor() : context_(decompressors.Take()) {
  if (context_ == nullptr) context_ = MakeDecompressor();
}
PooledDecompressor::~PooledDecompressor() {
  if (!decompressors.Keep(context_)) ZSTD_freeDCtx(context_);
}

ZstdContexts::~ZstdContexts() {
  while (ZSTD_CCtx* context = compressors.Take())
    ZSTD_freeCCtx(context);
  while (ZSTD_DCtx* context = decompressors.Take())
    ZSTD_freeDCtx(context);
}

}  // namespace opscope
