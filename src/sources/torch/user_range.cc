// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/user_range.h"

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sources/torch/failures.h"

namespace opscope {

void* EnterUserRange(const char* name, size_t name_size, const char* args, size_t args_size) {
  try {
    std::optional<at::StepCallbacks> callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE);
    if (!callbacks.has_value()) return nullptr;
    auto range = std::make_unique<at::RecordFunction>(std::move(*callbacks));
    const std::string_view text(name, name_size);
    if (args != nullptr && range->needsInputs()) {
      const c10::IValue input(std::string(args, args_size));
      range->before(text, c10::ArrayRef<const c10::IValue>(&input, 1));
    } else {
      range->before(text);
    }
    return range.release();
  } catch (...) {
    CountFailure();
    return nullptr;
  }
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
