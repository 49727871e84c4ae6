// A user range as torch knows it: an at::RecordFunction of scope USER_SCOPE, so that every observer
// (us, torch.profiler, an execution trace) sees the same range that record_function would have made.
//
// Thread rule: IsTraced and the functions that begin a range: the thread of the range; the others: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/record_function.h>

#include <cstddef>
#include <string_view>

namespace opscope {

// The functions of TorchSource. EnterUserRange and EnterAsyncUserRange return null if no callback observes the thread.
bool IsTraced();
void* EnterUserRange(const char* name, size_t name_size, const char* args, size_t args_size);
void* EnterAsyncUserRange(const char* name, size_t name_size, const char* args, size_t args_size);
void ExitUserRange(void* range);
void SetUserRangeAsync(void* range);

// As EnterUserRange, observed by these callbacks only. args: null for none.
void* BeginUserRange(at::StepCallbacks callbacks, std::string_view name, const std::string_view* args,
                     bool is_async = false);

}  // namespace opscope
