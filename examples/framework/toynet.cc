// The framework. It knows nothing of opscope.
// SPDX-License-Identifier: Apache-2.0
#include "toynet.h"

#include <atomic>
#include <cmath>
#include <cstring>

namespace {

constexpr int kObservers = 8;
std::atomic<const toynet_observer*> observers[kObservers];
thread_local int depth = 0;

// Calls all observers of an operator.
class ObserverCalls {
 public:
  explicit ObserverCalls(const char* op) {
    for (int i = 0; i < kObservers; ++i) {
      observers_[i] = observers[i].load(std::memory_order_acquire);
      if (observers_[i] != nullptr) tokens_[i] = observers_[i]->begin(observers_[i]->context, op, depth);
    }
    ++depth;
  }
  ~ObserverCalls() {
    --depth;
    for (int i = kObservers; i-- > 0;) {
      if (observers_[i] != nullptr) observers_[i]->end(tokens_[i]);
    }
  }

 private:
  const toynet_observer* observers_[kObservers] = {};
  void* tokens_[kObservers] = {};
};

double Leaf(const char* op, int size) {
  const ObserverCalls calls(op);
  double sum = 0;
  for (int i = 1; i <= size; ++i)
    sum += std::sqrt(static_cast<double>(i));
  return sum;
}

}  // namespace

extern "C" {

int toynet_add_observer(const toynet_observer* observer) {
  for (int i = 0; i < kObservers; ++i) {
    const toynet_observer* none = nullptr;
    if (observers[i].compare_exchange_strong(none, observer)) return i + 1;
  }
  return 0;
}

void toynet_remove_observer(int number) {
  observers[number - 1].store(nullptr);
}

double toynet_run(const char* op, int size) {
  if (std::strcmp(op, "conv") != 0) return Leaf(op, size);
  const ObserverCalls calls(op);
  return Leaf("pad", size / 4) + Leaf("matmul", size);
}

const char* toynet_version() {
  return "1.0";
}
}
