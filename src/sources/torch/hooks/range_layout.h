// What the hooks assume of torch's internals: private members of RecordFunction beyond those in abi/torch_layout.h, and
// the symbols of the functions that construct, begin and end a range. They are the same in all releases of
// docs/reference/torch_versions.md, except for before(). The probe (hook_probe.h) checks the assumptions.
//
// Thread rule: as the objects.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/DispatchKeySet.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "sources/torch/abi/torch_layout.h"

namespace opscope::torch_layout {

// The first parameter of RecordFunction::before(): a variant of a name and a schema. Early releases have an overload
// for each; then this is the name.
template <typename Range>
struct Description {
  using Type = std::string;
};
template <typename Range>
  requires requires { typename Range::FunctionDescriptor; }
struct Description<Range> {
  using Type = typename Range::FunctionDescriptor;
};
using Described = Description<at::RecordFunction>::Type;
// The name; a view with null data if `described` is a schema.
template <typename Of>
std::string_view TextOf(const Of& described) {
  if constexpr (std::is_same_v<Of, std::string>) {
    return described;
  } else {
    const auto* text = std::get_if<0>(&described);
    return text != nullptr ? std::string_view(text->data(), text->size()) : std::string_view();
  }
}
// The symbol of that overload of before().
template <typename Of>
constexpr const char* BeforeSymbol() {
  if constexpr (std::is_same_v<Of, std::string>) {
    return _GLIBCXX_USE_CXX11_ABI
               ? "_ZN2at14RecordFunction6beforeENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEl"
               : "_ZN2at14RecordFunction6beforeESsl";
  } else if constexpr (std::is_same_v<std::variant_alternative_t<0, Of>, std::string_view>) {
    return "_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEESt17reference_wrapperI"
           "KN3c1014FunctionSchemaEEEEl";
  } else {  // torch's own view
    return "_ZN2at14RecordFunction6beforeESt7variantIJN3c1017basic_string_viewIcEESt17reference_wrapperIKNS2_14Function"
           "SchemaEEEEl";
  }
}

using StartCallback = at::RecordFunctionCallback::StartCallback;

OPSCOPE_MEMBER(Callbacks, at::StepCallbacks, step_callbacks_);
OPSCOPE_MEMBER(Called, bool, called_start_callbacks_);
OPSCOPE_MEMBER(Contexts, at::ObserverContextList, ctx_);
OPSCOPE_MEMBER(Sequence, int64_t, sequence_nr_);
OPSCOPE_MEMBER(InputList, Inputs, inputs_);
OPSCOPE_MEMBER(Outputs, std::vector<c10::IValue>, outputs_);
OPSCOPE_MEMBER(ForwardThread, uint64_t, fwd_thread_id_);
OPSCOPE_MEMBER(Handle, at::RecordFunctionHandle, handle_);
OPSCOPE_MEMBER(Debug, int64_t, debug_handle_);
OPSCOPE_MEMBER(OutVariant, bool, is_static_runtime_out_variant_);
OPSCOPE_MEMBER(NcclMeta, bool, is_nccl_meta_);

#define OPSCOPE_RUN_SYMBOL                                                                            \
  "_ZN3c1010Dispatcher17runRecordFunctionERN2at14RecordFunctionESt17reference_wrapperIKNS_14Function" \
  "SchemaEENS_11DispatchKeyENS_14DispatchKeySetE"
#define OPSCOPE_RUN_WITH_SYMBOL                                                                       \
  "_ZN3c1010Dispatcher17runRecordFunctionERN2at14RecordFunctionESt17reference_wrapperIKNS_14Function" \
  "SchemaEENS_11DispatchKeyENS_14DispatchKeySetENS_8ArrayRefIKNS_6IValueEEE"

// Private functions, by their exported symbols. Weak: null in a torch without them, which the callbacks record then.
// With a strong reference the library could not be loaded.
extern "C" [[gnu::weak]] const void* const opscope_range_vtable[] __asm__("_ZTVN2at14RecordFunctionE");
[[gnu::weak]] int64_t SequenceOf(c10::DispatchKey, c10::DispatchKeySet) __asm__(
    "_ZN3c1010Dispatcher38sequenceNumberForRunningRecordFunctionENS_11DispatchKeyENS_14DispatchKeySetE");
[[gnu::weak]] void TorchRun(at::RecordFunction&, Schema, c10::DispatchKey,
                            c10::DispatchKeySet) __asm__(OPSCOPE_RUN_SYMBOL);
[[gnu::weak]] void TorchRunWith(at::RecordFunction&, Schema, c10::DispatchKey, c10::DispatchKeySet,
                                Inputs) __asm__(OPSCOPE_RUN_WITH_SYMBOL);

// The functions that have hooks, and the symbols of their GOT entries.
enum Function : size_t {
  kAsk,
  kConstruct,
  kRun,
  kRunWith,
  kDestroy,
  kConstructScope,
  kBefore,
  kSetList,
  kDemangle,
  kFunctions
};
inline constexpr const char* kSymbols[kFunctions] = {
    "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE",
    "_ZN2at14RecordFunctionC1EONS_13StepCallbacksE",
    OPSCOPE_RUN_SYMBOL,
    OPSCOPE_RUN_WITH_SYMBOL,
    "_ZN2at14RecordFunctionD1Ev",
    "_ZN2at14RecordFunctionC1ENS_11RecordScopeE",
    BeforeSymbol<Described>(),
    "_ZN2at24set_record_function_tls_ERKNS_17RecordFunctionTLSE",
#if _GLIBCXX_USE_CXX11_ABI
    "_ZN3c108demangleB5cxx11EPKc",
#else
    "_ZN3c108demangleEPKc",
#endif
};
#undef OPSCOPE_RUN_SYMBOL
#undef OPSCOPE_RUN_WITH_SYMBOL
// libtorch_cpu must call these through its GOT; the other hooks are optional.
inline constexpr uint32_t kNeeded = 1u << kAsk | 1u << kConstruct | 1u << kRun | 1u << kRunWith | 1u << kDestroy;

// The libraries whose entries are patched. They are never unloaded, so each entry can be restored.
inline constexpr const char* kLibraries[] = {"libtorch_cpu.so", "libtorch_python.so", "libtorch_cuda.so",
                                             "libtorch_xpu.so"};

}  // namespace opscope::torch_layout
