// A range made here is an ordinary RecordFunction on the heap, because Python begins and ends it in two calls. Torch
// decides which callbacks observe it. IsTraced lets the caller keep ranges out of graphs that are being traced.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/user_range.h"

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sources/streams/failures.h"

namespace opscope {
namespace {

// Older torch takes the name as a std::string. A template, so that both compile.
template <typename Range, typename... Inputs>
void Begin(Range* range, std::string_view name, Inputs... inputs) {
  if constexpr (requires { range->before(name); }) {
    range->before(name, inputs...);
  } else {
    range->before(std::string(name), inputs...);
  }
}

void* Enter(std::string_view name, const char* args, size_t args_size, bool is_async) {
  try {
    std::optional<at::StepCallbacks> callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE);
    if (!callbacks.has_value()) return nullptr;
    const std::string_view args_text(args, args != nullptr ? args_size : 0);
    return BeginUserRange(std::move(*callbacks), name, args != nullptr ? &args_text : nullptr, is_async);
  } catch (...) {
    CountFailure();
    return nullptr;
  }
}

}  // namespace

void* BeginUserRange(at::StepCallbacks callbacks, std::string_view name, const std::string_view* args, bool is_async) {
  auto range = std::make_unique<at::RecordFunction>(std::move(callbacks));
  if (is_async) range->_setAsync();
  if (args != nullptr && range->needsInputs()) {
    const c10::IValue input{std::string(*args)};
    Begin(range.get(), name, c10::ArrayRef<const c10::IValue>(&input, 1));
  } else {
    Begin(range.get(), name);
  }
  return range.release();
}

bool IsTraced() {
  // A tracer or mode includes its key while it is active, and excludes it while its own code runs.
  constexpr c10::DispatchKeySet kTracers(
      {c10::DispatchKey::Tracer, c10::DispatchKey::Python, c10::DispatchKey::PreDispatch});
  const c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
  return (keys.included_ - keys.excluded_).has_any(kTracers);
}

void* EnterUserRange(const char* name, size_t name_size, const char* args, size_t args_size) {
  return Enter({name, name_size}, args, args_size, false);
}

void* EnterAsyncUserRange(const char* name, size_t name_size, const char* args, size_t args_size) {
  return Enter({name, name_size}, args, args_size, true);
}

void ExitUserRange(void* range) {
  const std::unique_ptr<at::RecordFunction> owned(static_cast<at::RecordFunction*>(range));
  try {
    owned->end();
  } catch (...) {
    CountFailure();
  }
}

void SetUserRangeAsync(void* range) {
  static_cast<at::RecordFunction*>(range)->_setAsync();
}

}  // namespace opscope
