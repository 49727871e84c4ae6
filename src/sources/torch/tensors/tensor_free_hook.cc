// The vtable is found by its symbol, and the entry in it by the address of the deleting destructor. The pages of a
// vtable are read-only after relocation, so the entry is written as a protected GOT entry is.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/tensors/tensor_free_hook.h"

#include <algorithm>
#include <span>
#include <vector>

#include "sources/got/patched_entries.h"

namespace opscope::tensor_free_hook {

constinit std::atomic<const void*> watched_class{nullptr};

namespace {

// In the Itanium ABI an object points behind the first two words of its vtable. Weak: null in a torch that does not
// export the symbol.
constexpr size_t kBeforeFunctions = 2, kMaxFunctions = 8;
extern "C" [[gnu::weak]] void* const opscope_tensor_vtable[] __asm__("_ZTVN3c1010TensorImplE");
extern "C" [[gnu::weak]] void TorchDelete(c10::TensorImpl* tensor) __asm__("_ZN3c1010TensorImplD0Ev");

constinit OnFree free_callback = nullptr;

// Guarded by GotLock(). Never destroyed.
PatchedEntries& Patched() {
  static PatchedEntries& patched = *new PatchedEntries;
  return patched;
}

void Delete(c10::TensorImpl* tensor) {
  free_callback(tensor);
  TorchDelete(tensor);
}

bool PatchDelete() {
  if (&opscope_tensor_vtable == nullptr || &TorchDelete == nullptr) return false;
  const std::span functions(opscope_tensor_vtable + kBeforeFunctions, kMaxFunctions);
  const auto found = std::ranges::find(functions, reinterpret_cast<void*>(&TorchDelete));
  if (found == functions.end()) return false;
  const std::vector<Segment> segments = SegmentsOf("libc10.so");
  const Segment* segment = FindSegment(&*found, segments);
  if (segment == nullptr) return false;
  const GotEntry entry{.address = const_cast<void**>(&*found), .is_protected = !segment->is_writable};
  return Patched().Patch(entry, reinterpret_cast<void*>(&Delete));
}

__attribute__((constructor)) void WatchForksOfFrees() {
  Patched();  // constructed before a forked child can use it
  CallInForkedChild([] { Unwatch(); });
}

}  // namespace

void Watch(OnFree on_free) {
  free_callback = on_free;
  if (Patched().empty() && PatchDelete()) watched_class.store(opscope_tensor_vtable + kBeforeFunctions);
}

void Unwatch() {
  watched_class.store(nullptr);
  Patched().Restore();
}

}  // namespace opscope::tensor_free_hook
