// How a private counter is found: collect all words of libtorch_cpu's writable data that hold a small number, then add,
// disable, enable and remove a global callback, and after each step drop the words that did not grow by one. One word
// remains. It takes a millisecond, once per process. Torch's wheels have no debug symbols that would name the counter.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/callback_version.h"

#include <ATen/record_function.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "sources/got/got_entries.h"
#include "sources/torch/callbacks/callback_pool.h"

namespace opscope {
namespace {

struct Word {
  const uint64_t* address;
  uint64_t value;
};

uint64_t Read(const uint64_t* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

// The words of torch's variables that may be the counter.
std::vector<Word> CandidateWords() {
  constexpr uint64_t kMax = uint64_t{1} << 24;
  std::vector<Word> words;
  for (const Segment& segment : SegmentsOf("libtorch_cpu.so")) {
    if (!segment.is_writable) continue;
    const auto* end = reinterpret_cast<const uint64_t*>(segment.end & ~uintptr_t{7});
    for (const auto* word = reinterpret_cast<const uint64_t*>((segment.begin + 7) & ~uintptr_t{7}); word < end;
         ++word) {
      if (const uint64_t value = Read(word); value - 1 < kMax) words.push_back({word, value});
    }
  }
  return words;
}

// Drops the words that have not grown by `grown` since CandidateWords.
void KeepGrown(uint64_t grown, std::vector<Word>* words) {
  std::erase_if(*words, [grown](const Word& word) { return Read(word.address) != word.value + grown; });
}

std::vector<Word> WordsThatCountChanges() {
  at::RecordFunctionCallback never([](const at::RecordFunction&) { return std::unique_ptr<at::ObserverContext>(); });
  never.samplingProb(0);
  std::vector<Word> words = CandidateWords();
  const at::CallbackHandle handle = at::addGlobalCallback(never);
  KeepGrown(1, &words);
  at::disableCallback(handle);
  KeepGrown(2, &words);
  KeepGrown(2, &words);
  at::reenableCallback(handle);
  KeepGrown(3, &words);
  at::removeCallback(handle);
  KeepGrown(4, &words);
  return words;
}

}  // namespace

const std::atomic<size_t>* FindGlobalCallbackVersion() {
  const MutexLock lock(RegistrationLock());
  for (int attempt = 0; attempt < 3; ++attempt) {  // another thread may change global callbacks meanwhile
    const std::vector<Word> words = WordsThatCountChanges();
    if (words.size() == 1) return reinterpret_cast<const std::atomic<size_t>*>(words[0].address);
  }
  return nullptr;
}

}  // namespace opscope
