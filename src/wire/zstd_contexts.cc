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
constexpr size_t kMaxIdle = 16;

template <typename Context>
class IdleContexts {
 public:
  // Null if no context is idle.
  Context* Take() {
    for (std::atomic<Context*>& slot : slots_) {
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      if (Context* context = slot.exchange(nullptr, std::memory_order_acquire)) return context;
    }
    return nullptr;
  }

  // False if no slot is free.
  bool Put(Context* context) {
    for (std::atomic<Context*>& slot : slots_) {
      Context* expected = nullptr;
      if (slot.compare_exchange_strong(expected, context, std::memory_order_release, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

 private:
  std::array<std::atomic<Context*>, kMaxIdle> slots_{};
};

constinit IdleContexts<ZSTD_CCtx> compressors;
constinit IdleContexts<ZSTD_DCtx> decompressors;

}  // namespace

void ReturnToPool::operator()(ZSTD_CCtx* context) const {
  if (!compressors.Put(context)) ZSTD_freeCCtx(context);
}
void ReturnToPool::operator()(ZSTD_DCtx* context) const {
  if (!decompressors.Put(context)) ZSTD_freeDCtx(context);
}

PooledCompressor TakeCompressor() {
  if (ZSTD_CCtx* idle = compressors.Take()) return PooledCompressor(idle);
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (context == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  return PooledCompressor(context);
}

PooledDecompressor TakeDecompressor() {
  if (ZSTD_DCtx* idle = decompressors.Take()) return PooledDecompressor(idle);
  ZSTD_DCtx* context = ZSTD_createDCtx();
  if (context == nullptr) throw std::bad_alloc();
  return PooledDecompressor(context);
}

ZstdContexts::~ZstdContexts() {
  while (ZSTD_CCtx* context = compressors.Take())
    ZSTD_freeCCtx(context);
  while (ZSTD_DCtx* context = decompressors.Take())
    ZSTD_freeDCtx(context);
}

}  // namespace opscope
