// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/tensors/tensor_free_hook.h"

#include <algorithm>
#include <span>
#include <vector>

#include "sources/got/patched_entries.h"

namespace opscope::body_deaths {

constinit std::atomic<const void*> told_class{nullptr};

namespace {

// By the ABI of Itanium the objects of a class point behind the first two words of its table. Weak: null where a torch
// exports none.
constexpr size_t kBeforeFunctions = 2, kMostFunctions = 8;
extern "C" [[gnu::weak]] void* const opscope_body_vtable[] __asm__("_ZTVN3c1010TensorImplE");
extern "C" [[gnu::weak]] void TorchDelete(c10::TensorImpl* body) __asm__("_ZN3c1010TensorImplD0Ev");

constinit OnDeath told = nullptr;

// With SlotLock(). Never destroyed.
PointedSlots& Pointed() {
  static PointedSlots& pointed = *new PointedSlots;
  return pointed;
}

void Delete(c10::TensorImpl* body) {
  told(body);
  TorchDelete(body);
}

bool PointDelete() {
  if (&opscope_body_vtable == nullptr || &TorchDelete == nullptr) return false;
  const std::span functions(opscope_body_vtable + kBeforeFunctions, kMostFunctions);
  const auto found = std::ranges::find(functions, reinterpret_cast<void*>(&TorchDelete));
  if (found == functions.end()) return false;
  const std::vector<Segment> segments = SegmentsOf("libc10.so");
  const Segment* segment = SegmentAround(&*found, segments);
  if (segment == nullptr) return false;
  const CallSlot entry{.place = const_cast<void**>(&*found), .is_protected = !segment->is_writable};
  return Pointed().Point(entry, reinterpret_cast<void*>(&Delete));
}

__attribute__((constructor)) void WatchForksOfDeaths() {
  Pointed();  // made before a child can ask for it
  WatchForksOfSlots([] { Unwatch(); });
}

}  // namespace

void Watch(OnDeath on_death) {
  told = on_death;
  if (Pointed().empty() && PointDelete()) told_class.store(opscope_body_vtable + kBeforeFunctions);
}

void Unwatch() {
  told_class.store(nullptr);
  Pointed().PutBack();
}

}  // namespace opscope::body_deaths
