// Reads Kineto's state through symbols of libtorch_cpu, without its headers: the object is trusted only if it has the
// vtable of the expected class.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/kineto_state.h"

#include <dlfcn.h>

namespace opscope {
namespace {

// The first members of libkineto::LibkinetoApi.
struct KinetoApi {
  void* configuration;  // a reference
  void* profiler;       // null until it was used
};

}  // namespace

bool KinetoIsIdle() {
  void* library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const auto api = reinterpret_cast<KinetoApi& (*)()>(dlsym(library, "_ZN9libkineto3apiEv"));
  const auto is_active =
      reinterpret_cast<bool (*)(void*)>(dlsym(library, "_ZN9libkineto21ActivityProfilerProxy8isActiveEv"));
  auto** table = static_cast<void**>(dlsym(library, "_ZTVN9libkineto21ActivityProfilerProxyE"));
  bool is_idle = false;
  if (api != nullptr && is_active != nullptr && table != nullptr) {
    void* profiler = api().profiler;
    // An object of the expected class points behind the first two words of its vtable.
    const bool is_known = profiler != nullptr && *static_cast<void***>(profiler) == table + 2;
    is_idle = is_known && !is_active(profiler);
  }
  dlclose(library);
  return is_idle;
}

}  // namespace opscope
