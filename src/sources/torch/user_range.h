// A user range as torch knows it: an at::RecordFunction of scope USER_SCOPE, so that every observer
// (us, torch.profiler, an execution trace) sees the same range that record_function would have made.
//
// Thread rule: IsTraced and those that begin a range on the thread of the range, the others on any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/record_function.h>

#include <cstddef>
#include <string_view>

namespace opscope {

// As TorchSource::is_traced.
bool IsTraced();
// Null when nothing observes.
void* EnterUserRange(const char* name, size_t name_size, const char* args, size_t args_size);
// The same, asynchronous from its begin.
void* EnterAsyncUserRange(const char* name, size_t name_size, const char* args, size_t args_size);
// As EnterUserRange for these observers alone. args: null for none.
void* BeginUserRange(at::StepCallbacks callbacks, std::string_view name, const std::string_view* args,
                     bool is_async = false);
void ExitUserRange(void* range);
void SetUserRangeAsync(void* range);

}  // namespace opscope
