// How objects of unknown layout are compared: torch constructs one RecordFunction in memory filled with 0xee and one in
// memory filled with 0x11. Bytes that differ between the two are bytes that torch does not write. All other bytes of a
// RecordFunction that a hook constructed must be equal to torch's; pointers into the object are compared as offsets.
// The name is not compared: torch constructs it as an empty string and the hooks as a schema.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/hooks/hook_probe.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/record_function.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/mutex.h"
#include "sources/got/patched_entries.h"
#include "sources/torch/hooks/range_hooks.h"

namespace opscope::range_hooks {
namespace {

// A sink that counts the calls of the hooks. Its start callback records one operator, aten::empty.
struct Counting : NeverDrops {
  static inline thread_local std::array<uint32_t, kSteps> counts = {};
  static inline bool ended_right = false;
  struct Context final : at::ObserverContext {
    bool ends_range = false;
    ~Context() override { ended_right |= ends_range; }
  };
  static std::unique_ptr<at::ObserverContext> Start(const at::RecordFunction& range) {
    ended_right = false;
    return std::string_view(range.name()) == "aten::empty" ? std::make_unique<Context>() : nullptr;
  }
  static void End(const at::RecordFunction& range, at::ObserverContext* context) {
    ended_right = context != nullptr && range.scope() == at::RecordScope::FUNCTION;
  }
  static constexpr auto kEnd = &End;
  static void EndAndRelease(at::ObserverContext* context) {
    ended_right = context != nullptr;
    delete context;
  }
  static void EndWhenDeleted(at::ObserverContext* context) { static_cast<Context*>(context)->ends_range = true; }
  static void Count(Step what) { ++counts[what]; }
};
using Probed = Functions<Counting>;

// Memory for a RecordFunction and some bytes behind it, filled with `poison`.
struct alignas(64) Specimen {
  static constexpr size_t kBytes = sizeof(at::RecordFunction) + 256;
  unsigned char bytes[kBytes];

  explicit Specimen(int poison) { std::memset(bytes, poison, kBytes); }
  at::RecordFunction* range() { return reinterpret_cast<at::RecordFunction*>(bytes); }
  // The word at an offset; a pointer into the specimen is returned as an offset.
  uint64_t Word(size_t at) const {
    uint64_t word;
    std::memcpy(&word, bytes + at, sizeof(word));
    const auto begin = reinterpret_cast<uintptr_t>(bytes);
    return word >= begin && word < begin + kBytes ? word - begin : word;
  }
};

bool AreEqual(const at::StepCallbacks& a, const at::StepCallbacks& b) {
  const auto inline_of = [](const at::StepCallbacks& of) {
    return reinterpret_cast<const char*>(of.callbacks_.begin()) - reinterpret_cast<const char*>(&of);
  };
  return a.callbacks_.size() == 1 && b.callbacks_.size() == 1 && inline_of(a) == inline_of(b) &&
         a.callbacks_.capacity() == b.callbacks_.capacity() &&
         a.callbacks_.begin()->start_ == b.callbacks_.begin()->start_ &&
         a.callbacks_.begin()->end_ == b.callbacks_.begin()->end_ && a.thread_id_ == b.thread_id_ &&
         a.scope_ == b.scope_ && a.needs_inputs_ == b.needs_inputs_ && a.needs_outputs_ == b.needs_outputs_ &&
         a.needs_ids_ == b.needs_ids_;
}

// a, other: constructed by torch in memory with different poison; ours: by a hook, with the poison of `a`.
bool IsSameAsTorchs(Specimen& a, const Specimen& other, const Specimen& ours) {
  const auto* name = reinterpret_cast<unsigned char*>(&(a.range()->*Reach(torch_layout::Name())));
  const auto name_begin = static_cast<size_t>(name - a.bytes);
  const size_t name_end = name_begin + sizeof(torch_layout::NameOrSchema);
  for (size_t at = 0; at < Specimen::kBytes; at += 8) {
    if (at >= name_begin && at < name_end) continue;  // torch's name is an empty string
    const uint64_t unwritten = a.Word(at) ^ other.Word(at), differs = a.Word(at) ^ ours.Word(at);
    for (int bit = 0; bit < 64; bit += 8) {
      if ((unwritten >> bit & 0xff) == 0 && (differs >> bit & 0xff) != 0) return false;
    }
  }
  return true;
}

// REQUIRES: the thread's only callback is Counting's.
const char* CompareWithTorch() {
  AskTorch(at::RecordScope::FUNCTION);  // caches the thread's list
  const auto theirs = at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION);
  const auto ours = Probed::Ask(at::RecordScope::FUNCTION);
  if (!theirs.has_value() || !ours.has_value()) return "torch does not see the callback";
  if (!AreEqual(*theirs, *ours)) return "torch's list of callbacks looks different";
  Specimen a(0xee), other(0x11), b(0xee), c(0x11);
  new (a.bytes) at::RecordFunction(at::StepCallbacks(*theirs));  // in torch's library
  new (other.bytes) at::RecordFunction(at::StepCallbacks(*theirs));
  at::StepCallbacks for_b(*ours), for_c(*ours);
  Probed::Construct(b.range(), &for_b);
  Probed::Construct(c.range(), &for_c);
  const char* complaint = nullptr;
  if (!IsSameAsTorchs(a, other, b)) complaint = "torch's RecordFunction looks different";
  if (b.range()->*Reach(torch_layout::Called()) || !b.range()->isActive()) {
    complaint = "torch's RecordFunction is used differently";
  }
  other.range()->at::RecordFunction::~RecordFunction();
  a.range()->at::RecordFunction::~RecordFunction();
  b.range()->at::RecordFunction::~RecordFunction();  // torch's destructor on a range of ours
  Probed::Destroy(c.range());
  return complaint;
}

// Ends a hidden range by the hook, and another one by torch. REQUIRES: the thread's only callback is Counting's.
const char* ProbeHidden(const at::RecordFunctionCallbacksEntry& ours) {
  static const c10::FunctionSchema& schema = *new c10::FunctionSchema("aten::empty", "", {}, {});
  for (const bool by_torch : {false, true}) {
    Specimen memory(0xee);
    at::RecordFunction* range = memory.range();
    Probed::BeginHidden(range, ours, schema);
    const bool is_hidden = !range->isActive() && !Counting::ended_right;
    by_torch ? range->at::RecordFunction::~RecordFunction() : Probed::Destroy(range);
    if (!is_hidden || !Counting::ended_right) return "torch's RecordFunction ends differently";
  }
  return nullptr;
}

const char* CountOneOperator(std::span<const GotEntry> entries, bool inputs) {
  const MutexLock lock(GotLock());
  PatchedEntries patched;
  if (!patched.PatchAll(entries, HooksOf<Counting>())) return kNotWritable;
  Counting::counts = {};
  at::_ops::empty_memory_format::call(c10::SymIntArrayRef(), {}, {}, {}, {}, {});
  patched.Restore();
  const bool is_counted = Counting::counts == std::array<uint32_t, kSteps>{1, 1, 1, 1} && Counting::ended_right;
  if (is_counted) return nullptr;
  return inputs ? "an operator with arguments took another way than expected"
                : "an operator took another way than expected";
}

const char* ProbeWith(at::CallbackHandle handle, std::span<const GotEntry> entries, bool inputs) {
  const auto& callbacks = at::get_record_function_tls_().sorted_tls_callbacks_;
  const bool is_listed = callbacks.size() == 1 && callbacks[0].handle_ == handle && callbacks[0].enabled_;
  if (!is_listed) return "torch keeps its callbacks differently";
  const char* complaint = CompareWithTorch();
  if (complaint == nullptr) complaint = ProbeHidden(callbacks[0]);
  return complaint != nullptr ? complaint : CountOneOperator(entries, inputs);
}

}  // namespace

const char* ProbeHooks(std::span<const GotEntry> entries) {
  const at::RecordFunctionTLS& list = at::get_record_function_tls_();
  if (!list.sorted_tls_callbacks_.empty() || !list.tls_record_function_enabled_ || at::hasGlobalCallbacks()) {
    return "another profiler is at work where it should be tried";
  }
  for (const bool inputs : {false, true}) {
    at::RecordFunctionCallback callback(&Counting::Start, &Counting::End);
    callback.needsInputs(inputs);
    const at::CallbackHandle handle = at::addThreadLocalCallback(callback);
    const char* complaint = ProbeWith(handle, entries, inputs);
    at::removeCallback(handle);
    if (complaint != nullptr) return complaint;
  }
  return nullptr;
}

}  // namespace opscope::range_hooks
